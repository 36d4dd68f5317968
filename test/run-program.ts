import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AlertInput } from '../src/alerts/alert.ts'
import type { Answer } from './fixtures.ts'

/** The built executable when `TAGWARDEN_BINARY` names it; null: the tests run the sources. */
export const BINARY = process.env.TAGWARDEN_BINARY ? resolve(process.env.TAGWARDEN_BINARY) : null

/** How the program is started: the executable, or Bun with the sources. */
export const PROGRAM: readonly string[] = BINARY
  ? [BINARY]
  : [process.execPath, '--no-env-file', resolve(import.meta.dir, '../src/main.ts')]

/** As `run` sets it for the sources; the executable does so itself. */
const WORKERS: Record<string, string> = BINARY ? {} : { UV_THREADPOOL_SIZE: '16' }

const WAIT_MS = 60_000
const PAUSE_MS = 25

/** An empty folder, gone with everything in it at the end of its block. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'tagwarden-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Asks again and again until the answer is neither null nor false. Fails after `waitMs` with `what` was waited for. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null | false> | T | null | false,
  waitMs = WAIT_MS,
): Promise<T> {
  const end = performance.now() + waitMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== false) return answer
    if (performance.now() > end) throw new Error(`waited ${waitMs} ms in vain for ${what}`)
    await Bun.sleep(PAUSE_MS)
  }
}

/** What a process has: nothing of this one's environment but what is named. */
export interface Surroundings {
  program?: readonly string[]
  cwd?: string
  env?: Record<string, string>
  /** Where a server listens: a port of its own choice unless told. */
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

/** Runs a command to its end. */
export async function runProgram(args: readonly string[], around: Surroundings = {}, stdin = ''): Promise<Ended> {
  const child = spawn(args, around, stdin)
  const textOf = (stream: ReadableStream) => new Response(stream).text()
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited])
  return { code, stdout, stderr }
}

export interface Server {
  url: string
  pid: number
  /** From its start to the line that says it listens. */
  readyMs: number
  /** Its exit code, or 128 and the number of the signal that ended it; null while it runs. */
  code(): number | null
  /** What it logged so far. */
  log(): string
  /** Ends it as the signal does, and waits for that. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts `serve`, on a port that is free unless told. Fails with what it logged when it does not come up. */
export async function startServer(data: string, around: Surroundings = {}): Promise<Server> {
  const startedAt = performance.now()
  const child = spawn(['serve', '--data', data, '--listen', around.listen ?? '127.0.0.1:0'], around, '')
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
    void ended.then(() => failed(new Error(`the server did not come up: ${printed}${log}`)))
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

/** Returns a port of the loopback address that is free now. */
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

/** One HTTP request, JSON both ways. Rejects when there is no answer. */
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

/** The same, for what must go well: answers the body, fails on any status that is no success. */
export async function ask(method: string, url: string, as: string, body?: unknown): Promise<Answer['body']> {
  const answer = await call(method, url, { as, body })
  if (answer.status < 300) return answer.body
  throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
}

/** A property with one alert: whatever holds an e-mail address opens an issue, and a webhook tells of it. */
export interface Watched {
  domainId: string
  /** For the collector. */
  token: string
  alert: AlertInput
}

/** Makes the first owner in a data folder, and answers the API key. Without a password only the key signs in. */
export async function initialize(data: string, password: string | null = null): Promise<string> {
  const args = ['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json']
  const given = password === null ? [] : ['--password-stdin']
  return JSON.parse((await runProgram([...args, ...given], {}, password ?? '')).stdout).apiKey
}

/** Makes a watched property. Webhooks go to `hookUrl`, signed with `secret`; the server must be allowed to reach it. */
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

/** A secret as Standard Webhooks spells it. */
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Every item of a list, page by page. `path` may have a query; `noun` is the list's field. */
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
