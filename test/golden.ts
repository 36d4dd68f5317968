import '../src/production.ts'
import { join } from 'node:path'
import { openApiDocument } from '../src/http/openapi.ts'
import { rolesDocument } from '../src/http/roles.ts'
import type { Route } from '../src/http/route.ts'
import { testApp } from './app.ts'

/** Rewrites the files below. */
export const REWRITE = './run test/golden.ts'

/** Files of `docs/` that say what the program says of itself, by name. */
export function goldenFiles(routes: readonly Route[]): Record<string, string> {
  return {
    'openapi.json': `${JSON.stringify(openApiDocument(routes), null, 2)}\n`,
    'roles.md': rolesDocument(routes),
  }
}

/** Where such a file lies. */
export const goldenPath = (name: string): string => join(import.meta.dir, '../docs', name)

if (import.meta.main) {
  await using world = await testApp()
  for (const [name, text] of Object.entries(goldenFiles(world.app.routes))) await Bun.write(goldenPath(name), text)
}
