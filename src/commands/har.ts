import { readFileSync } from 'node:fs'
import { messageOf } from '../core/error.ts'
import { UsageError } from './command.ts'
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

/** The system's error codes for unreadable files, in words. */
const FILE_FAULTS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'the file may not be read',
  EISDIR: 'is a folder, not a file',
}

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '')

/**
 * Returns the requests of a HAR file, to any URL (http://www.softwareishard.com/blog/har-12-spec/). Fails with
 * `UsageError` when it is none.
 */
export function readHar(path: string): RecordedHit[] {
  try {
    return parseHar(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path}: ${FILE_FAULTS[codeOf(error)] ?? messageOf(error)}`)
  }
}

/** Returns the requests of a HAR's text; error messages use `name`. */
export function parseHar(text: string, name: string): RecordedHit[] {
  // Some recorders write a byte order mark.
  const har: { log?: { pages?: unknown; entries?: unknown } } = JSON.parse(text.replace(/^\uFEFF/, ''))
  const entries = har?.log?.entries
  if (!Array.isArray(entries)) throw new UsageError(`${name}: is not a HAR file, log.entries is missing`)
  const pageOf = pageFinder({ pages: har.log?.pages, entries })
  return entries.flatMap((entry: HarEntry | null) => hitOf(entry ?? {}, pageOf) ?? [])
}

/** Returns the valid pairs of a list of `{name, value}`. */
function pairsOf(list: unknown): [name: string, value: string][] {
  if (!Array.isArray(list)) return []
  return list.flatMap((one: { name?: unknown; value?: unknown } | null) =>
    typeof one?.name === 'string' ? [[one.name, typeof one.value === 'string' ? one.value : '']] : [],
  )
}

function hitOf(entry: HarEntry, pageOf: (pageref: unknown) => string | null): RecordedHit | null {
  const { request, response, startedDateTime, time } = entry
  if (typeof request?.url !== 'string') return null
  const headers = new Map(pairsOf(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
  const ts = typeof startedDateTime === 'string' ? Date.parse(startedDateTime) : Number.NaN
  const encoding = headers.get('content-encoding')
  const status = response?.status
  return {
    url: request.url,
    method: typeof request.method === 'string' ? request.method : 'GET',
    ...bodyOf(request.postData),
    ...(encoding ? { contentEncoding: encoding } : {}),
    ...(typeof status === 'number' && status >= 0 && status <= 999 ? { status } : {}),
    ...(typeof time === 'number' && time >= 0 ? { durMs: time } : {}),
    ...(Number.isFinite(ts) ? { ts } : {}),
    pageUrl: headers.get('referer') ?? pageOf(entry.pageref),
  }
}

function bodyOf(postData: HarBody): { body?: string; bodyBase64?: string } {
  if (typeof postData?.text === 'string') {
    return postData.encoding === 'base64' ? { bodyBase64: postData.text } : { body: postData.text }
  }
  const params = pairsOf(postData?.params)
  return params.length > 0 ? { body: new URLSearchParams(params).toString() } : {}
}
