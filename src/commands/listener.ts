import { statSync } from 'node:fs'
import type { App, Log } from '../app.ts'
import type { Config } from '../config.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type ArrivalLimits, endsConnection, isArriving, limitArrivals } from '../http/arrival.ts'
import { type CallerAddress, callerAddress } from '../http/caller-address.ts'
import { bugResponse, errorResponse, refusalOf } from '../http/errors.ts'
import { noteAddress } from '../http/origin.ts'
import { abortRequest } from '../http/request-signal.ts'
import { EVENTS_PATH } from '../ingest/collector.ts'

/** What a server puts up with. */
export interface ServerTimeouts {
  /** A request that takes longer is answered 503. */
  answerMs: number
  /** Requests under way are cut off when the server stops for longer. */
  stopMs: number
  /** How often connections are counted. */
  countMs: number
  bodies: ArrivalLimits
}

/** Answers a request to `path`. */
export type Answer = (request: Request, path: string) => Promise<Response> | Response

export interface Listening {
  at: { hostname: string; port: number }
  /** Takes batches at `EVENTS_PATH`, past everything else; null: they are not taken here. */
  collector: App['collector'] | null
  answer: Answer
}

export type Server = Bun.Server<undefined>

/**
 * Longer than proxies keep a connection, which is 60 s for many: else one would send a request into a connection that
 * is just being closed. Bun asks 16 KiB a second of a body over this time, and gives the first head of a connection
 * 10 s.
 */
const IDLE_TIMEOUT_S = 65
const RETRY_AFTER_S = 1
const PAUSE_MS = 10
const NO_HOST = new AppError('invalid', 'host: is no name of a host')
const TWO_HOSTS = new AppError('invalid', 'host: is there more than once')
const BUSY = new AppError('unavailable', 'the server has too many requests at work', RETRY_AFTER_S)

/** Listens, and answers every request as the settings and `timeouts` allow. Throws when the port is taken. */
export function serve(
  { at, collector, answer }: Listening,
  config: Config,
  log: Log,
  timeouts: ServerTimeouts,
): Server {
  limitArrivals(timeouts.bodies)
  const callerOf = callerAddress(config.trustedProxies)
  const isBusy = (server: Server) => server.pendingRequests > config.maxConnections
  const web = async (request: Request, path: string, server: Server) => {
    // Whoever asks whether the process is alive would end it for being busy.
    if (isBusy(server) && path !== '/healthz') return errorResponse(BUSY)
    try {
      return await inTime(request, answer(request, path), timeouts.answerMs)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) return errorResponse(refusal)
      log.error(error, `${request.method} ${path.split('?', 1)[0]}`)
      return bugResponse()
    }
  }
  const isSecure = config.publicUrl.startsWith('https:')
  return Bun.serve({
    ...at,
    development: false,
    // Without it two servers share a port unnoticed, and the kernel deals requests between them.
    reusePort: false,
    idleTimeout: Math.max(IDLE_TIMEOUT_S, Math.ceil(timeouts.answerMs / SECOND_MS) + 15),
    // Bodies are measured where they are read: the server's own refusal is not JSON.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // Its own route, because it is asked thousands of times a second.
    ...(collector ? { routes: { [EVENTS_PATH]: eventsRoute(collector, isBusy, isSecure) } } : {}),
    async fetch(original, server) {
      const request = withPlainUrl(original)
      const refusal = hasTwoHosts(original) ? TWO_HOSTS : request ? null : NO_HOST
      if (!request || refusal) return finished(original, errorResponse(refusal ?? NO_HOST), isSecure)
      noteCaller(request, server.requestIP(original), callerOf)
      const response = finished(request, await web(request, pathOf(request.url), server), isSecure)
      // Else it would be cut off like an idle connection, whatever is sent on it.
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) server.timeout(original, 0)
      return response
    },
  })
}

function eventsRoute(collector: App['collector'], isBusy: (server: Server) => boolean, isSecure: boolean) {
  const take = (request: Request, server: Server) => {
    const refusal = isBusy(server) ? BUSY : hasTwoHosts(request) ? TWO_HOSTS : null
    return refusal ? collector.refuse(request, refusal) : collector.events(request)
  }
  if (!isSecure) return take
  return async (request: Request, server: Server) => withHsts(await take(request, server))
}

/**
 * True when `Host` is there twice, which Bun joins with a comma; what stands before this server may have read the other
 * one. https://www.rfc-editor.org/rfc/rfc9112#section-3.2: such a request is refused with 400.
 */
function hasTwoHosts({ headers }: Request): boolean {
  return headers.get('host')?.includes(',') ?? false
}

/**
 * The request with an address in which its path is found: without a `Host`, as in HTTP/1.0, Bun gives the path alone,
 * and Elysia 1.4 looks for the path behind the eleventh character, so that it misses a host of three. Null when what
 * was sent makes no address.
 */
function withPlainUrl(request: Request): Request | null {
  const { url } = request
  if (url.startsWith('/')) return request.headers.get('host') ? null : new Request(`http://localhost${url}`, request)
  if (!url.startsWith('http://') || !URL.canParse(url)) return null
  return url.indexOf('/', 'http://'.length) > 'http://abc'.length
    ? request
    : new Request(`http://localhost${pathOf(url)}`, request)
}

function noteCaller(request: Request, peer: { address: string } | null, callerOf: CallerAddress): void {
  const address = callerOf(peer?.address ?? null, request.headers.get('x-forwarded-for'))
  if (address !== null) noteAddress(request, address)
}

/** The answer, or a 503 when it takes longer; time in which the body still arrives has limits of its own. */
async function inTime(request: Request, answer: Promise<Response> | Response, limitMs: number): Promise<Response> {
  if (!(answer instanceof Promise)) return answer
  const late = Promise.withResolvers<Response>()
  const giveUp = () => {
    if (isArriving(request)) timer = setTimeout(giveUp, limitMs)
    else {
      late.resolve(errorResponse(tooLate(request, limitMs)))
      // Else it would go on for nobody.
      abortRequest(request)
    }
  }
  let timer = setTimeout(giveUp, limitMs)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function tooLate({ method, url }: Request, limitMs: number): AppError {
  const what = `${method} ${pathOf(url).split('?', 1)[0]}`
  return new AppError('unavailable', `${what}: took longer than ${limitMs / SECOND_MS} s`, RETRY_AFTER_S)
}

function finished(request: Request, response: Response, isSecure: boolean): Response {
  response.headers.set('x-content-type-options', 'nosniff')
  if (response.status >= 400 && endsConnection(request)) response.headers.set('connection', 'close')
  return isSecure ? withHsts(response) : response
}

function withHsts(response: Response): Response {
  response.headers.set('strict-transport-security', 'max-age=31536000')
  return response
}

/** Without parsing the whole address; `/` alone when it has no path. */
function pathOf(url: string): string {
  const at = url.indexOf('/', 'http://'.length)
  return at < 0 ? '/' : url.slice(at)
}

/**
 * Closes connections without a request while there are more than `config.maxConnections`. What they are is told by the
 * number of open files, which Linux says since 6.2; elsewhere nothing happens. Answers how to end it.
 */
export function limitConnections(servers: readonly Server[], config: Config, log: Log, everyMs: number): () => void {
  let toldAt = Number.NEGATIVE_INFINITY
  const timer = setInterval(() => {
    if (openFiles() <= config.maxConnections) return
    const closed = servers.reduce((sum, server) => sum + server.closeIdleConnections(), 0)
    if (closed === 0 || performance.now() - toldAt < MINUTE_MS) return
    toldAt = performance.now()
    log.warn(`more than ${config.maxConnections} connections: closed ${closed} that were idle`)
  }, everyMs)
  return () => clearInterval(timer)
}

/** https://docs.kernel.org/filesystems/proc.html, `/proc/<pid>/fd`. */
function openFiles(): number {
  return statSync('/proc/self/fd', { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Answers requests under way, and closes connections. After `withinMs` it cuts off what is left; connections on which
 * no request has come whole are not waited for.
 */
export async function stopServer(server: Server, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs
  const stopped = server.stop().then(() => true)
  while (server.pendingRequests > 0 && performance.now() < end) {
    if (await Promise.race([stopped, Bun.sleep(PAUSE_MS)])) return
  }
  await server.stop(true)
}
