import { type Decoded, decodeHit } from '../decoders/index.ts'
import type { Header } from './traffic.ts'

/** Properties of a request before it is sent. */
export interface OutgoingRequest {
  /** HTTP method in upper case. */
  method: string
  /** Resource type as in `SeenRequest`. */
  resourceType: string
  /** True for the document of a tab; false for the document of a frame. */
  isPage: boolean
  headers: Readonly<Record<string, string>>
}

export interface VendorAnswer {
  status: number
  headers: Header[]
  body: Uint8Array
}

/** A transparent pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/**
 * Responses that vendors' libraries treat as success. Without these responses, libraries repeat the request, which
 * would look like a tag that fires twice.
 */
const CONFIRMATIONS: Record<string, string> = {
  Amplitude: '{"code":200,"events_ingested":1}',
  Mixpanel: '{"status":1,"error":null}',
  PostHog: '{"status":1}',
  RudderStack: '{"success":true}',
  Segment: '{"success":true}',
}

/**
 * Returns whether Tagwarden itself responds to a request to a vendor. It responds to requests that carry events, repeat
 * events, or can't be decoded. Code and settings that pages need, and pages that a visitor navigates to, are loaded
 * from the vendor.
 */
export function isAnswered({ vendor, kind, events, error }: Decoded, asked: OutgoingRequest): boolean {
  if (vendor === null || kind === 'library' || asked.isPage) return false
  if (events.length > 0 || error !== null) return true
  return asked.method !== 'GET' || ['image', 'ping'].includes(asked.resourceType)
}

/**
 * Returns whether to block a web socket to a vendor, because Tagwarden can't respond to it. For a web socket over TLS,
 * only the host is known and checked.
 */
export function isVendorSocket(url: string): boolean {
  const { protocol = '', origin = '' } = URL.parse(url) ?? {}
  const known = protocol === 'wss:' ? `${origin}/` : url
  return decodeHit({ url: known, method: 'GET', body: null }).vendor !== null
}

/** Returns a response that resembles the vendor's, so that the page continues as usual. The response is not cached. */
export function answerTo(vendor: string, asked: OutgoingRequest): VendorAnswer {
  const { status, type, body } = contentFor(vendor, asked)
  const headers = {
    'cache-control': 'no-store',
    ...(type && { 'content-type': type }),
    ...accessHeaders(asked.headers),
  }
  return { status, headers: Object.entries(headers).map(([name, value]) => ({ name, value })), body: Buffer.from(body) }
}

interface Content {
  status: number
  type: string | null
  body: string | Uint8Array
}

const NO_CONTENT: Content = { status: 204, type: null, body: '' }

function contentFor(vendor: string, { method, resourceType, headers }: OutgoingRequest): Content {
  if (method === 'OPTIONS') return NO_CONTENT
  if (resourceType === 'image') return { status: 200, type: 'image/gif', body: GIF }
  if (resourceType === 'script') return { status: 200, type: 'text/javascript', body: '' }
  if (resourceType === 'document') return { status: 200, type: 'text/html', body: '<!doctype html><title></title>' }
  if (resourceType !== 'xhr' && resourceType !== 'fetch') return NO_CONTENT
  const confirmation = CONFIRMATIONS[vendor]
  const isJson = [headerOf(headers, 'accept'), headerOf(headers, 'content-type')].some((value) =>
    value?.includes('json'),
  )
  if (!confirmation && !isJson) return NO_CONTENT
  return { status: 200, type: 'application/json', body: confirmation ?? '{}' }
}

/**
 * CORS headers: https://fetch.spec.whatwg.org/#http-cors-protocol. The last two headers allow isolated pages and timing
 * scripts to read the response.
 */
function accessHeaders(headers: OutgoingRequest['headers']): Record<string, string> {
  const origin = headerOf(headers, 'origin')
  const method = headerOf(headers, 'access-control-request-method')
  const names = headerOf(headers, 'access-control-request-headers')
  return {
    'access-control-allow-origin': origin ?? '*',
    ...(origin !== undefined && { 'access-control-allow-credentials': 'true', vary: 'Origin' }),
    ...(method !== undefined && { 'access-control-allow-methods': method, 'access-control-max-age': '600' }),
    ...(names !== undefined && { 'access-control-allow-headers': names }),
    'cross-origin-resource-policy': 'cross-origin',
    'timing-allow-origin': '*',
  }
}

/** @param name header name in lower case */
export function headerOf(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  for (const key in headers) if (key.toLowerCase() === name) return headers[key]
  return undefined
}
