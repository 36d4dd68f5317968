import { createHash } from 'node:crypto'
import { brotliCompressSync, constants } from 'node:zlib'

/** An immutable file in memory, with its compressed forms. */
export interface StaticFile {
  /** The `content-type`, including the charset. */
  type: string
  body: Uint8Array<ArrayBuffer>
  /** The compressed bodies by encoding. Encodings that save no bytes are omitted. */
  packed: Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>
  /** Hash of the body. */
  hash: string
}

/**
 * Supported encodings, preferred first. https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1, Brotli:
 * https://www.rfc-editor.org/rfc/rfc7932
 */
const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** `cache-control` for files whose name contains a hash of the content, which are cached for a year. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'
/** `cache-control` for files that are cached but revalidated on each request. */
export const REVALIDATED = 'no-cache'

/** Compression effort: `fast` is used during a request, and `best` during a build. */
type Effort = 'fast' | 'best'
const LEVELS: Record<Effort, { br: number; gzip: 6 | 12 }> = {
  fast: { br: 5, gzip: 6 },
  // Maximum level of libdeflate: https://github.com/ebiggers/libdeflate#compression-levels
  best: { br: constants.BROTLI_MAX_QUALITY, gzip: 12 },
}

/** Matches content types that are already compressed. */
const IS_PACKED = /^(?:image\/(?!svg)|font\/|audio\/|video\/)/

export interface FileOptions {
  effort?: Effort
  encodings?: readonly Encoding[]
}

/** Creates a file with this body, compressed in each encoding that saves bytes. */
export function staticFile(
  type: string,
  content: string | Uint8Array<ArrayBuffer>,
  { effort = 'fast', encodings = ENCODINGS }: FileOptions = {},
): StaticFile {
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const pack: Record<Encoding, () => Uint8Array<ArrayBuffer>> = {
    br: () => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: LEVELS[effort].br } }),
    gzip: () => Bun.gzipSync(body, { library: 'libdeflate', level: LEVELS[effort].gzip }),
  }
  const packed: StaticFile['packed'] = {}
  for (const encoding of IS_PACKED.test(type) ? [] : encodings) {
    const bytes = pack[encoding]()
    if (bytes.length < body.length) packed[encoding] = bytes
  }
  return { type, body, packed, hash: createHash('sha256').update(body).digest('base64url') }
}

/**
 * Handles GET and HEAD requests for the file. Returns the file in an encoding that the caller accepts, or 304 when
 * `if-none-match` contains its ETag. `headers` are added to the response, such as `cache-control` and the security
 * policy.
 */
export function fileResponse(request: Request, file: StaticFile, headers: Record<string, string>): Response {
  const encoding = encodingFor(request.headers.get('accept-encoding'), file)
  const body = (encoding && file.packed[encoding]) ?? file.body
  // Each encoding needs a different ETag: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.3
  const etag = `"${file.hash}${encoding ? `-${encoding}` : ''}"`
  const all = { ...headers, 'content-type': file.type, etag, vary: 'accept-encoding' }
  if (isCachedBy(request, etag)) return new Response(null, { status: 304, headers: all })
  const sent = encoding ? { ...all, 'content-encoding': encoding } : all
  if (request.method !== 'HEAD') return new Response(body, { headers: sent })
  return new Response(null, { headers: { ...sent, 'content-length': String(body.length) } })
}

/**
 * Returns the available encoding that the caller prefers; null for the uncompressed body.
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

/**
 * Parses weights: `br;q=0.5, *` → br 0.5, * 1. A malformed weight is treated as 0, so that its encoding is not used.
 */
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

/** True when `if-none-match` lists this ETag. */
function isCachedBy({ headers }: Request, etag: string): boolean {
  const known = headers.get('if-none-match')?.split(',') ?? []
  // A proxy that changes the bytes marks the ETag as weak: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
  return known.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
