import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROGRAM } from '../../test/run-program.ts'
import type { Load } from './batch.ts'
import { IS_TINY } from './bench-size.ts'

/** A measured process. */
export interface Measured {
  url: string
  pid: number
  /** Time from the start of the process until it printed "listening", in ms. */
  readyMs: number
  /** Returns the current resident memory in MB. */
  rssMb(): number
  /** Returns the peak resident memory in MB, as reported by the kernel. */
  peakMb(): number
  /** Returns the user and system CPU time used so far, in ms. */
  cpuMs(): number
  stop(): Promise<void>
}

const TICKS_PER_S = 100

/** Returns the user and system CPU time that a process has used so far, in ms. */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_S
}

/** Starts a command and waits until it prints the line that contains its URL, by default `listening …`. */
export async function start(
  command: string[],
  env: Record<string, string> = {},
  line = /listening .*\n/,
): Promise<Measured> {
  const started = performance.now()
  const child = Bun.spawn(command, { env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'inherit' })
  let text = ''
  for await (const part of child.stdout) {
    text += new TextDecoder().decode(part)
    if (line.test(text)) break
  }
  const readyMs = performance.now() - started
  const url = /https?:\/\/\S+/.exec(text)?.[0]?.replace(/,$/, '')
  if (!url) throw new Error(`${command.join(' ')} did not start: ${text}`)
  const stat = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8')
  const memoryMb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(stat('status'))?.[1]) / 1024
  return {
    url,
    pid: child.pid,
    readyMs,
    rssMb: () => memoryMb('VmRSS'),
    peakMb: () => memoryMb('VmHWM'),
    cpuMs: () => cpuMsOf(child.pid),
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** Client used by the load generator: `ordinary` uses `fetch`; `sockets` is a minimal client. */
export type Client = 'ordinary' | 'sockets'

export interface LoadOrder {
  token: string
  connections: number
  seconds: number
  client: Client
  /** Requests per second. Only supported by `sockets`. Default: unlimited. */
  perSecond?: number
}

/** Runs a load generator against a URL and returns its result. */
export async function load(
  url: string,
  { token, connections, seconds, client, perSecond = 0 }: LoadOrder,
): Promise<Load> {
  const script = client === 'ordinary' ? 'load.ts' : 'load-sockets.ts'
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, script),
      `${url}/api/v1/events`,
      token,
      `${connections}`,
      `${seconds}`,
      `${perSecond}`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  return JSON.parse(await new Response(child.stdout).text()) as Load
}

/**
 * Returns the command that starts the program: the executable at `BENCH_BINARY`, or by default the one built from the
 * current sources. With `--tiny`, the program built for tests is used.
 */
export function tagwarden(...args: string[]): string[] {
  return [...(IS_TINY ? PROGRAM : [process.env.BENCH_BINARY ?? join(import.meta.dir, '../../dist/tagwarden')]), ...args]
}

/** Creates a data folder with an owner. Returns the folder and the owner's API key. */
export async function makeFolder(): Promise<{ folder: string; key: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-bench-'))
  const child = Bun.spawn(
    tagwarden('init', '--data', folder, '--org', 'Bench', '--email', 'bench@example.com', '--json'),
    {
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  const { apiKey } = JSON.parse(await new Response(child.stdout).text()) as { apiKey: string }
  return { folder, key: apiKey, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Returns an API client that uses this key. A call rejects for any status other than 2xx. */
export function client(url: string, key: string) {
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as T
  }
}
