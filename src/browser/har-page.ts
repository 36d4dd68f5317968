/** The fields of a recording from which the pages of entries are found. Recorders leave many out. */
export interface HarPages {
  pages?: unknown
  entries: readonly (HarDocument | null)[]
}

interface HarDocument {
  pageref?: unknown
  startedDateTime?: unknown
  _resourceType?: unknown
  request?: { url?: unknown }
  response?: { status?: unknown; content?: { mimeType?: unknown } }
}

type HarPage = { id?: unknown; title?: unknown } | null

const WEB_ADDRESS = /^https?:\/\/\S+$/i
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i
const REDIRECTS: readonly unknown[] = [301, 302, 303, 307, 308]

/**
 * Returns a function that gives the page URL for the `pageref` of an entry; null when the recording does not have it.
 * In Chrome's exports a page's title is its URL; if it is another text, the URL is that of the first document, after
 * redirects. Entries without a page belong to the only one, or else form a page together.
 */
export function pageFinder({ pages, entries }: HarPages): (pageref: unknown) => string | null {
  const listed = (Array.isArray(pages) ? (pages as HarPage[]) : []).filter((page) => typeof page?.id === 'string')
  const only = listed.length === 1 ? listed[0]?.id : undefined
  const keyOf = (pageref: unknown) => (typeof pageref === 'string' ? pageref : only)
  const addresses = new Map<unknown, string>()
  const add = (key: unknown, address: unknown) => {
    if (typeof address === 'string' && WEB_ADDRESS.test(address) && !addresses.has(key)) addresses.set(key, address)
  }
  for (const page of listed) add(page?.id, page?.title)
  const documents = entries.filter((entry) => entry !== null && isDocument(entry))
  for (const entry of documents.sort(byTime)) add(keyOf(entry?.pageref), entry?.request?.url)
  return (pageref) => addresses.get(keyOf(pageref)) ?? null
}

function isDocument({ _resourceType: type, response }: HarDocument): boolean {
  if (REDIRECTS.includes(response?.status)) return false
  const mimeType = response?.content?.mimeType
  return type === undefined ? typeof mimeType === 'string' && HTML.test(mimeType) : type === 'document'
}

/** Compares by time; keeps the order of the file when one has no time. */
function byTime(one: HarDocument | null, other: HarDocument | null): number {
  return timeOf(one) - timeOf(other) || 0
}

function timeOf(entry: HarDocument | null): number {
  return typeof entry?.startedDateTime === 'string' ? Date.parse(entry.startedDateTime) : Number.NaN
}
