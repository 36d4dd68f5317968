import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the command that starts this program: the executable, or Bun with `main.ts` when running from source. */
export function programCommand(): string[] {
  const main = join(import.meta.dir, '../main.ts')
  return existsSync(main) ? [process.execPath, '--no-env-file', main] : [process.execPath]
}
