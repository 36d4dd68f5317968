import { join } from 'node:path'

/** What runs on the pages of customers, ready to be served but for what the server puts in. */
export interface ScriptBundle {
  /** The browser script; its configuration is the name `CONFIG`. */
  script: string
  /** What pages hold in their head; the script's address is the name `SCRIPT_URL`. */
  stub: string
}

const SOURCES = join(import.meta.dir, '../script')

let built: Promise<ScriptBundle> | null = null

/**
 * Both, built from their sources at the first call. The executable has no sources: `build.ts` puts a module that answers
 * the same in the place of this one. Fails when they do not compile.
 */
export function scriptBundle(): Promise<ScriptBundle> {
  built ??= Promise.all([build('main.ts'), build('stub.ts')]).then(([script, stub]) => ({ script, stub }))
  return built
}

async function build(name: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCES, name)],
    target: 'browser',
    format: 'iife',
    minify: true,
  })
  return ((await outputs[0]?.text()) ?? '').trim()
}
