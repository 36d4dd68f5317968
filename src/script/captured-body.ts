/** Larger bodies are omitted. */
const MAX_BODY_BYTES = 64 * 1024

/** A body in the collector's format. */
export interface SentBody {
  body?: string
  bodyBase64?: string
}

/**
 * A body at the time of the call: a string, copied bytes, or a function that reads the body later. Null when the body
 * can't be read.
 */
export type Snapshot = string | Uint8Array | (() => Promise<string | Uint8Array | null>) | null

/** Returns a body as a string, empty when there is none; null when it must be read later. */
export function textOf(snapshot: Snapshot): string | null {
  if (typeof snapshot === 'function') return null
  return typeof snapshot === 'string' ? snapshot : new TextDecoder().decode(snapshot ?? undefined)
}

/**
 * Takes a snapshot of a body and copies data that the page could still change. Streams are not read, because they can
 * be read only once. Strings and bytes over 64 kB are omitted.
 */
export function snapshotOf(body: unknown): Snapshot {
  if (typeof body === 'string') return body.length > MAX_BODY_BYTES ? null : body
  if (body instanceof URLSearchParams) return snapshotOf(body.toString())
  if (body instanceof FormData) return snapshotOf(formText(body))
  if (body instanceof Blob) {
    return body.size > MAX_BODY_BYTES ? null : () => bytesOf(body)
  }
  const view = body instanceof ArrayBuffer ? new Uint8Array(body) : body
  if (!ArrayBuffer.isView(view) || view.byteLength > MAX_BODY_BYTES) return null
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
}

/**
 * Returns the form as a query string, the format in which vendors send the same fields. Only the field names of files
 * are included.
 */
function formText(form: FormData): string {
  const fields = [...form].map(([key, value]) => [key, typeof value === 'string' ? value : ''])
  return new URLSearchParams(fields).toString()
}

/**
 * Takes a snapshot of a `Request`'s body from a clone, which must be made before the page's own call consumes the
 * request. Reading stops at the limit and cancels the stream, in case the body is endless.
 */
export function snapshotOfRequest(request: Request): Snapshot {
  if (request.body === null || request.bodyUsed || /^(?:GET|HEAD)$/.test(request.method)) return null
  const copy = request.clone()
  return async () => {
    // Not every browser exposes the body of a request as a stream.
    const bytes = copy.body ? await readUpTo(copy.body) : await bytesOf(copy)
    const type = request.headers.get('content-type') ?? ''
    if (!bytes || !/^multipart\/form-data/i.test(type)) return bytes
    return formText(await new Response(bytes, { headers: { 'content-type': type } }).formData())
  }
}

async function bytesOf(source: Blob | Request): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await source.arrayBuffer())
}

/** Reads a stream to its end; null when it exceeds the limit. */
async function readUpTo(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer> | null> {
  const reader = stream.getReader()
  let known = new Blob()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return bytesOf(known)
    known = new Blob([known, value])
    if (known.size > MAX_BODY_BYTES) {
      void reader.cancel()
      return null
    }
  }
}

/** Encodes a body as text if possible, otherwise as base64. The collector recognises compressed bytes. */
export function encodeBody(content: string | Uint8Array): SentBody {
  if (typeof content === 'string') return content ? { body: content } : {}
  try {
    return encodeBody(new TextDecoder('utf-8', { fatal: true }).decode(content))
  } catch {
    let text = ''
    for (const byte of content) text += String.fromCharCode(byte)
    return { bodyBase64: btoa(text) }
  }
}
