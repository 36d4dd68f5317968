import type { ServerTimeouts } from '../../src/commands/http-listener.ts'
import { type ExtraAnswers, type RunningServer, startServer } from '../../src/commands/start-server.ts'
import { readConfig, type SettingName } from '../../src/config.ts'
import { originOf } from '../../src/http/client-info.ts'
import { BODY_TIME_LIMITS, receiveText } from '../../src/http/read-body.ts'
import { temporaryFolder } from '../run-program.ts'

/** Time limits short enough for tests. */
const SHORT_TIMEOUTS: ServerTimeouts = {
  answerMs: 10_000,
  stopMs: 5_000,
  slowMs: 10_000,
  countMs: 20,
  bodies: { ...BODY_TIME_LIMITS, checkEveryMs: 20 },
}

export interface NetworkServer extends RunningServer {
  /** Errors logged by the server. */
  errors: unknown[]
  warnings: string[]
  /** Ids of the requests to which logged lines belong. */
  loggedIds: string[]
  /** Responds to the requests waiting at `/test/never`. Later requests wait again. */
  release(): void
  /** Number of requests waiting at `/test/never`. */
  waiting(): number
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a server with its own data folder and additional routes: `/test/never` waits, `/test/address` returns the
 * caller's IP address, `/test/large` returns 50 MB, `/test/events` streams a single event, and `/test/echo` returns the
 * body.
 */
export async function startNetworkServer(
  timeouts: Partial<ServerTimeouts> = {},
  settings: Partial<Record<SettingName, string>> = {},
): Promise<NetworkServer> {
  const folder = temporaryFolder()
  const errors: unknown[] = []
  const warnings: string[] = []
  const loggedIds: string[] = []
  const waiting = new Set<() => void>()
  const routes: Record<string, (request: Request) => Promise<Response>> = {
    '/test/never': () =>
      new Promise((resolve) => {
        waiting.add(() => resolve(new Response('released')))
      }),
    '/test/address': async (request) => Response.json(originOf(request).address),
    '/test/large': async () => new Response('x'.repeat(50_000_000)),
    '/test/events': async () =>
      new Response(new ReadableStream({ start: (stream) => stream.enqueue('data: 1\n\n') }), {
        headers: { 'content-type': 'text/event-stream' },
      }),
    '/test/throws': () => Promise.reject(new Error('a bug')),
    '/test/echo': async (request) => new Response(await receiveText(request, 1000)),
  }
  const extra: ExtraAnswers = (request) => routes[new URL(request.url).pathname]?.(request) ?? null
  const config = readConfig({ data: folder.path, listen: '127.0.0.1:0', ...settings }, {})
  const log = {
    info() {},
    warn(message: string, requestId?: string) {
      warnings.push(message)
      if (requestId) loggedIds.push(requestId)
    },
    error(error: unknown, _: string, requestId?: string) {
      errors.push(error)
      if (requestId) loggedIds.push(requestId)
    },
  }
  const running = await startServer(config, log, extra, { ...SHORT_TIMEOUTS, ...timeouts })
  const release = () => {
    for (const answer of waiting) answer()
    waiting.clear()
  }
  return {
    ...running,
    errors,
    warnings,
    loggedIds,
    release,
    waiting: () => waiting.size,
    async [Symbol.asyncDispose]() {
      release()
      await running.stop()
      folder[Symbol.dispose]()
    },
  }
}
