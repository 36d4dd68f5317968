import { createHash } from 'node:crypto'
import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { CollectorDomain, DomainDirectory } from '../domains/directory.ts'
import { errorResponse } from '../http/errors.ts'
import { fileResponse, type StaticFile, staticFile } from '../http/static-files.ts'
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
/** Files that are kept in memory, about 40 kB each. */
const MAX_FILES = 500

/** For pages of every site, those that let nothing in that does not allow it included. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** `GET /t/{token}.js`, the browser script with the domain's configuration, and `GET /t/{token}.json`, that alone. */
export class ScriptFiles {
  private readonly legacyAt = new Map<string, Instant>()
  private readonly files = new Map<string, StaticFile>()

  constructor(private readonly parts: ScriptFileParts) {}

  /** Answers a request to an address below `SCRIPT_PATH`. */
  async answer(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return notFound('this route takes GET only')
    const file = await this.file(new URL(request.url))
    if (!file) return notFound('no such script')
    return fileResponse(request, file, { ...HEADERS, 'cache-control': `public, max-age=${MAX_AGE_S}` })
  }

  /** Null: nobody has this token. */
  private async file({ pathname, host }: URL): Promise<StaticFile | null> {
    const [, token = '', extension] = /^\/t\/([^/]+)\.(js|json)$/.exec(pathname) ?? []
    const domain = this.parts.domains.byToken(token)
    if (!domain) return null
    if (host === this.parts.legacyHost) this.noteLegacy(domain.id)
    const { hosts, ...config } = captureConfigOf(domain, { token, collectUrl: this.parts.collectUrlOf(domain) })
    if (extension === 'json') return this.fileOf('application/json', JSON.stringify({ ...config, hosts }))
    const { script } = await this.parts.bundle()
    return this.fileOf('text/javascript', `(function(CONFIG){${script}})(${JSON.stringify(config)});`)
  }

  private noteLegacy(domainId: string): void {
    const now = this.parts.clock.now()
    if (now - (this.legacyAt.get(domainId) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return
    this.legacyAt.set(domainId, now)
    this.parts.askedAtLegacy(domainId)
  }

  /** The same text is compressed once; by gzip alone, as pages wait for it and it is made anew with every change of a domain. */
  private fileOf(type: string, text: string): StaticFile {
    const key = createHash('sha256').update(text).digest('base64url')
    const known = this.files.get(key)
    if (known) return known
    const file = staticFile(`${type}; charset=utf-8`, text, { effort: 'best', encodings: ['gzip'] })
    const [oldest] = this.files.keys()
    if (this.files.size >= MAX_FILES && oldest !== undefined) this.files.delete(oldest)
    this.files.set(key, file)
    return file
  }
}

/** Cacheable, or a page with an old token would ask at every view. */
function notFound(message: string): Response {
  const response = errorResponse(new AppError('notFound', message))
  const headers = { ...HEADERS, 'cache-control': `public, max-age=${UNKNOWN_MAX_AGE_S}` }
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}
