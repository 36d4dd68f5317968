import { readFileSync } from 'node:fs'
import { messageOf } from '../core/error.ts'
import { UsageError } from './command.ts'

/** One request of a recording, as the collector takes it in. */
export interface RecordedHit {
  url: string
  method: string
  body?: string
  bodyBase64?: string
  contentEncoding?: string
  status?: number
  durMs?: number
  /** When it was sent, milliseconds since the epoch; absent where the recording does not say. */
  ts?: number
  /** Address of the page it came from; null when the recording does not say. */
  pageUrl: string | null
}

interface HarEntry {
  startedDateTime?: string
  time?: number
  request?: {
    url?: unknown
    method?: unknown
    headers?: { name: string; value: string }[]
    postData?: { text?: unknown; encoding?: unknown; params?: { name: string; value?: string }[] }
  }
  response?: { status?: number }
}

/** Requests of a HAR file (http://www.softwareishard.com/blog/har-12-spec/). Fails with `UsageError` when it is none. */
export function readHar(path: string): RecordedHit[] {
  try {
    return parseHar(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path}: ${messageOf(error)}`)
  }
}

/** Requests of a HAR's text; `name` is what a refusal calls it. */
export function parseHar(text: string, name: string): RecordedHit[] {
  // Some recorders write a byte order mark.
  const har: { log?: { entries?: unknown } } = JSON.parse(text.replace(/^\uFEFF/, ''))
  const entries = har?.log?.entries
  if (!Array.isArray(entries)) throw new UsageError(`${name}: is not a HAR file, log.entries is missing`)
  return entries.flatMap((entry) => hitOf(entry as HarEntry) ?? [])
}

function hitOf({ request, response, startedDateTime, time }: HarEntry): RecordedHit | null {
  if (typeof request?.url !== 'string' || !/^https?:/.test(request.url)) return null
  const header = (name: string) => request.headers?.find((one) => one.name.toLowerCase() === name)?.value
  const ts = startedDateTime === undefined ? Number.NaN : Date.parse(startedDateTime)
  const encoding = header('content-encoding')
  const status = response?.status
  return {
    url: request.url,
    method: typeof request.method === 'string' ? request.method : 'GET',
    ...bodyOf(request.postData),
    ...(encoding ? { contentEncoding: encoding } : {}),
    ...(typeof status === 'number' && status >= 0 && status <= 999 ? { status } : {}),
    ...(typeof time === 'number' && time >= 0 ? { durMs: time } : {}),
    ...(Number.isFinite(ts) ? { ts } : {}),
    pageUrl: header('referer') ?? null,
  }
}

function bodyOf(postData: NonNullable<HarEntry['request']>['postData']): { body?: string; bodyBase64?: string } {
  if (typeof postData?.text === 'string') {
    return postData.encoding === 'base64' ? { bodyBase64: postData.text } : { body: postData.text }
  }
  if (!postData?.params?.length) return {}
  return { body: new URLSearchParams(postData.params.map(({ name, value = '' }) => [name, value])).toString() }
}
