import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib'

/** A body may be this large after it was unpacked. */
export const MAX_BODY_BYTES = 1024 * 1024

/** A request's body as its sender could capture it: as text, or as bytes in base64. */
export interface CapturedBody {
  body?: string | null | undefined
  /** Wins over `body`. Standard or URL-safe alphabet. */
  bodyBase64?: string | null | undefined
  /** The request's `Content-Encoding`. Only bytes are unpacked; text was unpacked by who captured it. */
  contentEncoding?: string | null | undefined
}

/** Null and null: the request had no body. */
export type ReadBody = { text: string | null; error: null } | { text: null; error: string }

type Unpack = (bytes: Uint8Array, options: ZlibOptions) => Uint8Array

/**
 * https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1. Gzip is recognised by its first bytes whatever the header:
 * beacons that compress can't set one, some recorders drop it, others keep it on decompressed bytes. Binary data
 * without a header is decompressed when it begins like zlib, as two letters also can.
 */
const UNPACK: Record<string, Unpack> = {
  '': unchanged,
  identity: unchanged,
  gzip: unchanged,
  'x-gzip': unchanged,
  deflate: inflate,
  br: brotliDecompressSync,
}

/** Gzip's first three bytes (https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1), as they look in base64. */
const GZIP_IN_BASE64 = 'H4sI'

/** True for a body that may be larger than what its sender wrote: bytes in base64, or gzip in base64 as text. */
export function isPacked({ body, bodyBase64 }: CapturedBody): boolean {
  return Boolean(bodyBase64) || body?.startsWith(GZIP_IN_BASE64) === true
}

/** The body as text: base64 and compression undone, bytes that are no UTF-8 replaced by U+FFFD. */
export function readBody({ body, bodyBase64, contentEncoding }: CapturedBody): ReadBody {
  if (bodyBase64) {
    const bytes = decodeBase64(bodyBase64)
    return bytes ? readBytes(bytes, contentEncoding ?? '') : { text: null, error: 'bodyBase64 is not base64' }
  }
  if (!body) return { text: null, error: null }
  const packed = body.startsWith(GZIP_IN_BASE64) ? decodeBase64(body) : null
  if (packed) return readBytes(packed, 'gzip')
  return Buffer.byteLength(body) > MAX_BODY_BYTES ? tooLarge() : { text: body, error: null }
}

function decodeBase64(text: string): Uint8Array | null {
  return /[^A-Za-z0-9+/_\-=\s]/.test(text) ? null : Buffer.from(text, 'base64')
}

function readBytes(bytes: Uint8Array, contentEncoding: string): ReadBody {
  const encoding = contentEncoding.trim().toLowerCase()
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  const isZlib = encoding === '' && bytes[0] === 0x78 && hasFrame(bytes) && !isUtf8(bytes)
  const unpack = isGzip ? gunzipSync : isZlib ? inflateSync : Object.hasOwn(UNPACK, encoding) && UNPACK[encoding]
  if (!unpack) return { text: null, error: 'its content encoding is not known' }
  try {
    return decodeText(unpack(bytes, { maxOutputLength: MAX_BODY_BYTES }))
  } catch (error) {
    // Node's zlib throws nothing else: the output is too large, or the input is damaged.
    if (!(error instanceof Error)) throw error
    return 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : { text: null, error: 'its compressed bytes are damaged' }
  }
}

function unchanged(bytes: Uint8Array): Uint8Array {
  return bytes
}

/** Some senders of `deflate` leave out the zlib frame that the standard asks for. */
function inflate(bytes: Uint8Array, options: ZlibOptions): Uint8Array {
  return hasFrame(bytes) ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
}

/** https://www.rfc-editor.org/rfc/rfc1950#section-2.2 */
function hasFrame([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}

function decodeText(bytes: Uint8Array): ReadBody {
  return bytes.length > MAX_BODY_BYTES ? tooLarge() : { text: new TextDecoder().decode(bytes), error: null }
}

function tooLarge(): ReadBody {
  return { text: null, error: 'it is larger than 1 MiB' }
}
