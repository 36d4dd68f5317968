import { decodeHit } from '../decoders/index.ts'
import { type CapturedBody, readBody } from '../decoders/request-body.ts'
import { type AttachmentReader, harBodyOf, isBinary, mayHaveBody, type PostData, quoted } from './har-body.ts'

/** One request from a recording, in the collector's format. */
export interface RecordedHit {
  url: string
  method: string
  body?: string
  bodyBase64?: string
  contentEncoding?: string
  status?: number
  durMs?: number
  /** Time at which the request was sent, in milliseconds since the epoch. Undefined when unknown. */
  ts?: number
  /**
   * URL of the page, from the `Referer` header or, without one, from the page in the recording. Null when neither
   * exists.
   */
  pageUrl: string | null
  /** `User-Agent` header; absent when it was not recorded. */
  userAgent?: string
  /** Present when the request had a body that can't be read. Such a hit is reported instead of being decoded. */
  missingBody?: MissingBody
}

/** A body that is missing from a recording or is incomplete. */
interface MissingBody {
  /** Index in `log.entries`, from 0. */
  entry: number
  /** Reason why the body is missing. Continues a sentence that begins with `body:`. */
  reason: string
}

/** The fields that are read from an entry. Recorders omit many of them or write values of other types. */
interface HarEntry {
  pageref?: unknown
  startedDateTime?: unknown
  time?: unknown
  request?: { url?: unknown; method?: unknown; headers?: unknown; postData?: PostData; bodySize?: unknown }
  response?: { status?: unknown }
}

/** A request from a HAR entry. */
export interface HarRequest {
  /** Index in `log.entries`, from 0. */
  entry: number
  hit: RecordedHit
  /**
   * URL of the page in the tab, even when the request came from a frame. Null when the HAR does not contain the URL.
   */
  tabUrl: string | null
  /**
   * URL of the page that sent the request: the `Referer`, or the latest document of its origin before the request when
   * the header names only the origin. Null when the HAR contains neither.
   */
  pageUrl: string | null
}

const NO_ATTACHMENTS: AttachmentReader = (name) => ({
  fault: `stored in the attachment ${quoted(name)}, which is not part of the HAR`,
})

/**
 * Returns all requests in a parsed HAR, in order (http://www.softwareishard.com/blog/har-12-spec/). Null when the value
 * is not a HAR.
 * @param attachmentOf reads bodies outside the HAR's JSON; when omitted, such bodies are reported as missing
 */
export function requestsOfHar(value: unknown, attachmentOf = NO_ATTACHMENTS): HarRequest[] | null {
  const entries = entriesOf(value)
  if (!entries) return null
  const pageOf = pageFinder({ pages: (value as { log: { pages?: unknown } }).log.pages, entries })
  const sentFrom = documentFinder(entries)
  return entries.flatMap(
    (entry, index) => requestOf({ entry: entry ?? {}, index, pageOf, sentFrom, attachmentOf }) ?? [],
  )
}

/** Returns the distinct names of the attachments that contain request bodies. */
export function attachmentsOfHar(value: unknown): Set<string> {
  const names = (entriesOf(value) ?? []).map((entry) => entry?.request?.postData?._file)
  return new Set(names.filter((name) => typeof name === 'string'))
}

function entriesOf(value: unknown): (HarEntry | null)[] | null {
  const entries = (value as { log?: { entries?: unknown } } | null | undefined)?.log?.entries
  return Array.isArray(entries) ? entries : null
}

/** Returns the value of the last header with this name; undefined without one. */
function headerOf(list: unknown, wanted: string): string | undefined {
  if (!Array.isArray(list)) return undefined
  const header = (list as ({ name?: unknown; value?: unknown } | null)[]).findLast(
    (one) => typeof one?.name === 'string' && one.name.length === wanted.length && one.name.toLowerCase() === wanted,
  )
  if (!header) return undefined
  return typeof header.value === 'string' ? header.value : ''
}

interface Reading {
  entry: HarEntry
  index: number
  pageOf: (pageref: unknown) => string | null
  sentFrom: (entry: HarEntry, referer: string | null) => string | null
  attachmentOf: AttachmentReader
}

function requestOf({ entry, index, pageOf, sentFrom, attachmentOf }: Reading): HarRequest | null {
  const { request, response, startedDateTime, time } = entry
  if (typeof request?.url !== 'string') return null
  const { url, postData, bodySize, headers } = request
  const method = typeof request.method === 'string' ? request.method : 'GET'
  const ts = typeof startedDateTime === 'string' ? Date.parse(startedDateTime) : Number.NaN
  const contentEncoding = headerOf(headers, 'content-encoding') ?? ''
  const contentLength = headerOf(headers, 'content-length')
  const recorded = { method, postData, bodySize, contentLength, contentEncoding }
  const { fault, ...body } = harBodyOf(recorded, attachmentOf)
  const reason = fault ?? faultOfNameless({ url, method, contentEncoding, ...body })
  const status = response?.status
  const tabUrl = pageOf(entry.pageref)
  const userAgent = headerOf(headers, 'user-agent')
  const hit = {
    url,
    method,
    ...body,
    ...(contentEncoding ? { contentEncoding } : {}),
    ...(typeof status === 'number' && status >= 0 && status <= 999 ? { status } : {}),
    ...(typeof time === 'number' && time >= 0 ? { durMs: time } : {}),
    ...(Number.isFinite(ts) ? { ts } : {}),
    pageUrl: headerOf(headers, 'referer') ?? tabUrl,
    ...(userAgent ? { userAgent } : {}),
    ...(reason === null ? {} : { missingBody: { entry: index, reason } }),
  }
  return { entry: index, hit, tabUrl, pageUrl: sentFrom(entry, headerOf(headers, 'referer') ?? null) ?? hit.pageUrl }
}

/**
 * Returns the reason why a request has no event name; null when nothing is missing. Recorders do not see the bodies of
 * some requests (beacons), and record no body or store unreadable bytes instead.
 */
function faultOfNameless({ url, method, ...sent }: Pick<RecordedHit, 'url' | 'method'> & CapturedBody): string | null {
  if (!mayHaveBody(method)) return null
  const { text, error } = readBody(sent)
  if (error !== null || (text !== null && !isBinary(text))) return null
  const { events } = decodeHit({ url, method: method.toUpperCase(), body: text })
  if (!events.some(({ kind, event }) => kind === 'event' && event === '')) return null
  return text === null
    ? 'missing from the recording, and the URL does not name an event'
    : 'recorded as unreadable binary data, and the URL does not name an event'
}

/** The fields that associate the entries of a recording with pages. Recorders omit many of them. */
interface HarPages {
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
 * Returns a function that returns the page URL for the `pageref` of an entry; null when the recording does not contain
 * the URL. In Chrome's exports, the title of a page is its URL. In other recordings, the URL of the first document
 * after redirects is used. Entries without a `pageref` are assigned to the only page of the recording. If there are
 * several pages, such entries form a separate page.
 */
function pageFinder({ pages, entries }: HarPages): (pageref: unknown) => string | null {
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

/**
 * Returns a function that returns the page of a request whose `Referer` names only an origin, as browsers send it to
 * other sites. Returns null when the header names a page, and when no document of the origin precedes the request.
 */
function documentFinder(
  entries: readonly (HarEntry | null)[],
): (entry: HarEntry, referer: string | null) => string | null {
  const documents = entries
    .filter((entry) => entry !== null && isDocument(entry))
    .sort(byTime)
    .flatMap((entry) => {
      const url = typeof entry?.request?.url === 'string' ? URL.parse(entry.request.url) : null
      return url ? [{ url, at: timeOf(entry), pageref: entry?.pageref }] : []
    })
  return (entry, referer) => {
    const from = referer === null ? null : URL.parse(referer)
    if (from && (from.pathname !== '/' || from.search !== '')) return null
    const at = timeOf(entry)
    const before = documents.findLast(
      (one) => one.at <= at && one.pageref === entry.pageref && (from === null || one.url.origin === from.origin),
    )
    return before?.url.href ?? null
  }
}

function isDocument({ _resourceType: type, response }: HarDocument): boolean {
  if (REDIRECTS.includes(response?.status)) return false
  const mimeType = response?.content?.mimeType
  return type === undefined ? typeof mimeType === 'string' && HTML.test(mimeType) : type === 'document'
}

/** Compares documents by time. Documents without a time stay in the order of the file. */
function byTime(one: HarDocument | null, other: HarDocument | null): number {
  return timeOf(one) - timeOf(other) || 0
}

function timeOf(entry: HarDocument | null): number {
  return typeof entry?.startedDateTime === 'string' ? Date.parse(entry.startedDateTime) : Number.NaN
}
