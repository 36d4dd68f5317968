import { type App, type Log, openApp } from '../app.ts'
import type { Config } from '../config.ts'
import { SECOND_MS, systemClock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { errorResponse } from '../http/error-responses.ts'
import { BODY_TIME_LIMITS } from '../http/read-body.ts'
import { runJobs } from '../jobs/job.ts'
import {
  type HttpListener,
  limitConnections,
  type Server,
  type ServerTimeouts,
  serve,
  stopServer,
} from './http-listener.ts'

/** A running server. */
export interface RunningServer {
  app: App
  /** URL of the server: `http://127.0.0.1:8787`. */
  url: string
  collectUrl: string
  stop(): Promise<void>
}

/** Handles additional requests in the demo; returns null for requests that the program itself handles. */
export type ExtraAnswers = (request: Request) => Promise<Response> | null

/**
 * Time limit for running requests. The whole shutdown must take less than 10 s, because Docker then kills the
 * container: https://docs.docker.com/reference/cli/docker/container/stop/
 */
const STOP_MS = 1.5 * SECOND_MS
/**
 * Interval at which queries are aborted. Once is not enough, because a job may start another query before it notices
 * the shutdown.
 */
const ABORT_MS = 50

/** Duration from which a request is logged with its id. */
const SLOW_MS = 5 * SECOND_MS

/** Opens the data folder, listens and starts jobs. When it can't listen, it closes the folder and rejects. */
export async function startServer(
  config: Config,
  log: Log,
  extra: ExtraAnswers = () => null,
  timeouts: ServerTimeouts = timeoutsOf(config),
): Promise<RunningServer> {
  const app = await openApp({ config, clock: systemClock, log })
  try {
    const { server, collectServer } = listen(app, config, extra, (listening) =>
      opened(listening, () => serve(listening, config, log, timeouts)),
    )
    const servers = collectServer ? [server, collectServer] : [server]
    const stopCounting = limitConnections(servers, config, log, timeouts.countMs)
    const jobs = runJobs(app.jobs, (error, job) => log.error(error, job))
    return {
      app,
      url: urlOf(server),
      collectUrl: urlOf(collectServer ?? server),
      async stop() {
        stopCounting()
        app.endStreams()
        const ended = jobs.stop()
        await Promise.all(servers.map((one) => stopServer(one, timeouts.stopMs)))
        app.abort()
        const timer = setInterval(app.abort, ABORT_MS)
        await ended
        clearInterval(timer)
        await app.close()
      },
    }
  } catch (error) {
    await app.close()
    throw error
  }
}

function timeoutsOf({ requestTimeoutS }: Config): ServerTimeouts {
  const answerMs = requestTimeoutS * SECOND_MS
  return { answerMs, stopMs: STOP_MS, slowMs: SLOW_MS, countMs: SECOND_MS, bodies: BODY_TIME_LIMITS }
}

function listen(app: App, config: Config, extra: ExtraAnswers, open: (listening: HttpListener) => Server) {
  const { collector } = app
  const web = (request: Request) => extra(request) ?? app.fetch(request)
  const own = config.collectListen
  const collectServer =
    own &&
    open({
      at: own,
      collector,
      answer: (request, path) => (collector.owns(path) ? collector.fetch(request) : notHere()),
    })
  try {
    const server = open({
      at: config.listen ?? { hostname: '127.0.0.1', port: 0 },
      collector: own ? null : collector,
      answer: (request, path) => (collector.owns(path) ? (own ? notHere() : collector.fetch(request)) : web(request)),
    })
    return { server, collectServer }
  } catch (error) {
    void collectServer?.stop()
    throw error
  }
}

/** Descriptions of the system's error codes for `listen`. */
const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: 'another program uses this port; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user does not have permission to use the port; ports below 1024 require additional privileges',
}

/** Returns the result of `open`. When `open` can't listen, throws an error with the address and the reason. */
function opened<T>({ at: { hostname, port } }: HttpListener, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const fault = LISTEN_FAULTS[String((error as { code?: unknown } | null)?.code ?? '')]
    if (fault === undefined) throw error
    throw new Error(`cannot listen on ${urlOf({ hostname, port })}: ${fault}`, { cause: error })
  }
}

function notHere(): Response {
  return errorResponse(new AppError('notFound', 'no such route'))
}

function urlOf(server: { hostname: string | undefined; port: number | undefined }): string {
  const host = server.hostname?.includes(':') ? `[${server.hostname}]` : server.hostname
  return `http://${host}:${server.port}`
}

/** Resolves with the name of the signal on SIGINT, SIGTERM, or when the terminal is closed (SIGHUP). */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal))
  })
}
