import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alertTypes } from '../../src/alerts/types/index.ts'
import { PERMISSIONS } from '../../src/http/permission.ts'
import { english, messages } from '../../src/web/messages.ts'
import { testApp } from '../test-app.ts'

/**
 * Returns the audit log actions that the router does not record automatically: those of public routes, of routes that
 * affect other users, and of commands.
 */
function explicitActions(): string[] {
  const folder = join(import.meta.dir, '../../src')
  const files = [...new Bun.Glob('**/*.ts').scanSync(folder)].filter(
    (path) => !/\.(?:test|fixture)\.ts$|^web\//.test(path),
  )
  return files.flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    return /\b[aA]udit/.test(text) ? [...text.matchAll(/\bact: '(\w+)'/g)].flatMap(([, act]) => act ?? []) : []
  })
}

test('every audit log action has a label', async () => {
  await using server = await testApp()
  const routeActions = server.app.routes.filter(({ access }) => PERMISSIONS[access].writes).map(({ id }) => id)
  expect(routeActions.length).toBeGreaterThan(60)
  const { actions } = english.settings.auditLog
  expect(Object.keys(actions).sort()).toEqual([...new Set([...routeActions, ...explicitActions()])].sort())
})

test('alert types have the same titles in the dashboard and in the API', () => {
  const titles = Object.fromEntries(alertTypes.map(({ kind, form }) => [kind, form.title]))
  expect(messages.displayNames.alertTypes).toMatchObject(titles)
})
