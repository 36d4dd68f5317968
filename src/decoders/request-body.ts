import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib'

/** Maximum size of a body after decompression. */
export const MAX_BODY_BYTES = 1024 * 1024

/** The body of a request as it was captured: text, or bytes in base64. */
export interface CapturedBody {
  body?: string | null | undefined
  /** Takes precedence over `body`. Both the standard and the URL-safe alphabet are accepted. */
  bodyBase64?: string | null | undefined
  /**
   * The request's `Content-Encoding`. It applies only to bytes, because text was already decompressed when it was
   * captured.
   */
  contentEncoding?: string | null | undefined
}

/** Both fields are null when the request had no body. */
export type ReadBody = { text: string | null; error: null } | { text: null; error: string }

type Unpack = (bytes: Uint8Array, options: ZlibOptions) => Uint8Array

/**
 * https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1. Gzip is recognised by its first bytes, regardless of the
 * header: beacons that compress can't set a header, some recorders omit it, and others keep it for decompressed bytes.
 * Binary data without a header is decompressed when it begins with a zlib header. Text is not, because two letters
 * could form such a header.
 */
const UNPACK: Record<string, Unpack> = {
  '': unchanged,
  identity: unchanged,
  gzip: unchanged,
  'x-gzip': unchanged,
  deflate: inflate,
  br: brotliDecompressSync,
}

/** The first three bytes of gzip data (https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1) in base64. */
const GZIP_IN_BASE64 = 'H4sI'

/**
 * True for a body that may become larger than its captured form: bytes in base64, or text that is gzip data in base64.
 */
export function isPacked({ body, bodyBase64 }: CapturedBody): boolean {
  return Boolean(bodyBase64) || body?.startsWith(GZIP_IN_BASE64) === true
}

/** Returns the body as text, decoded from base64 and decompressed. Invalid UTF-8 is replaced by U+FFFD. */
export function readBody({ body, bodyBase64, contentEncoding }: CapturedBody): ReadBody {
  if (bodyBase64) {
    const bytes = decodeBase64(bodyBase64)
    return bytes ? readBytes(bytes, contentEncoding ?? '') : { text: null, error: 'bodyBase64 is not valid Base64' }
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
  if (!unpack) return { text: null, error: 'its content encoding is not supported' }
  try {
    return decodeText(unpack(bytes, { maxOutputLength: MAX_BODY_BYTES }))
  } catch (error) {
    // Node's zlib throws only if the output is too large or the input is damaged.
    if (!(error instanceof Error)) throw error
    return 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : { text: null, error: 'its compressed data is damaged' }
  }
}

function unchanged(bytes: Uint8Array): Uint8Array {
  return bytes
}

/** Decompresses `deflate` data. Some senders omit the zlib header that the standard requires. */
function inflate(bytes: Uint8Array, options: ZlibOptions): Uint8Array {
  return hasFrame(bytes) ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
}

/** True when the bytes begin with a zlib header: https://www.rfc-editor.org/rfc/rfc1950#section-2.2 */
function hasFrame([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}

function decodeText(bytes: Uint8Array): ReadBody {
  return bytes.length > MAX_BODY_BYTES ? tooLarge() : { text: new TextDecoder().decode(bytes), error: null }
}

function tooLarge(): ReadBody {
  return { text: null, error: 'it is larger than 1 MiB' }
}
