import type { PagePlace } from './traffic.ts'

interface Tab {
  /** URLs of the tab's documents, the most recent last. */
  documents: string[]
  /** URL and number of the request for the tab's next document. Null when no document has been requested. */
  coming: { url: string; number: number } | null
}

/** Maximum number of documents stored per tab. A request may arrive up to two documents after its own. */
const MAX_DOCUMENTS = 5

/** Maps frames and workers to tabs, and tabs to documents. Tabs are identified by their target id. */
export class Tabs {
  private readonly tabs = new Map<string, Tab>()
  /** The tab of each frame or worker, by the id of the frame or worker. */
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

  /** Called when a tab creates a frame or worker. */
  adopt(id: string, tab: string): void {
    this.owners.set(id, tab)
  }

  drop(id: string): void {
    if (this.owners.get(id) !== id) this.owners.delete(id)
  }

  /** Called when a tab requests its next document. */
  ask(tab: string, url: string, number: number): void {
    const known = this.tabs.get(tab)
    if (known) known.coming = { url, number }
  }

  /**
   * Called when a tab shows another document, or the same document at another URL. Returns the number of the request
   * that loaded the document; null when it is unknown.
   */
  show(tab: string, url: string): number | null {
    const known = this.tabs.get(tab)
    if (!known || known.documents.at(-1) === url) return null
    // The tab that changed most recently is assumed to be in use.
    this.tabs.delete(tab)
    this.tabs.set(tab, known)
    known.documents = [...known.documents, url].slice(-MAX_DOCUMENTS)
    const { coming } = known
    known.coming = null
    return coming?.number ?? null
  }

  /** Called when a request reveals the document of its tab. This may happen before that document is reported. */
  mention(tab: string, url: string): void {
    if (this.tabs.get(tab)?.documents.includes(url) === false) this.show(tab, url)
  }

  has(tab: string): boolean {
    return this.tabs.has(tab)
  }

  /**
   * Returns the tab of a request, based on the request's frame. For a shared worker, the tab is found by the referrer
   * or, without a match, by the referrer's origin. Null when no tab matches.
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
   * Returns the document to which a request from a tab belongs, found by the referrer or its origin. The last requests
   * of a page may arrive when the next page is already shown. The first requests of a page may arrive before the page
   * is reported.
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

/** The URL and referrer of a request. */
interface Referring {
  url: string
  referrer: string | undefined
}

/**
 * Returns whether a referrer identifies a document. Requests to other origins contain only the origin as referrer
 * (https://www.w3.org/TR/referrer-policy/), which is also the URL of the home page.
 */
function isNamed(url: string, referrer: string, asked: string): boolean {
  const origin = originOf(referrer)
  return withoutFragment(url) === referrer && (referrer !== `${origin}/` || originOf(asked) === origin)
}

const withoutFragment = (url: string) => url.replace(/#.*$/s, '')
const originOf = (url: string) => URL.parse(url)?.origin ?? null

/** Returns the host and path of a URL. Both are null when the URL is not a web address. */
export function placeOf(url: string, mask: (text: string) => string): PagePlace {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return { host: null, path: null }
  return { host: mask(parsed.hostname.replace(/\.$/, '')), path: mask(parsed.pathname) }
}
