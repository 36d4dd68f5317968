import { PROGRAM, until } from '../run-program.ts'

/** Time limit for the start. The demo first imports three weeks of events. */
const START_MS = 300_000

export interface Demo extends AsyncDisposable {
  url: string
  /** The API key from the sign-in link. */
  key: string
  /** The path of the sign-in link. */
  link: string
  /** Returns the JSON response to a GET request; null for an error status. */
  get(path: string): ReturnType<Response['json']>
  /** Returns everything that the process has printed so far. */
  printed(): string
}

/** Waits until the demo has opened an issue. */
export async function untilIssues(demo: Demo, waitMs: number): Promise<void> {
  await until('an issue of the demo', async () => (await demo.get('/v1/issues'))?.issues.length > 0, waitMs)
}

/**
 * Starts the demo as a user would, but on a free port. `env` is added to the current environment. If the demo does not
 * start, throws an error with the output of the process.
 */
export async function startDemo(env: Record<string, string> = {}): Promise<Demo> {
  // The program rejects unknown settings, and this variable is used only by tests.
  const { TAGWARDEN_BINARY: _, ...environment } = process.env
  const child = Bun.spawn([...PROGRAM, 'demo', '--listen', '127.0.0.1:0'], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...environment, ...env },
  })
  let printed = ''
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const part of stream) printed += decoder.decode(part)
  }
  void read(child.stdout)
  void read(child.stderr)
  const isUp = () => {
    if (child.exitCode !== null) throw new Error(`the demo did not start: ${printed}`)
    return /(http:\S+?)\/#key=(\w[\w-]*)&demo/.exec(printed)
  }
  const [, url = '', key = ''] = await until('the URL of the demo', isUp, START_MS)
  return {
    url,
    key,
    link: `/#key=${key}&demo`,
    async get(path) {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
      return response.ok ? response.json() : null
    },
    printed: () => printed,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
