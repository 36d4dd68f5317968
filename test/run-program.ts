import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AlertInput } from '../src/alerts/alert.ts'
import type { Answer } from './fixtures.ts'

/** Path of the executable, from `TAGWARDEN_BINARY`. If null, tests run the program from source. */
export const BINARY = process.env.TAGWARDEN_BINARY ? resolve(process.env.TAGWARDEN_BINARY) : null

/** Command that starts the program: the executable, or Bun with the source files. */
export const PROGRAM: readonly string[] = BINARY
  ? [BINARY]
  : [process.execPath, '--no-env-file', resolve(import.meta.dir, '../src/main.ts')]

/** When the program runs from source, the script `run` sets this variable. The executable sets it itself. */
const WORKERS: Record<string, string> = BINARY ? {} : { UV_THREADPOOL_SIZE: '16' }

const WAIT_MS = 60_000
const PAUSE_MS = 25

/** Creates an empty folder that is deleted when it is disposed. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'tagwarden-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/**
 * Calls `ask` repeatedly until it returns a value other than null or false, and returns this value. After `waitMs`,
 * throws an error that contains `what`.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null | false> | T | null | false,
  waitMs = WAIT_MS,
): Promise<T> {
  const end = performance.now() + waitMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== false) return answer
    if (performance.now() > end) throw new Error(`timed out after ${waitMs} ms waiting for ${what}`)
    await Bun.sleep(PAUSE_MS)
  }
}

/** Environment of a process. It inherits only `HOME` from this process. */
export interface Surroundings {
  program?: readonly string[]
  cwd?: string
  env?: Record<string, string>
  /** Address to listen on. Default: a loopback address with a free port. */
  listen?: string
}

function spawn(args: readonly string[], { program = PROGRAM, cwd = '/', env = {} }: Surroundings, stdin: string) {
  return Bun.spawn([...program, ...args], {
    cwd,
    env: { HOME: process.env.HOME ?? '/', PATH: '/usr/bin:/bin', ...WORKERS, ...env },
    stdin: Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command and waits until it exits. */
export async function runProgram(args: readonly string[], around: Surroundings = {}, stdin = ''): Promise<Ended> {
  const child = spawn(args, around, stdin)
  const textOf = (stream: ReadableStream) => new Response(stream).text()
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited])
  return { code, stdout, stderr }
}

export interface Server {
  url: string
  pid: number
  /** Time from the start of the process until the line "listening on" was printed, in ms. */
  readyMs: number
  /** Exit code; 128 if a signal ended the process, null while it is running. */
  code(): number | null
  /** Returns all log output so far. */
  log(): string
  /** Sends the signal and waits until the process exits. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts `serve`. If the server does not start to listen, throws an error with its output. */
export function startServer(data: string, around: Surroundings = {}): Promise<Server> {
  return startListening('serve', data, around)
}

/** Starts `collect`. If the collector does not start to listen, throws an error with its output. */
export function startCollector(data: string, around: Surroundings): Promise<Server> {
  return startListening('collect', data, around)
}

async function startListening(command: string, data: string, around: Surroundings): Promise<Server> {
  const startedAt = performance.now()
  const child = spawn([command, '--data', data, '--listen', around.listen ?? '127.0.0.1:0'], around, '')
  let log = ''
  void readAll(child.stderr, (text) => {
    log += text
  })
  const url = await new Promise<string>((found, failed) => {
    let printed = ''
    const ended = readAll(child.stdout, (text) => {
      printed += text
      const listening = /listening on (http:\S+?),?\s/.exec(printed)
      if (listening?.[1]) found(listening[1])
    })
    void ended.then(() => failed(new Error(`${command} did not start: ${printed}${log}`)))
  })
  const readyMs = performance.now() - startedAt
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    child.kill(signal)
    await child.exited
  }
  return {
    url,
    pid: child.pid,
    readyMs,
    code: () => child.exitCode ?? (child.signalCode ? 128 : null),
    log: () => log,
    stop,
    [Symbol.asyncDispose]: () => stop('SIGKILL'),
  }
}

/** Returns a loopback address with a free port. */
export async function freePort(): Promise<string> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = String(server.port)
  await server.stop(true)
  return port
}

async function readAll(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const part of stream) take(decoder.decode(part, { stream: true }))
}

/** Sends an HTTP request with a JSON body and parses the JSON response. Rejects if no response is received. */
export async function call(
  method: string,
  url: string,
  {
    as,
    body,
    headers = {},
    signal,
  }: { as?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? AbortSignal.timeout(WAIT_MS),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Like `call`, but returns only the body, and throws for a status of 300 or higher. */
export async function ask(method: string, url: string, as: string, body?: unknown): Promise<Answer['body']> {
  const answer = await call(method, url, { as, body })
  if (answer.status < 300) return answer.body
  throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
}

/**
 * A domain with an alert that opens an issue for every parameter that contains an e-mail address. The alert notifies a
 * webhook.
 */
export interface Watched {
  domainId: string
  /** Token for sending events to the collector. */
  token: string
  alert: AlertInput
}

/**
 * Creates the first owner in a data folder and returns the API key. Without a password, the owner can only use the key.
 */
export async function initialize(data: string, password: string | null = null): Promise<string> {
  const args = ['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json']
  const given = password === null ? [] : ['--password-stdin']
  return JSON.parse((await runProgram([...args, ...given], {}, password ?? '')).stdout).apiKey
}

/**
 * Creates a `Watched` domain. Webhooks are signed with `secret` and sent to `hookUrl`, which the server must be allowed
 * to reach.
 */
export async function watch(
  server: string,
  apiKey: string,
  { name, hookUrl, secret }: { name: string; hookUrl: string; secret: string },
): Promise<Watched> {
  const domain = await ask('POST', `${server}/v1/domains`, apiKey, { name })
  const integration = await ask('POST', `${server}/v1/integrations`, apiKey, {
    provider: 'webhook',
    label: name,
    config: { url: hookUrl, secret },
  })
  const alert: AlertInput = {
    name: `Personal data on ${name}`,
    alertType: 'data_validation',
    severity: 'high',
    domainId: domain.id,
    period: '1h',
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
    channels: [{ type: 'webhook', target: integration.id }],
  }
  await ask('POST', `${server}/v1/alerts`, apiKey, alert)
  return { domainId: domain.id, token: domain.token, alert }
}

/** A webhook secret in the format of Standard Webhooks. */
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/**
 * Returns the items from all pages of a list. `path` may include a query. `noun` is the name of the field that contains
 * the items.
 */
export async function askAll<T>(server: string, path: string, apiKey: string, noun: string): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const url = new URL(path, server)
    url.searchParams.set('limit', '200')
    if (cursor !== '') url.searchParams.set('cursor', cursor)
    const page: Answer['body'] = await ask('GET', url.href, apiKey)
    items.push(...page[noun])
    cursor = page.nextCursor
  }
  return items
}
