import '../src/production.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alertTypes } from '../src/alerts/types/index.ts'
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
    'alerts.md': withTypes(readFileSync(goldenPath('alerts.md'), 'utf8')),
  }
}

/** The guide to alerts, of which a person writes all but the table of types. */
export function withTypes(guide: string): string {
  const rows = alertTypes.map(({ kind, guide: { fires, needs } }) => `| \`${kind}\` | ${fires} | ${needs} |\n`)
  return guide.replace(/^(\| `alertType` .*\n\|[-|]+\n)(?:\|.*\n)*/m, (_, head) => head + rows.join(''))
}

/** Where such a file lies. */
export const goldenPath = (name: string): string => join(import.meta.dir, '../docs', name)

if (import.meta.main) {
  const guide = readFileSync(goldenPath('alerts.md'), 'utf8')
  if (withTypes(guide) !== guide) {
    await Bun.write(goldenPath('alerts.md'), withTypes(guide))
    // The API's description has the guide in it, and this process has read the former one.
    process.exit(
      Bun.spawnSync([process.execPath, import.meta.path], { stdio: ['ignore', 'inherit', 'inherit'] }).exitCode,
    )
  }
  await using world = await testApp()
  for (const [name, text] of Object.entries(goldenFiles(world.app.routes))) await Bun.write(goldenPath(name), text)
}
