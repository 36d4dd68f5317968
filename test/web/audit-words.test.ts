import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PERMISSIONS } from '../../src/http/permission.ts'
import { english } from '../../src/web/messages.ts'
import { testApp } from '../app.ts'

/** Acts that are written down by hand: of public routes, of routes that others concern, and of commands. */
function actsByHand(): string[] {
  const folder = join(import.meta.dir, '../../src')
  const files = [...new Bun.Glob('**/*.ts').scanSync(folder)].filter(
    (path) => !/\.(?:test|fixture)\.ts$|^web\//.test(path),
  )
  return files.flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    return /\b[aA]udit/.test(text) ? [...text.matchAll(/\bact: '(\w+)'/g)].flatMap(([, act]) => act ?? []) : []
  })
}

test('everything that the audit log may say has words', async () => {
  await using world = await testApp()
  const ofRoutes = world.app.routes.filter(({ access }) => PERMISSIONS[access].audited).map(({ id }) => id)
  expect(ofRoutes.length).toBeGreaterThan(25)
  const { acts } = english.settings.auditLog
  expect(Object.keys(acts).sort()).toEqual([...new Set([...ofRoutes, ...actsByHand()])].sort())
})
