import { isUtf8 } from 'node:buffer'

/** Content of an attachment of a HAR, or the reason why the attachment can't be read. */
export type Attachment = { bytes: Uint8Array } | { fault: string }

/** Reads an attachment by its name in the HAR. */
export type AttachmentReader = (name: string) => Attachment

/** Maximum size of an attachment in bytes, which equals the size of the largest body that is decoded. */
export const MAX_ATTACHMENT_BYTES = 1024 * 1024

/** The body of a request. The fields are undefined when the request had no body. */
export interface HarBody {
  body?: string
  bodyBase64?: string
  /** Reason why the recording does not contain the body. Continues a sentence that begins with `body:`. */
  fault?: string
}

/** The fields read from a HAR's `postData`. `_file` is Playwright's name for an attachment. */
export type PostData =
  | { mimeType?: unknown; text?: unknown; encoding?: unknown; params?: unknown; comment?: unknown; _file?: unknown }
  | null
  | undefined

/** The body of a request as described by the recorder. */
export interface RecordedBody {
  method: string
  postData: PostData
  /** Value of `request.bodySize`. Unknown when it is negative or not a number. */
  bodySize: unknown
  /** The request's `Content-Length`; undefined without one. */
  contentLength: string | undefined
  /** The request's `Content-Encoding`; empty without one. */
  contentEncoding: string
}

/** Methods of requests without a relevant body. */
const WITHOUT_BODY = /^(?:GET|HEAD|OPTIONS|CONNECT|TRACE)$/i
/** First two bytes of gzip and zlib data. Recorders may write the second byte as U+FFFD or a lone surrogate. */
const COMPRESSED: ReadonlyMap<number, readonly number[]> = new Map([
  [0x1f, [0x8b, 0xfffd, 0xdc8b]],
  [0x78, [0x01, 0x5e, 0x9c, 0xda, 0xfffd, 0xdc9c, 0xdcda]],
])
/** Control characters that never occur in text: all except tabs and line breaks. */
const CONTROL = /[^\P{Cc}\t\n\v\f\r]/u
/** Matches recorders' comments about a truncated body. */
const SAYS_CUT = /\b(?:cut|truncated)\b/i
const MAX_NAME_SHOWN = 100

/** Quotes a name from a HAR for use in messages. The name is truncated to 100 characters. */
export const quoted = (name: string) => JSON.stringify(name.slice(0, MAX_NAME_SHOWN))

/**
 * Returns the body from the first available source: attachment, text or parameters. When the request had a body that is
 * missing, truncated or damaged, returns the reason instead.
 */
export function harBodyOf(recorded: RecordedBody, attachmentOf: AttachmentReader): HarBody {
  const { method, postData, contentEncoding } = recorded
  const name = postData?._file
  const attached = typeof name === 'string' && name !== '' ? attachmentOf(name) : null
  if (attached && 'bytes' in attached) return bodyOfBytes(attached.bytes, contentEncoding)
  if (typeof postData?.text === 'string' && postData.text !== '') return bodyOfText(postData.text, recorded)
  const form = formOf(postData?.params)
  if (form !== null) return { body: form }
  if (attached) return { fault: attached.fault }
  if (WITHOUT_BODY.test(method)) return {}
  const sent = bytesSent(recorded)
  if (sent === null) return postData?.mimeType ? { fault: 'missing from the recording' } : {}
  return sent > 0 ? { fault: `missing from the recording (${sent} bytes were sent)` } : {}
}

/** Returns whether a string contains characters that occur only in binary data. */
export function isBinary(text: string): boolean {
  return CONTROL.test(text)
}

/** Returns whether a request with this method may have a body that the recording omits. */
export function mayHaveBody(method: string): boolean {
  return !WITHOUT_BODY.test(method)
}

/**
 * Returns the size of the body as transmitted, in bytes; null when unknown. Recorders write 0 for bodies that they did
 * not see.
 */
function bytesSent({ bodySize, contentLength }: RecordedBody): number | null {
  if (contentLength !== undefined && /^\d{1,15}$/.test(contentLength)) return Number(contentLength)
  return typeof bodySize === 'number' && bodySize >= 0 ? bodySize : null
}

function bodyOfBytes(bytes: Uint8Array, contentEncoding: string): HarBody {
  if (bytes.length === 0) return {}
  if (contentEncoding === '' && isUtf8(bytes)) return { body: new TextDecoder().decode(bytes) }
  return { bodyBase64: Buffer.from(bytes).toString('base64') }
}

function bodyOfText(text: string, recorded: RecordedBody): HarBody {
  const { encoding, comment } = recorded.postData ?? {}
  if (typeof encoding === 'string' && encoding.toLowerCase() === 'base64') return { bodyBase64: text }
  const sent = bytesSent(recorded)
  if (isUnmarkedBase64(text, sent)) return { bodyBase64: text }
  if (isCompressed(text, recorded.contentEncoding)) {
    const bytes = bytesOfText(text)
    return bytes ? { bodyBase64: bytes.toString('base64') } : { fault: DAMAGED }
  }
  const isMultipart = text.startsWith('--')
  if (!isMultipart && text.includes('\ufffd') && isBinary(text)) return { fault: DAMAGED }
  if (typeof comment === 'string' && SAYS_CUT.test(comment)) return { fault: 'only a part was recorded' }
  // Recorders omit files from multipart forms and store compressed bodies unpacked, so sizes can't be compared.
  if (!isMultipart && recorded.contentEncoding === '' && sent !== null && isCut(text, sent)) {
    return { fault: `only ${Buffer.byteLength(text)} of ${sent} bytes were recorded` }
  }
  return { body: text }
}

const DAMAGED = 'damaged, because binary data was recorded as text'

/** Returns whether a string contains compressed data. */
function isCompressed(text: string, contentEncoding: string): boolean {
  if (!isBinary(text)) return false
  return contentEncoding !== '' || COMPRESSED.get(text.charCodeAt(0))?.includes(text.charCodeAt(1)) === true
}

/**
 * Returns whether a string is base64 that is not marked as such. The size of the decoded data must be the size that was
 * sent. When that size is unknown, the decoded data must be a form or JSON.
 */
function isUnmarkedBase64(text: string, sent: number | null): boolean {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return false
  const bytes = Buffer.from(text, 'base64')
  if (sent !== null && sent > 0) return bytes.length === sent
  return isUtf8(bytes) && /^(?:[\w.[\]%-]+=|\s*[{[])[^\p{Cc}]*$/u.test(bytes.toString().replaceAll(/[\r\n\t]/g, ' '))
}

/**
 * Returns the bytes of a string that was recorded with one character per byte (Latin-1) or as UTF-8. In UTF-8, Python's
 * lone surrogates U+DC80 to U+DCFF represent invalid bytes. Null when bytes have been replaced by U+FFFD.
 */
function bytesOfText(text: string): Buffer | null {
  if (text.isWellFormed()) return /[^\0-\u00ff]/.test(text) ? null : Buffer.from(text, 'latin1')
  if (text.includes('\ufffd')) return null
  const parts = text.split(/([\udc80-\udcff]+)/u)
  return Buffer.concat(parts.map((part, at) => Buffer.from(part, at % 2 === 1 ? 'latin1' : 'utf8')))
}

/**
 * Returns whether a string is shorter than the body that was sent, even when differences in line breaks and escapes are
 * taken into account.
 */
function isCut(text: string, sent: number): boolean {
  if (Buffer.byteLength(text) >= sent) return false
  const lines = text.replaceAll(/\r?\n/g, '\r\n')
  if (Buffer.byteLength(lines) >= sent || isWholeJson(text)) return false
  const isForm = /^[^=&{[\s]+=/.test(text)
  return !isForm || encodeURIComponent(lines.toWellFormed()).length < sent
}

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Returns the valid pairs in a list of `{name, value}`. */
function pairsOf(list: unknown): [name: string, value: string][] {
  if (!Array.isArray(list)) return []
  return list.flatMap((one: { name?: unknown; value?: unknown } | null) =>
    typeof one?.name === 'string' ? [[one.name, typeof one.value === 'string' ? one.value : '']] : [],
  )
}

/**
 * Matches strings that never occur in an encoded list: a percent sign that is not followed by two hexadecimal digits, a
 * character that a form always encodes, or a URL.
 */
const DECODED = /%(?![0-9a-f]{2})|[^\x21-\x7e]|["<>\\^`{|}&]|^[a-z][a-z\d+.-]*:\/\//i

/**
 * Returns the parameters as the form that was sent; null when there are none. Some recorders write parameters
 * percent-encoded, and others write them decoded. An ambiguous list is treated as encoded. A JSON body that was
 * recorded as a form is reassembled.
 */
function formOf(list: unknown): string | null {
  const pairs = pairsOf(list)
  const texts = pairs.flat()
  if (texts.every((text) => text === '')) return null
  const isEncoded = texts.some((text) => text.includes('%')) && !texts.some((text) => DECODED.test(text))
  const [[first] = ['']] = pairs
  if (isEncoded || /^\s*[{[]/.test(first)) {
    return pairs.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&')
  }
  return new URLSearchParams(pairs).toString()
}
