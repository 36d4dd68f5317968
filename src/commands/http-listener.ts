import { statSync } from 'node:fs'
import type { Log } from '../base.ts'
import type { Config } from '../config.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type CallerAddress, callerAddress } from '../http/caller-address.ts'
import { noteAddress } from '../http/client-info.ts'
import { bugResponse, errorResponse, refusalOf } from '../http/error-responses.ts'
import {
  BODY_TIME_LIMITS,
  type BodyTimeLimits,
  endsConnection,
  isReadingBody,
  limitBodyTime,
} from '../http/read-body.ts'
import { abortRequest } from '../http/request-abort-signal.ts'
import { REQUEST_ID, requestIdOf } from '../http/request-id.ts'
import { type Collector, EVENTS_PATH } from '../ingest/collector.ts'

/** Time limits and intervals of a server. */
export interface ServerTimeouts {
  /** Time limit for a response. When it is exceeded, the response is 503. */
  answerMs: number
  /** Maximum time for running requests to finish during shutdown. After it, their connections are closed. */
  stopMs: number
  /** Duration from which a request is logged. */
  slowMs: number
  /** Interval at which connections are counted. */
  countMs: number
  bodies: BodyTimeLimits
}

/**
 * Time limit for running requests at shutdown. The whole shutdown must take less than 10 s, because Docker then kills the
 * container: https://docs.docker.com/reference/cli/docker/container/stop/
 */
const STOP_MS = 1.5 * SECOND_MS
/** Duration from which a request is logged with its id. */
const SLOW_MS = 5 * SECOND_MS

/** Returns the time limits of a server with these settings. */
export function timeoutsOf({ requestTimeoutS }: Config): ServerTimeouts {
  const answerMs = requestTimeoutS * SECOND_MS
  return { answerMs, stopMs: STOP_MS, slowMs: SLOW_MS, countMs: SECOND_MS, bodies: BODY_TIME_LIMITS }
}

/** Handles a request to `path`, which includes the query. */
type Answer = (request: Request, path: string) => Promise<Response> | Response

export interface HttpListener {
  at: { hostname: string; port: number }
  /** Handles batches sent to `EVENTS_PATH` directly; null when this listener does not accept batches. */
  collector: Pick<Collector, 'events' | 'refuse'> | null
  answer: Answer
}

export type Server = Bun.Server<undefined>

/**
 * Longer than 60 s, the idle timeout of many proxies. Otherwise a proxy could send a request on a connection that is
 * being closed. Within this time, Bun requires 16 KiB/s of a body; it allows 10 s for the first request header of a
 * connection.
 */
const IDLE_TIMEOUT_S = 65
const RETRY_AFTER_S = 1
const PAUSE_MS = 10
const NO_HOST = new AppError('invalid', 'host: is not a valid hostname')
const TWO_HOSTS = new AppError('invalid', 'host: must be sent only once')
const BUSY = new AppError('unavailable', 'the server is processing too many requests', RETRY_AFTER_S)

/** Descriptions of the system's error codes for `listen`. */
const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: 'another program uses this port; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user does not have permission to use the port; ports below 1024 require additional privileges',
}

/**
 * Starts listening, and handles requests within the limits of the settings and of `timeouts`. When it can't listen,
 * throws an error with the address and the reason.
 */
export function serve(listener: HttpListener, config: Config, log: Log, timeouts: ServerTimeouts): Server {
  try {
    return listen(listener, config, log, timeouts)
  } catch (error) {
    const fault = LISTEN_FAULTS[String((error as { code?: unknown } | null)?.code ?? '')]
    if (fault === undefined) throw error
    throw new Error(`cannot listen on ${urlOf(listener.at)}: ${fault}`, { cause: error })
  }
}

/** Returns the URL of a listening server, or of an address to listen on. */
export function urlOf(server: { hostname: string | undefined; port: number | undefined }): string {
  const host = server.hostname?.includes(':') ? `[${server.hostname}]` : server.hostname
  return `http://${host}:${server.port}`
}

/** Returns the response to a path that a listener does not serve. */
export function notHere(): Response {
  return errorResponse(new AppError('notFound', 'no such route'))
}

function listen({ at, collector, answer }: HttpListener, config: Config, log: Log, timeouts: ServerTimeouts): Server {
  const callerOf = callerAddress(config.trustedProxies)
  const isBusy = (server: Server) => server.pendingRequests > config.maxConnections
  const web = async (request: Request, path: string, server: Server) => {
    // If `/healthz` did not respond, monitoring would restart a process that is only busy.
    if (isBusy(server) && path !== '/healthz') return errorResponse(BUSY)
    try {
      return await inTime(request, answer(request, path), timeouts.answerMs)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) return errorResponse(refusal)
      log.error(error, nameOf(request), requestIdOf(request))
      return bugResponse()
    }
  }
  // Addresses are needed only to determine countries, and noting one costs about 1 % of a request.
  const note =
    config.countryFile === ''
      ? null
      : (request: Request, server: Server) => noteCaller(request, server.requestIP(request), callerOf)
  const isSecure = config.publicUrl.startsWith('https:')
  return Bun.serve({
    ...at,
    development: false,
    // With `true`, two servers could share the port unnoticed, and the kernel would distribute requests between them.
    reusePort: false,
    idleTimeout: Math.max(IDLE_TIMEOUT_S, Math.ceil(timeouts.answerMs / SECOND_MS) + 15),
    // The body size is checked while reading, because Bun's own error response is not JSON.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // A separate route, because it receives thousands of requests per second.
    ...(collector
      ? { routes: { [EVENTS_PATH]: eventsRoute(collector, { isBusy, isSecure, bodies: timeouts.bodies, note }) } }
      : {}),
    async fetch(original, server) {
      const request = withPlainUrl(original)
      const refusal = hasTwoHosts(original) ? TWO_HOSTS : request ? null : NO_HOST
      if (!request || refusal) return finished(original, errorResponse(refusal ?? NO_HOST), isSecure)
      const begun = performance.now()
      noteCaller(request, server.requestIP(original), callerOf)
      limitBodyTime(request, timeouts.bodies)
      const response = finished(request, await web(request, pathOf(request.url), server), isSecure)
      const tookMs = performance.now() - begun
      if (tookMs >= timeouts.slowMs) log.warn(slowLine(request, response.status, tookMs), requestIdOf(request))
      // Without this, an event stream would be closed as an idle connection.
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) server.timeout(original, 0)
      return response
    },
  })
}

interface EventsRouteOptions {
  isBusy(server: Server): boolean
  isSecure: boolean
  bodies: BodyTimeLimits
  /** Records the address of a request's caller; null if it is not needed. */
  note: ((request: Request, server: Server) => void) | null
}

function eventsRoute(
  collector: NonNullable<HttpListener['collector']>,
  { isBusy, isSecure, bodies, note }: EventsRouteOptions,
) {
  const take = (request: Request, server: Server) => {
    limitBodyTime(request, bodies)
    note?.(request, server)
    const refusal = isBusy(server) ? BUSY : hasTwoHosts(request) ? TWO_HOSTS : null
    return refusal ? collector.refuse(request, refusal) : collector.events(request)
  }
  if (!isSecure) return take
  return async (request: Request, server: Server) => withHsts(await take(request, server))
}

/**
 * True when there are two `Host` headers, which Bun joins with a comma. Such a request is rejected with 400, because a
 * proxy may have used the other of the two: https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 */
function hasTwoHosts({ headers }: Request): boolean {
  return headers.get('host')?.includes(',') ?? false
}

/**
 * Returns the request with a complete URL, so that Elysia finds the path. Two cases need this: without a `Host` header,
 * as in HTTP/1.0, Bun's URL contains only the path; and Elysia 1.4 searches for the path from the eleventh character,
 * which fails when the host has three characters. Null when no valid URL can be built.
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

/**
 * Returns the response, or 503 after the time limit. While the request body is still being received, only the limits on
 * reading it apply.
 */
async function inTime(request: Request, answer: Promise<Response> | Response, limitMs: number): Promise<Response> {
  if (!(answer instanceof Promise)) return answer
  const late = Promise.withResolvers<Response>()
  const giveUp = () => {
    if (isReadingBody(request)) timer = setTimeout(giveUp, limitMs)
    else {
      late.resolve(errorResponse(tooLate(request, limitMs)))
      // Aborts the work on a response that is no longer needed.
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

function tooLate(request: Request, limitMs: number): AppError {
  return new AppError('unavailable', `${nameOf(request)}: took longer than ${limitMs / SECOND_MS} s`, RETRY_AFTER_S)
}

/** Returns the log line of a request that took long, including the time in which its body was received. */
function slowLine(request: Request, status: number, tookMs: number): string {
  return `${nameOf(request)} took ${(tookMs / SECOND_MS).toFixed(1)} s (status ${status})`
}

/** Returns the method and path of a request, without the query. */
const nameOf = ({ method, url }: Request) => `${method} ${pathOf(url).split('?', 1)[0]}`

function finished(request: Request, response: Response, isSecure: boolean): Response {
  response.headers.set('x-content-type-options', 'nosniff')
  response.headers.set(REQUEST_ID, requestIdOf(request))
  if (response.status >= 400 && endsConnection(request)) response.headers.set('connection', 'close')
  return isSecure ? withHsts(response) : response
}

function withHsts(response: Response): Response {
  response.headers.set('strict-transport-security', 'max-age=31536000')
  return response
}

/** Returns the path without parsing the whole URL; `/` when it has none. */
function pathOf(url: string): string {
  const at = url.indexOf('/', 'http://'.length)
  return at < 0 ? '/' : url.slice(at)
}

/**
 * Closes idle connections while there are more than `config.maxConnections`. The number of connections is estimated
 * from the number of open files, which Linux has reported since 6.2; on other systems nothing is closed. Returns a
 * function that stops the checks.
 */
export function limitConnections(servers: readonly Server[], config: Config, log: Log, everyMs: number): () => void {
  let toldAt = Number.NEGATIVE_INFINITY
  const timer = setInterval(() => {
    if (openFiles() <= config.maxConnections) return
    const closed = servers.reduce((sum, server) => sum + server.closeIdleConnections(), 0)
    if (closed === 0 || performance.now() - toldAt < MINUTE_MS) return
    toldAt = performance.now()
    log.warn(`more than ${config.maxConnections} connections: closed ${closed} idle connections`)
  }, everyMs)
  return () => clearInterval(timer)
}

/** Returns the number of open files; see `/proc/<pid>/fd` in https://docs.kernel.org/filesystems/proc.html. */
function openFiles(): number {
  return statSync('/proc/self/fd', { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Waits for running requests and closes their connections. After `withinMs`, closes the remaining connections. Does not
 * wait for connections without a complete request.
 */
export async function stopServer(server: Server, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs
  const stopped = server.stop().then(() => true)
  while (server.pendingRequests > 0 && performance.now() < end) {
    if (await Promise.race([stopped, Bun.sleep(PAUSE_MS)])) return
  }
  await server.stop(true)
}
