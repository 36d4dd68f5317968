import { PROGRAM, until } from '../run-program.ts'

/** It imports three weeks first. */
const START_MS = 300_000

export interface Demo extends AsyncDisposable {
  url: string
  /** The API key that its link signs in with. */
  key: string
  /** The path of the link that signs in. */
  link: string
  /** Returns the answer to GET; null when it is refused. */
  get(path: string): ReturnType<Response['json']>
  /** All that it printed so far. */
  printed(): string
}

/** Waits until it has an issue. */
export async function untilIssues(demo: Demo, waitMs: number): Promise<void> {
  await until('an issue of the demo', async () => (await demo.get('/v1/issues'))?.issues.length > 0, waitMs)
}

/**
 * Starts the demo as its users do, with another port. Its environment is `env` and the present one. Fails with what it
 * printed when it does not come up.
 */
export async function startDemo(env: Record<string, string> = {}): Promise<Demo> {
  // The setting of the tests is none of the program's, which refuses it.
  const { TAGWARDEN_BINARY: _, ...around } = process.env
  const child = Bun.spawn([...PROGRAM, 'demo', '--listen', '127.0.0.1:0'], {
    ...{ stdout: 'pipe', stderr: 'pipe' },
    env: { ...around, ...env },
  })
  let printed = ''
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const part of stream) printed += decoder.decode(part)
  }
  void read(child.stdout)
  void read(child.stderr)
  const isUp = () => {
    if (child.exitCode !== null) throw new Error(`the demo did not come up: ${printed}`)
    return /look at\s+(http:\S+?)\/#key=(\w[\w-]*)&demo/.exec(printed)
  }
  const [, url = '', key = ''] = await until('the address of the demo', isUp, START_MS)
  return {
    ...{ url, key, link: `/#key=${key}&demo` },
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
