import pino from 'pino'
import { type App, type Log, openApp } from '../app.ts'
import type { Config } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { errorResponse } from '../http/errors.ts'
import { EVENTS_PATH } from '../ingest/collector.ts'
import { runJobs } from '../jobs/job.ts'

/** A server that is up. */
export interface Running {
  app: App
  /** Where it listens: `http://127.0.0.1:8787`. */
  url: string
  collectUrl: string
  stop(): Promise<void>
}

/** Requests that the demo answers beside the program's own. */
export type Extra = (request: Request) => Promise<Response> | null

const LONGEST_BODY_BYTES = 32 * 1024 * 1024
const IDLE_TIMEOUT_S = 60

/** Lines of JSON on stderr; stdout belongs to what a command prints. */
export function logTo(level: string): Log {
  const logger = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
  return {
    info: (message) => logger.info(message),
    warn: (message) => logger.warn(message),
    error: (error, message) => logger.error({ stack: error instanceof Error ? error.stack : String(error) }, message),
  }
}

/** Opens the data folder, listens and starts jobs. When it can't listen, it lets go of the folder and fails. */
export async function startServer(config: Config, log: Log, extra: Extra = () => null): Promise<Running> {
  const app = await openApp({ config, clock: systemClock, log })
  try {
    const { server, collectServer } = listen(app, config, extra)
    const jobs = runJobs(app.jobs, (error, job) => log.error(error, job))
    return {
      app,
      url: urlOf(server),
      collectUrl: urlOf(collectServer ?? server),
      async stop() {
        // Requests under way are answered; idle connections are closed.
        await Promise.all([server.stop(), collectServer?.stop()])
        await jobs.stop()
        await app.close()
      },
    }
  } catch (error) {
    await app.close()
    throw error
  }
}

function listen(app: App, config: Config, extra: Extra) {
  const collect = (request: Request) => app.collector.fetch(request)
  const web = (request: Request) => extra(request) ?? app.fetch(request)
  const own = config.collectListen
  const collectServer =
    own && serve(own, app, (request, path) => (app.collector.owns(path) ? collect(request) : notHere()))
  try {
    const server = serve(config.listen ?? { hostname: '127.0.0.1', port: 0 }, own ? null : app, (request, path) =>
      app.collector.owns(path) ? (own ? notHere() : collect(request)) : web(request),
    )
    return { server, collectServer }
  } catch (error) {
    void collectServer?.stop()
    throw error
  }
}

function serve(
  { hostname, port }: { hostname: string; port: number },
  collecting: App | null,
  answer: (request: Request, path: string) => Promise<Response> | Response,
) {
  const events = collecting && ((request: Request) => collecting.collector.events(request))
  return Bun.serve({
    hostname,
    port,
    maxRequestBodySize: LONGEST_BODY_BYTES,
    idleTimeout: IDLE_TIMEOUT_S,
    // Its own route, because it is asked thousands of times a second.
    ...(events ? { routes: { [EVENTS_PATH]: events } } : {}),
    fetch: (request) => answer(request, pathOf(request.url)),
  })
}

/** Without parsing the whole address, because the collector asks for every request. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', 'https://'.length))
}

function notHere(): Response {
  return errorResponse(new AppError('notFound', 'no such route'))
}

function urlOf(server: { hostname: string | undefined; port: number | undefined }): string {
  const host = server.hostname?.includes(':') ? `[${server.hostname}]` : server.hostname
  return `http://${host}:${server.port}`
}

/** Resolves at SIGINT or SIGTERM. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}
