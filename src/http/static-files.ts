import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** A file as it is sent: made once, never changed. */
export interface StaticFile {
  /** For `content-type`, charset included. */
  type: string
  body: Uint8Array<ArrayBuffer>
  /** The body compressed, by the name of the encoding; without those that would save nothing. */
  packed: Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>
  /** Of what the body is: changes with it. */
  hash: string
}

/** Best first. https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1, brotli: https://www.rfc-editor.org/rfc/rfc7932 */
export const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** How long callers may keep a file: a name with a hash of the content in it never means anything else. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'
/** Kept, and asked for each time whether it changed. */
export const REVALIDATED = 'no-cache'

/** How much work compressing may be: `fast` while somebody waits for the file, `best` at a build. */
export type Effort = 'fast' | 'best'
const LEVELS: Record<Effort, { br: number; gzip: number }> = {
  fast: { br: 5, gzip: 6 },
  best: { br: constants.BROTLI_MAX_QUALITY, gzip: constants.Z_BEST_COMPRESSION },
}

/** What gains nothing from being compressed: it is already. */
const IS_PACKED = /^(?:image\/(?!svg)|font\/|audio\/|video\/)/

export interface FileOptions {
  effort?: Effort
  encodings?: readonly Encoding[]
}

/** The file with this body, compressed. */
export function staticFile(
  type: string,
  content: string | Uint8Array<ArrayBuffer>,
  { effort = 'fast', encodings = ENCODINGS }: FileOptions = {},
): StaticFile {
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const pack: Record<Encoding, () => Uint8Array<ArrayBuffer>> = {
    br: () => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: LEVELS[effort].br } }),
    gzip: () => gzipSync(body, { level: LEVELS[effort].gzip }),
  }
  const packed: StaticFile['packed'] = {}
  for (const encoding of IS_PACKED.test(type) ? [] : encodings) {
    const bytes = pack[encoding]()
    if (bytes.length < body.length) packed[encoding] = bytes
  }
  return { type, body, packed, hash: createHash('sha256').update(body).digest('base64url') }
}

/**
 * Answers GET and HEAD: the file as the caller can read it, or 304 when the caller has it. `headers` say how long it may be
 * kept (`cache-control`) and what it may do.
 */
export function fileResponse(request: Request, file: StaticFile, headers: Record<string, string>): Response {
  const encoding = encodingFor(request.headers.get('accept-encoding'), file)
  const body = (encoding && file.packed[encoding]) ?? file.body
  // Each compressed form is another sequence of bytes: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.3
  const etag = `"${file.hash}${encoding ? `-${encoding}` : ''}"`
  const all = { ...headers, 'content-type': file.type, etag, vary: 'accept-encoding' }
  if (isKnownTo(request, etag)) return new Response(null, { status: 304, headers: all })
  const sent = encoding ? { ...all, 'content-encoding': encoding } : all
  if (request.method !== 'HEAD') return new Response(body, { headers: sent })
  return new Response(null, { headers: { ...sent, 'content-length': String(body.length) } })
}

/**
 * The encoding that the caller likes best of those that the file has; null: none, as it is.
 * https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3
 */
export function encodingFor(accepted: string | null, { packed }: Pick<StaticFile, 'packed'>): Encoding | null {
  const weights = weightsOf(accepted ?? '')
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  const plain = weights.get('identity') ?? 0
  let best: Encoding | null = null
  for (const encoding of ENCODINGS) {
    if (!packed[encoding] || weightOf(encoding) === 0 || weightOf(encoding) < plain) continue
    if (best === null || weightOf(encoding) > weightOf(best)) best = encoding
  }
  return best
}

/** `br;q=0.5, *` → br 0.5, * 1. What is no weight counts as 0: nothing is sent that was not clearly asked for. */
function weightsOf(accepted: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    const weight = parameters.find((text) => /^q\s*=/.test(text))?.replace(/^q\s*=\s*/, '') ?? '1'
    const known = name === 'x-gzip' ? 'gzip' : name
    weights.set(known, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0)
  }
  return weights
}

/** True when the caller has what has this tag already. */
function isKnownTo({ headers }: Request, etag: string): boolean {
  const known = headers.get('if-none-match')?.split(',') ?? []
  // A proxy that changes the bytes marks the tag as weak: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
  return known.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
