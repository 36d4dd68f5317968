import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { type App, type AppOptions, openApp } from '../src/app.ts'
import { readConfig, type SettingName } from '../src/config.ts'
import { PROVIDER_SETTINGS } from '../src/connectors.ts'
import { folderPaths } from '../src/data-folder/folder-paths.ts'
import { openSession } from '../src/org/session.ts'
import { initialize } from '../src/org/store.ts'
import { type Answer, type Client, emptyDatabase, type TestClock, testClock } from './fixtures.ts'
import { until } from './run-program.ts'
import { readEventStream } from './stream/event-stream-client.ts'

export type JobName =
  | 'heartbeat'
  | 'flush'
  | 'compact'
  | 'check files'
  | 'evaluate'
  | 'evaluate series'
  | 'scan for personal data'
  | 'automatic alerts'
  | 'check consent'
  | 'deliver'
  | 'sync statuses'
  | 'listen'
  | 'send digests'
  | 'run audits'
  | 'retain'
  | 'back up'
  | 'disk budget'
  | 'detect releases'
  | 'evaluate changes'
  | 'refresh domains'
  | 'run flow tests'
  | 'unmute issues'
  | 'read country file'
  | 'escalate issues'
  | 'evaluate order capture'
  | 'send operator messages'
  | 'probe engine'
  | 'watch readiness'
  | 'send canary event'
  | 'call heartbeat URL'

/**
 * The whole program, running in this process with a new data folder and a manual clock. The folder is deleted when the
 * object is disposed.
 */
export interface TestApp {
  /** The running program. `restart` and `crash` replace it. */
  readonly app: App
  readonly clock: TestClock
  readonly owner: { orgId: string; userId: string; apiKey: string }
  /** The data folder. */
  readonly folder: string
  /** Logged warnings. */
  readonly warnings: readonly string[]
  /** All logged lines, including warnings. */
  readonly lines: readonly string[]
  /**
   * Calls the API, by default as the owner. With the `x-org-id` header, calls refer to another organization that the
   * owner belongs to.
   */
  call: Client
  /** Sends a batch to the collector. */
  collect(token: string, batch: object): Promise<Answer>
  /** Runs jobs one after another. */
  run(...names: readonly JobName[]): Promise<void>
  /** Sets the clock and runs the jobs flush, evaluate and deliver if they are due. */
  at(instant: number): Promise<void>
  /** Stops the program, calls `meanwhile`, which may change the data folder, and starts the program again. */
  restart(meanwhile?: (folder: string) => void | Promise<void>): Promise<void>
  /** Starts the program on a copy of the current data folder, as if the program had been killed. */
  crash(meanwhile?: (folder: string) => void): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Rate limits that are so high that only tests of rate limits reach them. */
const RATES: Partial<Record<SettingName, string>> = {
  rateKeyPerMinute: '10000000',
  rateSigninPerMinute: '1000000',
  rateCollectPerSecond: '10000000',
}

/**
 * Starts the program without an owner password and without jitter. If the program logs a bug, the test fails. Messages
 * are sent as in production unless `transport` is given.
 */
export async function testApp(
  settings: Partial<Record<SettingName, string>> = {},
  options: Pick<AppOptions, 'transport'> = {},
): Promise<TestApp> {
  const root = mkdtempSync(join(tmpdir(), 'tagwarden-'))
  const clock = testClock()
  const bugs: unknown[] = []
  const warnings: string[] = []
  const lines: string[] = []
  const log = {
    info: (message: string) => void lines.push(message),
    warn(message: string) {
      warnings.push(message)
      lines.push(message)
    },
    error(error: unknown, message: string) {
      bugs.push(error)
      lines.push(`${message} ${inspect(error)}`)
    },
  }
  let folder = join(root, '1')
  // Does the same as the first startup, without waiting for the disk after each step.
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(folderPaths(folder).database, emptyDatabase(), { mode: 0o600 })
  const open = () => {
    const config = readConfig({ listen: '127.0.0.1:8787', ...RATES, ...settings, data: folder }, {}, PROVIDER_SETTINGS)
    return openApp({ config, clock, log, jitter: () => 0, ...options })
  }
  let app = await open()
  const owner = await initialize(app.db, app.box, clock, {
    orgName: 'Acme',
    email: 'alice@example.com',
    password: null,
  })

  const unlessBug = <T>(result: T, where: string): T => {
    if (bugs.length > 0) throw new Error(`${where} caused an internal error`, { cause: bugs.pop() })
    return result
  }
  const run = async (...names: readonly JobName[]) => {
    for (const name of names) {
      const job = app.jobs.find((one) => one.name === name)
      if (!job) throw new Error(`no such job: ${name}`)
      await job.run()
      await app.idle()
      unlessBug(null, name)
    }
  }
  return {
    get app() {
      return app
    },
    clock,
    owner,
    get folder() {
      return folder
    },
    warnings,
    lines,
    async call(method, path, { as: named, body, headers = {} } = {}) {
      // An API key is valid for a single organization, a session for all organizations that its user belongs to.
      const own = () =>
        headers['x-org-id'] ? openSession(app.db, clock, owner.userId, 'password').token : owner.apiKey
      const as = named === undefined ? own() : named
      const answer = await answerOf(await app.fetch(requestOf(method, path, as, body, headers)))
      return unlessBug(answer, `${method} ${path}`)
    },
    async collect(token, batch) {
      const answer = await answerOf(await app.collector.fetch(requestOf('POST', '/api/v1/events', token, batch, {})))
      return unlessBug(answer, 'the collector')
    },
    run,
    async at(instant) {
      clock.set(instant)
      await run('flush', 'evaluate', 'deliver')
    },
    async restart(meanwhile) {
      await app.close()
      await meanwhile?.(folder)
      app = await open()
    },
    async crash(meanwhile) {
      const copy = `${folder}-copy`
      cpSync(folder, copy, { recursive: true })
      await app.close()
      moveMark(folder, copy)
      folder = copy
      meanwhile?.(folder)
      app = await open()
    },
    async [Symbol.asyncDispose]() {
      await app.close()
      rmSync(root, { recursive: true })
      unlessBug(null, 'the program')
    },
  }
}

/** Makes a copy of a data folder its original, so that its server sends messages. */
export function moveMark(from: string, to: string): void {
  renameSync(join(from, 'folder.mark'), join(to, 'folder.mark'))
}

function requestOf(
  method: string,
  path: string,
  credential: string | null,
  body: unknown,
  headers: Record<string, string>,
): Request {
  return new Request(`http://localhost${path}`, {
    method,
    headers: {
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/**
 * Returns the response with its body: parsed if it is JSON, otherwise as text. For an event stream, the body is the
 * data of the first event.
 */
export async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response
  if (headers.get('content-type') === 'text/event-stream') return { status, headers, body: await firstData(response) }
  const text = await response.text()
  const isJson = headers.get('content-type')?.includes('json') && text !== ''
  return { status, headers, body: isJson ? JSON.parse(text) : text }
}

async function firstData(response: Response): Promise<unknown> {
  const stream = readEventStream(response)
  const { data } = await until('the first stream event', () => stream.events[0] ?? null)
  await stream.leave()
  return data
}
