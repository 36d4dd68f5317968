import { join } from 'node:path'

/** The code that runs on customers' pages. The server replaces the placeholders named below. */
export interface ScriptBundle {
  /** The browser script: a function body that uses the configuration as `CONFIG`. */
  script: string
  /** The snippet for the page's head. `SCRIPT_URL` is replaced by the script's URL. */
  stub: string
}

const SOURCES = join(import.meta.dir, '../script')

let built: Promise<ScriptBundle> | null = null

/**
 * Returns the script and the snippet, which are compiled from their sources on the first call. The executable contains
 * no sources, so `build.ts` replaces this module with one that returns the same bundle. Fails if the sources do not
 * compile.
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
