/** More of a body is not kept. */
const MAX_BODY_BYTES = 64 * 1024

/** A body as the collector takes it. */
export interface SentBody {
  body?: string
  bodyBase64?: string
  contentEncoding?: string
}

/** A body at the time of the call: a text, bytes of our own, or a way to read them later. Null: none that may be read. */
export type Snapshot = string | Uint8Array | (() => Promise<string | Uint8Array | null>) | null

/**
 * Copies what the page could still change, and nothing else. Streams are never read: the page has only one of each.
 * Texts and bytes of more than 64 kB are left out.
 */
export function snapshotOf(body: unknown): Snapshot {
  if (typeof body === 'string') return body.length > MAX_BODY_BYTES ? null : body
  if (body instanceof URLSearchParams) return snapshotOf(body.toString())
  if (body instanceof FormData) return snapshotOf(formText(body))
  if (body instanceof Blob) {
    return body.size > MAX_BODY_BYTES ? null : async () => new Uint8Array(await body.arrayBuffer())
  }
  const view = body instanceof ArrayBuffer ? new Uint8Array(body) : body
  if (!ArrayBuffer.isView(view) || view.byteLength > MAX_BODY_BYTES) return null
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
}

/** As a query string, which is how vendors that send forms take the same fields; of files the name of the field only. */
function formText(form: FormData): string {
  const fields = new URLSearchParams()
  form.forEach((value, key) => {
    fields.append(key, typeof value === 'string' ? value : '')
  })
  return fields.toString()
}

/**
 * The body of a request of the page, read from a copy, which must be made before the page's own call uses the request up.
 * Reading ends at the limit, so that an endless one is let go.
 */
export function snapshotOfRequest(request: Request): Snapshot {
  if (request.body === null || request.bodyUsed || /^(?:GET|HEAD)$/.test(request.method)) return null
  const copy = request.clone()
  return async () => {
    // Not every browser shows the body of a request as a stream.
    const bytes = copy.body ? await readUpTo(copy.body) : new Uint8Array(await copy.arrayBuffer())
    const type = request.headers.get('content-type') ?? ''
    if (!bytes || !/^multipart\/form-data/i.test(type)) return bytes
    return formText(await new Response(bytes, { headers: { 'content-type': type } }).formData())
  }
}

/** Null when there is more than is kept. */
async function readUpTo(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer> | null> {
  const reader = stream.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    length += value.byteLength
    if (length > MAX_BODY_BYTES) {
      void reader.cancel()
      return null
    }
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

/**
 * As text where it is one, else in base64. How it is packed is told by its first bytes: beacons can't say it in a header,
 * and of the others the header says nothing else. https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1,
 * https://www.rfc-editor.org/rfc/rfc1950#section-2.2
 */
export function encodeBody(content: string | Uint8Array): SentBody {
  if (typeof content === 'string') return content === '' ? {} : { body: content }
  try {
    return encodeBody(new TextDecoder('utf-8', { fatal: true }).decode(content))
  } catch {
    const [first = 0, second = 0] = content
    const bodyBase64 = base64(content)
    if (first === 0x1f && second === 0x8b) return { bodyBase64, contentEncoding: 'gzip' }
    const isZlib = first === 0x78 && (first * 256 + second) % 31 === 0
    return isZlib ? { bodyBase64, contentEncoding: 'deflate' } : { bodyBase64 }
  }
}

function base64(bytes: Uint8Array): string {
  let text = ''
  // A call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(text)
}
