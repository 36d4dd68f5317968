import { join } from 'node:path'

/** The code that runs on customers' pages, in which the server replaces the names below. */
export interface ScriptBundle {
  /** The browser script, the body of a function of its configuration, `CONFIG`. */
  script: string
  /** The snippet in the page's head; `SCRIPT_URL` is replaced by the script's URL. */
  stub: string
}

const SOURCES = join(import.meta.dir, '../script')

let built: Promise<ScriptBundle> | null = null

/**
 * Returns both, built from their sources at the first call. The executable has no sources: there, `build.ts` replaces
 * this module by one that returns the same. Fails when they do not compile.
 */
export function scriptBundle(): Promise<ScriptBundle> {
  built ??= Promise.all([build('main.ts', 'esm'), build('stub.ts', 'iife')]).then(([script, stub]) => ({
    script,
    stub,
  }))
  return built
}

async function build(name: string, format: 'esm' | 'iife'): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCES, name)],
    target: 'browser',
    format,
    minify: true,
  })
  return ((await outputs[0]?.text()) ?? '').trim()
}
