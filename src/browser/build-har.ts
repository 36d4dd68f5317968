import type { SeenRequest } from './traffic.ts'

const time = (at: number) => new Date(at).toISOString()

/** Maximum size of a body in bytes of UTF-8. Longer bodies are truncated. */
export const MAX_BODY_BYTES = 256_000
/** Maximum size of the JSON of a HAR, in bytes. Anything beyond that is omitted. */
export const MAX_HAR_BYTES = 20_000_000

/**
 * Returns the requests as HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), without response bodies. Active
 * and failed requests have status 0. Fields that begin with `_` are extensions by Chrome or Tagwarden. Bodies over 256
 * kB are truncated. Above 20 MB in total, first all bodies and then further entries are omitted. Comments in the
 * entries and the log report truncated and omitted data.
 */
export function harOf(requests: readonly SeenRequest[]): object {
  const pages = pagesOf(requests)
  const entries: object[] = []
  let bytes = 0
  for (const request of requests) {
    const page = pages.get(placeKey(request))?.id
    const left = MAX_HAR_BYTES - bytes
    const [entry, size] = fitting(left, () => entryOf(request, page)) ??
      fitting(left, () => entryOf(withoutBody(request), page)) ?? [null, 0]
    if (entry === null) break
    entries.push(entry)
    bytes += size
  }
  const leftOut = requests.length - entries.length
  return {
    log: {
      version: '1.2',
      creator: { name: 'Tagwarden', version: '1' },
      pages: [...pages.values()],
      entries,
      ...(leftOut > 0 && {
        comment: `${leftOut} more requests are omitted, because a HAR has at most ${MAX_HAR_BYTES} bytes`,
      }),
    },
  }
}

/** Returns an entry and its size as JSON in bytes; null when the entry exceeds the remaining space. */
function fitting(left: number, entry: () => object): [object, number] | null {
  const made = entry()
  const bytes = Buffer.byteLength(JSON.stringify(made))
  return bytes <= left ? [made, bytes] : null
}

/** The body of a request as written to a HAR. */
interface ShownBody {
  text: string
  /** Size of the complete body in bytes. */
  bytes: number
  /** Describes the missing part; null when the body is complete. */
  comment: string | null
}

function bodyOf(body: string): ShownBody {
  const bytes = Buffer.byteLength(body)
  if (bytes <= MAX_BODY_BYTES) return { text: body, bytes, comment: null }
  // The last character may be incomplete.
  const text = new TextDecoder().decode(Buffer.from(body).subarray(0, MAX_BODY_BYTES), { stream: true })
  return { text, bytes, comment: `Truncated to ${MAX_BODY_BYTES} of ${bytes} bytes` }
}

const LEFT_OUT = Symbol('left out')
type Shown = SeenRequest & { [LEFT_OUT]?: true }

const withoutBody = (request: SeenRequest): Shown => ({ ...request, [LEFT_OUT]: true })

/** Returns the distinct pages of the requests. A page that was visited several times is listed once. */
function pagesOf(
  requests: readonly SeenRequest[],
): Map<string, { id: string; title: string; startedDateTime: string }> {
  const pages = new Map()
  for (const request of requests) {
    const key = placeKey(request)
    if (request.host === null || pages.has(key)) continue
    const title = `${request.host}${request.path}`
    const pageTimings = { onContentLoad: -1, onLoad: -1 }
    pages.set(key, { startedDateTime: time(request.at), id: `page_${pages.size + 1}`, title, pageTimings })
  }
  return pages
}

const placeKey = ({ host, path }: SeenRequest) => `${host}${path}`

function entryOf(request: Shown, page: string | undefined): object {
  const { at, durMs, waitMs, error, answered, resourceType } = request
  const wait = waitMs ?? durMs ?? 0
  return {
    ...(page !== undefined && { pageref: page }),
    startedDateTime: time(at),
    time: Math.max(durMs ?? 0, wait),
    request: requestOf(request),
    response: responseOf(request),
    cache: {},
    timings: { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait, receive: Math.max(0, (durMs ?? 0) - wait) },
    _resourceType: resourceType,
    ...(answered && { comment: 'Answered by Tagwarden; the request did not leave the browser' }),
    ...(error !== null && { _error: error }),
  }
}

function shownBodyOf({ body, [LEFT_OUT]: isLeftOut }: Shown): ShownBody | null {
  if (body === null) return null
  if (!isLeftOut) return bodyOf(body)
  const bytes = Buffer.byteLength(body)
  return { text: '', bytes, comment: `${bytes} bytes are omitted, because the HAR is full` }
}

function requestOf(request: Shown): object {
  const { url, method, requestHeaders } = request
  const body = shownBodyOf(request)
  const query = [...(URL.parse(url)?.searchParams ?? [])].map(([name, value]) => ({ name, value }))
  const mimeType = headerValue(requestHeaders, 'content-type')
  return {
    method,
    url,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: requestHeaders,
    queryString: query,
    ...(body && {
      postData: { mimeType, params: [], text: body.text, ...(body.comment && { comment: body.comment }) },
    }),
    headersSize: -1,
    bodySize: body?.bytes ?? 0,
  }
}

function responseOf({ status, statusText, responseHeaders, mimeType, bytes }: SeenRequest): object {
  return {
    status: status ?? 0,
    statusText,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: responseHeaders,
    content: { size: bytes, mimeType: mimeType || 'x-unknown' },
    redirectURL: headerValue(responseHeaders, 'location'),
    headersSize: -1,
    bodySize: status === null ? -1 : bytes,
  }
}

function headerValue(headers: SeenRequest['requestHeaders'], name: string): string {
  return headers.find((header) => header.name.toLowerCase() === name)?.value ?? ''
}
