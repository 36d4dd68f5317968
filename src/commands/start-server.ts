import { type App, type Log, openApp } from '../app.ts'
import type { Config } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { runJobs } from '../jobs/job.ts'
import {
  type HttpListener,
  limitConnections,
  notHere,
  type Server,
  type ServerTimeouts,
  serve,
  stopServer,
  timeoutsOf,
  urlOf,
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
 * Interval at which queries are aborted. Once is not enough, because a job may start another query before it notices
 * the shutdown.
 */
const ABORT_MS = 50

/** Opens the data folder, listens and starts jobs. When it can't listen, it closes the folder and rejects. */
export async function startServer(
  config: Config,
  log: Log,
  extra: ExtraAnswers = () => null,
  timeouts: ServerTimeouts = timeoutsOf(config),
): Promise<RunningServer> {
  const app = await openApp({ config, clock: systemClock, log })
  try {
    const { server, collectServer } = listen(app, config, extra, (listener) => serve(listener, config, log, timeouts))
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

function listen(app: App, config: Config, extra: ExtraAnswers, open: (listener: HttpListener) => Server) {
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
