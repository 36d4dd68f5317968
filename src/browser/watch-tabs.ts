import type { PagePlace } from './traffic.ts'

interface Tab {
  /** Addresses of its documents, the latest last. */
  documents: string[]
  /** Address that its document is asked for at, and the number of that request; null: none was. */
  coming: { url: string; number: number } | null
}

/** Requests of a page that was left may still come while the next one or two are there. */
const MAX_DOCUMENTS = 5

/** Which tab a frame or worker belongs to, and which document a tab shows. Tabs are named by the id of their target. */
export class Tabs {
  private readonly tabs = new Map<string, Tab>()
  /** Tab by the id of a frame or worker in it. */
  private readonly owners = new Map<string, string>()

  open(tab: string): void {
    if (this.tabs.has(tab)) return
    this.tabs.set(tab, { documents: [], coming: null })
    this.owners.set(tab, tab)
  }

  close(tab: string): void {
    this.tabs.delete(tab)
    for (const [id, owner] of this.owners) if (owner === tab) this.owners.delete(id)
  }

  /** A tab got a frame or a worker. */
  adopt(id: string, tab: string): void {
    this.owners.set(id, tab)
  }

  drop(id: string): void {
    if (this.owners.get(id) !== id) this.owners.delete(id)
  }

  /** A tab asks for its next document. */
  ask(tab: string, url: string, number: number): void {
    const known = this.tabs.get(tab)
    if (known) known.coming = { url, number }
  }

  /** A tab shows another document, or the same under another address. Returns the number of the request that it came by. */
  show(tab: string, url: string): number | null {
    const known = this.tabs.get(tab)
    if (!known || known.documents.at(-1) === url) return null
    // The tab that changed last is the one that is being used.
    this.tabs.delete(tab)
    this.tabs.set(tab, known)
    known.documents = [...known.documents, url].slice(-MAX_DOCUMENTS)
    const { coming } = known
    known.coming = null
    return coming?.number ?? null
  }

  /** A request says which document its tab has: that may be known before it is told. */
  mention(tab: string, url: string): void {
    if (this.tabs.get(tab)?.documents.includes(url) === false) this.show(tab, url)
  }

  has(tab: string): boolean {
    return this.tabs.has(tab)
  }

  /**
   * The tab of a request: that of its frame. A worker that several tabs share asks for the one that its referrer, else the
   * referrer's origin, names; null when none does.
   */
  tabOf(frame: string, { url: asked, referrer }: Referring): string | null {
    const owner = this.owners.get(frame)
    if (owner !== undefined) return owner
    if (referrer === undefined) return null
    const latestFirst = [...this.tabs].reverse()
    const shows = (fits: (url: string) => boolean) => latestFirst.find(([, { documents }]) => documents.some(fits))?.[0]
    return shows((url) => isNamed(url, referrer, asked)) ?? shows((url) => originOf(url) === originOf(referrer)) ?? null
  }

  /**
   * The document that a tab's request belongs to. A page's last requests may come when the next one is there already,
   * and its first ones before it is told: the referrer says so, in whole or by its origin.
   */
  documentOf(tab: string, frame: string, { url: asked, referrer }: Referring): string {
    const { documents = [], coming = null } = this.tabs.get(tab) ?? {}
    const latest = documents.at(-1) ?? coming?.url ?? ''
    if (frame !== tab || referrer === undefined) return latest
    const candidates = [...documents.toReversed(), ...(coming ? [coming.url] : [])]
    return (
      candidates.find((url) => isNamed(url, referrer, asked)) ??
      candidates.find((url) => originOf(url) === originOf(referrer)) ??
      latest
    )
  }
}

/** A request, and who it says it comes from. */
interface Referring {
  url: string
  referrer: string | undefined
}

/**
 * Whether a referrer names a document. Others are told the origin alone (https://www.w3.org/TR/referrer-policy/), which
 * is the address of the home page as well.
 */
function isNamed(url: string, referrer: string, asked: string): boolean {
  const origin = originOf(referrer)
  return withoutFragment(url) === referrer && (referrer !== `${origin}/` || originOf(asked) === origin)
}

const withoutFragment = (url: string) => url.replace(/#.*$/s, '')
const originOf = (url: string) => URL.parse(url)?.origin ?? null

/** Host and path of an address; both null where it is none on the web. */
export function placeOf(url: string, mask: (text: string) => string): PagePlace {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return { host: null, path: null }
  return { host: mask(parsed.hostname.replace(/\.$/, '')), path: mask(parsed.pathname) }
}
