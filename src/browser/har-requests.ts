import { type CapturedBody, readBody } from '../decoders/body.ts'
import { decodeHit } from '../decoders/index.ts'
import { type AttachmentReader, harBodyOf, isBinary, mayHaveBody, type PostData, quoted } from './har-body.ts'
import { pageFinder } from './har-page.ts'

/** One request of a recording, in the collector's format. */
export interface RecordedHit {
  url: string
  method: string
  body?: string
  bodyBase64?: string
  contentEncoding?: string
  status?: number
  durMs?: number
  /** When it was sent, milliseconds since the epoch; left out when the recording does not have it. */
  ts?: number
  /** URL of the page: from `Referer`, else from the recording's page; null without either. */
  pageUrl: string | null
  /** Why the body can't be read, though the request had one. Such a hit is reported, not decoded. */
  missingBody?: MissingBody
}

/** A body that a recording does not have, or not whole. */
export interface MissingBody {
  /** Index in `log.entries`, from 0. */
  entry: number
  /** Completes a sentence that begins with `body:`. */
  reason: string
}

/** The fields of an entry that are read. Recorders leave many out, or write other types. */
interface HarEntry {
  pageref?: unknown
  startedDateTime?: unknown
  time?: unknown
  request?: { url?: unknown; method?: unknown; headers?: unknown; postData?: PostData; bodySize?: unknown }
  response?: { status?: unknown }
}

/** An entry of a HAR. */
export interface HarRequest {
  hit: RecordedHit
  /** URL of the page that was in the tab, whichever of its frames sent the request; null where the HAR does not tell. */
  tabUrl: string | null
}

const NO_ATTACHMENTS: AttachmentReader = (name) => ({
  fault: `the recording has it in the attachment ${quoted(name)}, which is not part of the HAR`,
})

/**
 * Returns the requests of a HAR that was parsed, in its order, to any URL (http://www.softwareishard.com/blog/har-12-spec/).
 * Null: it is no HAR.
 * @param attachmentOf bodies outside of the HAR's JSON; without it they are reported as missing
 */
export function requestsOfHar(value: unknown, attachmentOf = NO_ATTACHMENTS): HarRequest[] | null {
  const entries = entriesOf(value)
  if (!entries) return null
  const pageOf = pageFinder({ pages: (value as { log: { pages?: unknown } }).log.pages, entries })
  return entries.flatMap((entry, index) => requestOf({ entry: entry ?? {}, index, pageOf, attachmentOf }) ?? [])
}

/** Returns the names of the attachments that have bodies of requests, each once. */
export function attachmentsOfHar(value: unknown): Set<string> {
  const names = (entriesOf(value) ?? []).map((entry) => entry?.request?.postData?._file)
  return new Set(names.filter((name) => typeof name === 'string'))
}

function entriesOf(value: unknown): (HarEntry | null)[] | null {
  const entries = (value as { log?: { entries?: unknown } } | null | undefined)?.log?.entries
  return Array.isArray(entries) ? entries : null
}

/** The value of the last header of this name; undefined without one. */
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
  attachmentOf: AttachmentReader
}

function requestOf({ entry, index, pageOf, attachmentOf }: Reading): HarRequest | null {
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
  const hit = {
    url,
    method,
    ...body,
    ...(contentEncoding ? { contentEncoding } : {}),
    ...(typeof status === 'number' && status >= 0 && status <= 999 ? { status } : {}),
    ...(typeof time === 'number' && time >= 0 ? { durMs: time } : {}),
    ...(Number.isFinite(ts) ? { ts } : {}),
    pageUrl: headerOf(headers, 'referer') ?? tabUrl,
    ...(reason === null ? {} : { missingBody: { entry: index, reason } }),
  }
  return { hit, tabUrl }
}

/**
 * Recorders do not see the body of some requests (beacons), and then say that there was none; or they have bytes in its
 * place that nothing can read.
 */
function faultOfNameless({ url, method, ...sent }: Pick<RecordedHit, 'url' | 'method'> & CapturedBody): string | null {
  if (!mayHaveBody(method)) return null
  const { text, error } = readBody(sent)
  if (error !== null || (text !== null && !isBinary(text))) return null
  const { events } = decodeHit({ url, method: method.toUpperCase(), body: text })
  if (!events.some(({ kind, event }) => kind === 'event' && event === '')) return null
  return text === null
    ? 'the recording does not have it, and the URL names no event'
    : 'the recording has binary data in its place, and the URL names no event'
}
