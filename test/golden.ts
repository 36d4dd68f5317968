import { PROVIDER_SETTINGS } from '../src/connectors.ts'
import '../src/production.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alertTypes } from '../src/alerts/types/index.ts'
import { describeConfig } from '../src/config.ts'
import { fileSchema } from '../src/configuration/file-schema.ts'
import type { Route } from '../src/http/route.ts'
import { openApiDocument } from '../src/openapi/openapi.ts'
import { rolesDocument } from '../src/openapi/roles-document.ts'
import { testApp } from './test-app.ts'

/** The command that rewrites the files below. */
export const REWRITE = './run test/golden.ts'

/** Returns the generated files of `docs/` by path. */
export function goldenFiles(routes: readonly Route[], metrics: string): Record<string, string> {
  return {
    'tagwarden.schema.json': `${JSON.stringify(fileSchema(), null, 2)}\n`,
    'openapi.json': `${JSON.stringify(openApiDocument(routes), null, 2)}\n`,
    'api/roles.md': rolesDocument(routes),
    'operate/settings.md': withSettings(readFileSync(goldenPath('operate/settings.md'), 'utf8')),
    'operate/metrics.md': withMetrics(readFileSync(goldenPath('operate/metrics.md'), 'utf8'), metrics),
    'use/alerts.md': withTypes(readFileSync(goldenPath('use/alerts.md'), 'utf8')),
  }
}

/** Returns the guide to alerts with its table of alert types generated again. The rest is written by hand. */
export function withTypes(guide: string): string {
  const rows = alertTypes.map(
    ({
      kind,
      form: {
        guide: { fires, needs },
      },
    }) => `| \`${kind}\` | ${fires} | ${needs} |\n`,
  )
  return guide.replace(/^(\| `alertType` .*\n\|[-|]+\n)(?:\|.*\n)*/m, (_, head) => head + rows.join(''))
}

/** Returns the settings page with its table generated again. The rest is written by hand. */
function withSettings(page: string): string {
  const rows = describeConfig({}, {}, PROVIDER_SETTINGS).map(
    ({ name, default: fallback, meaning }) =>
      `| \`${name}\` | ${fallback && `\`${fallback}\``} | ${meaning.replaceAll('|', '\\|')} |\n`,
  )
  return page.replace(/^(\| Setting .*\n\|[-|]+\n)(?:\|.*\n)*/m, (_, head) => head + rows.join(''))
}

/** Returns the page of metrics with its table generated again from the text of `/metrics`. */
function withMetrics(page: string, metrics: string): string {
  const types = new Map([...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
  const rows = [...metrics.matchAll(/^# HELP (\S+) (.*)$/gm)].map(
    ([, name, help]) => `| \`${name}\` | ${types.get(name)} | ${help} |\n`,
  )
  return page.replace(/^(\| Metric .*\n\|[-|]+\n)(?:\|.*\n)*/m, (_, head) => head + rows.sort().join(''))
}

/** Returns the path of a file in `docs/`. */
export const goldenPath = (name: string): string => join(import.meta.dir, '../docs', name)

if (import.meta.main) {
  const guide = readFileSync(goldenPath('use/alerts.md'), 'utf8')
  if (withTypes(guide) !== guide) {
    await Bun.write(goldenPath('use/alerts.md'), withTypes(guide))
    // Starts another process, because the API description includes the guide, and this process has already loaded the
    // old one.
    process.exit(
      Bun.spawnSync([process.execPath, import.meta.path], { stdio: ['ignore', 'inherit', 'inherit'] }).exitCode,
    )
  }
  await using world = await testApp()
  const metrics = (await world.call('GET', '/metrics', { as: null })).body as string
  for (const [name, text] of Object.entries(goldenFiles(world.app.routes, metrics)))
    await Bun.write(goldenPath(name), text)
}
