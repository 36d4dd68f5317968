import { createHash } from 'node:crypto'
import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { CollectorDomain, DomainDirectory } from '../domains/domain-directory.ts'
import { errorResponse } from '../http/error-responses.ts'
import { fileResponse, type StaticFile, staticFile } from '../http/static-files.ts'
import { captureConfigOf } from './capture-config.ts'
import type { ScriptBundle } from './script-bundle.ts'

export interface ScriptFileDeps {
  domains: Pick<DomainDirectory, 'byToken'>
  /** Returns the URL at which the domain's pages reach the collector. Only the host of this URL is used. */
  collectUrlOf(domain: CollectorDomain): string
  clock: Clock
  /**
   * The host of the interface if it differs from the collector's host, else null. Requests to this host come from old
   * snippets.
   */
  legacyHost: string | null
  /** Called when pages load the script from the legacy host, at most once an hour per domain. */
  askedAtLegacy(domainId: string): void
  bundle(): Promise<ScriptBundle>
}

/** Path prefix of the files that browsers load. */
export const SCRIPT_PATH = '/t/'

/**
 * Makes Chromium compile all functions off the main thread while the script downloads, instead of compiling each
 * function at its first call: https://github.com/WICG/explicit-javascript-compile-hints-file-based. Other browsers
 * treat it as a comment.
 */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad\n'

/** Cache lifetime. Changed settings of a domain apply to newly opened pages after this time at the latest. */
const MAX_AGE_S = 300
/** Cache lifetime of a 404. It is short because an unknown token may become valid. */
const UNKNOWN_MAX_AGE_S = 60
/** Maximum number of files in memory, about 40 kB each. */
const MAX_FILES = 500

/** Allows pages of every site to load the files, including those with a cross-origin embedder policy. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/**
 * Serves `GET /t/{token}.js`, the browser script with the domain's configuration, and `GET /t/{token}.json`, the
 * configuration.
 */
export class ScriptFiles {
  private readonly legacyAt = new Map<string, Instant>()
  private readonly files = new Map<string, StaticFile>()

  constructor(private readonly parts: ScriptFileDeps) {}

  /** Handles a request for a path below `SCRIPT_PATH`. */
  async answer(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return notFound('only GET is allowed')
    const file = await this.file(new URL(request.url))
    if (!file) return notFound('no such script')
    return fileResponse(request, file, { ...HEADERS, 'cache-control': `public, max-age=${MAX_AGE_S}` })
  }

  /** Returns the file for a URL; null when the token is unknown. */
  private async file({ pathname, host }: URL): Promise<StaticFile | null> {
    const [, token = '', extension] = /^\/t\/([^/]+)\.(js|json)$/.exec(pathname) ?? []
    const domain = this.parts.domains.byToken(token)
    if (!domain) return null
    if (host === this.parts.legacyHost) this.noteLegacy(domain.id)
    const { hosts, marks, ...config } = captureConfigOf(domain, { token, collectUrl: this.parts.collectUrlOf(domain) })
    if (extension === 'json') return this.fileOf('application/json', JSON.stringify({ ...config, hosts, marks }))
    const { script } = await this.parts.bundle()
    return this.fileOf('text/javascript', `${COMPILE_HINT}(function(CONFIG){${script}})(${JSON.stringify(config)});`)
  }

  private noteLegacy(domainId: string): void {
    const now = this.parts.clock.now()
    if (now - (this.legacyAt.get(domainId) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return
    this.legacyAt.set(domainId, now)
    this.parts.askedAtLegacy(domainId)
  }

  /**
   * Returns a cached file. Each version is compressed once. Only gzip is used, because pages wait for the file and
   * every change creates a new version.
   */
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

/** Returns a cacheable 404. Without caching, a page with an old token would send a request on every page view. */
function notFound(message: string): Response {
  const response = errorResponse(new AppError('notFound', message))
  const headers = { ...HEADERS, 'cache-control': `public, max-age=${UNKNOWN_MAX_AGE_S}` }
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}
