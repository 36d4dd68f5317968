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
  /** Returns the URL at which the pages of a domain reach the collector; only its host matters. */
  collectUrlOf(domain: CollectorDomain): string
  clock: Clock
  /** The host of the interface, if it is not the collector's: requests there come from old snippets. Null if it is. */
  legacyHost: string | null
  /** Called when pages load the script from that host, at most once an hour for a domain. */
  askedAtLegacy(domainId: string): void
  bundle(): Promise<ScriptBundle>
}

/** Path prefix of the files that browsers load. */
export const SCRIPT_PATH = '/t/'

/**
 * Chromium then compiles all functions while the script arrives, off the main thread, and not each when it is first
 * called: https://github.com/WICG/explicit-javascript-compile-hints-file-based. Others read a comment.
 */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad\n'

/** Cache lifetime: within this time changed settings of a domain reach newly opened pages. */
const MAX_AGE_S = 300
/** Cache lifetime of a 404: an unknown token may be known in a minute. */
const UNKNOWN_MAX_AGE_S = 60
/** Limit of the files in memory, about 40 kB each. */
const MAX_FILES = 500

/** Lets pages of every site load the files, also those with a cross-origin embedder policy. */
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

  constructor(private readonly parts: ScriptFileParts) {}

  /** Answers a request to a path below `SCRIPT_PATH`. */
  async answer(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return notFound('this route takes GET only')
    const file = await this.file(new URL(request.url))
    if (!file) return notFound('no such script')
    return fileResponse(request, file, { ...HEADERS, 'cache-control': `public, max-age=${MAX_AGE_S}` })
  }

  /** Returns the file; null when the token is unknown. */
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
   * Returns a cached file. A text is compressed once, by gzip only, because pages wait for it and every change makes a
   * new one.
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

/** Returns a cacheable 404, or a page with an old token would send a request at every view. */
function notFound(message: string): Response {
  const response = errorResponse(new AppError('notFound', message))
  const headers = { ...HEADERS, 'cache-control': `public, max-age=${UNKNOWN_MAX_AGE_S}` }
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}
