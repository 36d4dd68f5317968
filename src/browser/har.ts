import type { SeenRequest } from './traffic.ts'

const time = (at: number) => new Date(at).toISOString()

/**
 * The requests as HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), without the bodies of responses. What is
 * under way or failed has status 0. Chrome's own fields, and ours, begin with `_`.
 */
export function harOf(requests: readonly SeenRequest[]): object {
  const pages = pagesOf(requests)
  return {
    log: {
      version: '1.2',
      creator: { name: 'Tagwarden', version: '1' },
      pages: [...pages.values()],
      entries: requests.map((request) => entryOf(request, pages.get(placeKey(request))?.id)),
    },
  }
}

/** `pagesOf` by the place of a request; a page that is visited again is one. */
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

function entryOf(request: SeenRequest, page: string | undefined): object {
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
    ...(answered && { comment: 'Answered by Tagwarden; it did not leave the browser' }),
    ...(error !== null && { _error: error }),
  }
}

function requestOf({ url, method, requestHeaders, body }: SeenRequest): object {
  const query = [...(URL.parse(url)?.searchParams ?? [])].map(([name, value]) => ({ name, value }))
  const mimeType = headerValue(requestHeaders, 'content-type')
  return {
    ...{ method, url, httpVersion: 'HTTP/1.1', cookies: [], headers: requestHeaders, queryString: query },
    ...(body !== null && { postData: { mimeType, params: [], text: body } }),
    headersSize: -1,
    bodySize: body === null ? 0 : Buffer.byteLength(body),
  }
}

function responseOf({ status, statusText, responseHeaders, mimeType, bytes }: SeenRequest): object {
  return {
    ...{ status: status ?? 0, statusText, httpVersion: 'HTTP/1.1', cookies: [], headers: responseHeaders },
    content: { size: bytes, mimeType: mimeType || 'x-unknown' },
    redirectURL: headerValue(responseHeaders, 'location'),
    headersSize: -1,
    bodySize: status === null ? -1 : bytes,
  }
}

function headerValue(headers: SeenRequest['requestHeaders'], name: string): string {
  return headers.find((header) => header.name.toLowerCase() === name)?.value ?? ''
}
