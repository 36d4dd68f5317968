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
}

/** The fields of an entry that are read. Recorders leave many out, or write other types. */
interface HarEntry {
  pageref?: unknown
  startedDateTime?: unknown
  time?: unknown
  request?: { url?: unknown; method?: unknown; headers?: unknown; postData?: HarBody }
  response?: { status?: unknown }
}
type HarBody = { text?: unknown; encoding?: unknown; params?: unknown } | null | undefined

/** An entry of a HAR. */
export interface HarRequest {
  hit: RecordedHit
  /** URL of the page that was in the tab, whichever of its frames sent the request; null where the HAR does not tell. */
  tabUrl: string | null
}

/**
 * Returns the requests of a HAR that was parsed, in its order, to any URL (http://www.softwareishard.com/blog/har-12-spec/).
 * Null: it is no HAR.
 */
export function requestsOfHar(value: unknown): HarRequest[] | null {
  const har = value as { log?: { pages?: unknown; entries?: unknown } } | null | undefined
  const entries = har?.log?.entries
  if (!Array.isArray(entries)) return null
  const pageOf = pageFinder({ pages: har?.log?.pages, entries })
  return entries.flatMap((entry: HarEntry | null) => requestOf(entry ?? {}, pageOf) ?? [])
}

/** Returns the valid pairs of a list of `{name, value}`. */
function pairsOf(list: unknown): [name: string, value: string][] {
  if (!Array.isArray(list)) return []
  return list.flatMap((one: { name?: unknown; value?: unknown } | null) =>
    typeof one?.name === 'string' ? [[one.name, typeof one.value === 'string' ? one.value : '']] : [],
  )
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

function requestOf(entry: HarEntry, pageOf: (pageref: unknown) => string | null): HarRequest | null {
  const { request, response, startedDateTime, time } = entry
  if (typeof request?.url !== 'string') return null
  const ts = typeof startedDateTime === 'string' ? Date.parse(startedDateTime) : Number.NaN
  const encoding = headerOf(request.headers, 'content-encoding')
  const status = response?.status
  const tabUrl = pageOf(entry.pageref)
  const hit = {
    url: request.url,
    method: typeof request.method === 'string' ? request.method : 'GET',
    ...bodyOf(request.postData),
    ...(encoding ? { contentEncoding: encoding } : {}),
    ...(typeof status === 'number' && status >= 0 && status <= 999 ? { status } : {}),
    ...(typeof time === 'number' && time >= 0 ? { durMs: time } : {}),
    ...(Number.isFinite(ts) ? { ts } : {}),
    pageUrl: headerOf(request.headers, 'referer') ?? tabUrl,
  }
  return { hit, tabUrl }
}

function bodyOf(postData: HarBody): { body?: string; bodyBase64?: string } {
  if (typeof postData?.text === 'string') {
    return postData.encoding === 'base64' ? { bodyBase64: postData.text } : { body: postData.text }
  }
  const params = pairsOf(postData?.params)
  return params.length > 0 ? { body: new URLSearchParams(params).toString() } : {}
}
