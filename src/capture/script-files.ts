import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { CollectorDomain, DomainDirectory } from '../domains/directory.ts'
import { errorResponse } from '../http/errors.ts'
import { isKnownTo } from '../http/static-file.ts'
import { captureConfigOf } from './capture-config.ts'
import type { ScriptBundle } from './script-bundle.ts'

export interface ScriptFileParts {
  domains: Pick<DomainDirectory, 'byToken'>
  /** Where the pages of a domain reach the collector; any address of that host. */
  collectUrlOf(domain: CollectorDomain): string
  clock: Clock
  /** The host of the interface, where it is not the collector's too: who asks there uses an old snippet. */
  legacyHost: string | null
  /** Called when pages ask there, at most once an hour for a domain. */
  askedAtLegacy(domainId: string): void
  bundle(): Promise<ScriptBundle>
}

/** Below it lie the files that browsers load. */
export const SCRIPT_PATH = '/t/'

/** Changes of a domain’s settings reach pages that open within this time. */
const MAX_AGE_S = 300
/** A token that is not known now may be in a minute. */
const UNKNOWN_MAX_AGE_S = 60
/** Packed files that are kept in memory, about 10 kB each. */
const MAX_PACKED = 1000

/** For pages of every site, those that let nothing in that does not allow it included. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

interface File {
  type: string
  text: string
  etag: string
}

/** `GET /t/{token}.js`, the browser script with the domain's configuration, and `GET /t/{token}.json`, that alone. */
export class ScriptFiles {
  private readonly legacyAt = new Map<string, Instant>()
  private readonly packed = new Map<string, Uint8Array<ArrayBuffer>>()

  constructor(private readonly parts: ScriptFileParts) {}

  /** Answers a request to an address below `SCRIPT_PATH`. */
  async answer(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return notFound('this route takes GET only')
    const file = await this.file(new URL(request.url))
    if (!file) return notFound('no such script')
    const headers = {
      ...HEADERS,
      'cache-control': `public, max-age=${MAX_AGE_S}`,
      'content-type': `${file.type}; charset=utf-8`,
      etag: file.etag,
      vary: 'accept-encoding',
    }
    if (isKnownTo(request, file.etag)) return new Response(null, { status: 304, headers })
    const isPacked = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
    const body = isPacked ? this.pack(file) : file.text
    return new Response(request.method === 'HEAD' ? null : body, {
      headers: isPacked ? { ...headers, 'content-encoding': 'gzip' } : headers,
    })
  }

  /** Null: nobody has this token. */
  private async file({ pathname, host }: URL): Promise<File | null> {
    const [, token = '', extension] = /^\/t\/([^/]+)\.(js|json)$/.exec(pathname) ?? []
    const domain = this.parts.domains.byToken(token)
    if (!domain) return null
    if (host === this.parts.legacyHost) this.noteLegacy(domain.id)
    const { hosts, ...config } = captureConfigOf(domain, { token, collectUrl: this.parts.collectUrlOf(domain) })
    if (extension === 'json') return fileOf('application/json', JSON.stringify({ ...config, hosts }))
    const { script } = await this.parts.bundle()
    return fileOf('text/javascript', `(function(CONFIG){${script}})(${JSON.stringify(config)});`)
  }

  private noteLegacy(domainId: string): void {
    const now = this.parts.clock.now()
    if (now - (this.legacyAt.get(domainId) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return
    this.legacyAt.set(domainId, now)
    this.parts.askedAtLegacy(domainId)
  }

  private pack({ etag, text }: File): Uint8Array<ArrayBuffer> {
    const known = this.packed.get(etag)
    if (known) return known
    const bytes = gzipSync(text, { level: 9 })
    const [oldest] = this.packed.keys()
    if (this.packed.size >= MAX_PACKED && oldest !== undefined) this.packed.delete(oldest)
    this.packed.set(etag, bytes)
    return bytes
  }
}

function fileOf(type: string, text: string): File {
  return { type, text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` }
}

/** Cacheable, or a page with an old token would ask at every view. */
function notFound(message: string): Response {
  const response = errorResponse(new AppError('notFound', message))
  const headers = { ...HEADERS, 'cache-control': `public, max-age=${UNKNOWN_MAX_AGE_S}` }
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}
