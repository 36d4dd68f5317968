import type { Protocol } from 'puppeteer-core'
import { readBody } from '../decoders/body.ts'
import { type Decoded, decodeHit } from '../decoders/index.ts'
import type { Header } from './traffic.ts'
import { headerOf } from './vendor-answer.ts'

/** A request as the interception tells of it, read. */
export interface ReadRequest {
  url: string
  method: string
  /** As in `SeenRequest`; a preflight is `preflight`. */
  resourceType: string
  headers: Record<string, string>
  referrer: string | undefined
  /** For decoders: bytes that are no text are replaced. Null: there is none, or it is too large. */
  body: string | null
  /** For people: null when it is no text. */
  shownBody: string | null
  decoded: Decoded
}

/** @param changed the headers that are sent in place of those that came; null: these */
export function readRequest(
  { request, resourceType }: Protocol.Fetch.RequestPausedEvent,
  changed: readonly Header[] | null,
): ReadRequest {
  const { url, method } = request
  const headers = changed ? Object.fromEntries(changed.map(({ name, value }) => [name, value])) : request.headers
  const body = bodyOf(request)
  const isPreflight = method === 'OPTIONS' && headerOf(headers, 'access-control-request-method') !== undefined
  return {
    url,
    method,
    resourceType: isPreflight ? 'preflight' : resourceType.toLowerCase(),
    headers,
    referrer: headerOf(headers, 'referer'),
    body,
    shownBody: body !== null && /[\0\uFFFD]/.test(body) ? null : body,
    decoded: decodeHit({ url, method, body }),
  }
}

function bodyOf({ postDataEntries, postData, headers }: Protocol.Network.Request): string | null {
  const contentEncoding = headerOf(headers, 'content-encoding') ?? null
  if (!postDataEntries) return readBody({ body: postData ?? null, contentEncoding }).text
  // A file has no bytes here.
  const bytes = Buffer.concat(postDataEntries.map((entry) => Buffer.from(entry.bytes ?? '', 'base64')))
  return readBody({ bodyBase64: bytes.toString('base64'), contentEncoding }).text
}
