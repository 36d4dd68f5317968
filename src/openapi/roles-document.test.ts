import { expect, test } from 'bun:test'
import { PERMISSIONS } from '../http/permission.ts'
import { OK, OkSchema, publicRoute, route } from '../http/route.ts'
import { permissionTable, rolesDocument } from './roles-document.ts'

const rows = permissionTable()
  .split('\n')
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )

test.each<[string, string[]]>([
  ['public', ['yes', 'yes', 'yes', 'yes']],
  ['read', ['yes', 'yes', 'yes', 'yes']],
  ['own', ['yes ¹', 'yes ¹', 'yes ¹', 'yes ¹']],
  ['edit', ['–', 'yes ¹', 'yes ¹', 'yes ¹']],
  ['seePersonal', ['–', 'yes', 'yes', 'yes']],
  ['seeSettings', ['–', '–', 'yes', 'yes']],
  ['govern', ['–', '–', '–', 'yes ¹']],
])('the permission table has the correct row for %s', (permission, cells) => {
  expect(rows[0]?.slice(2)).toEqual(['viewer', 'member', 'admin', 'owner'])
  expect(rows.find(([name]) => name === `\`${permission}\``)?.slice(2)).toEqual(cells)
})

test('every permission has a row', () => {
  expect(rows.slice(2).map(([name]) => name)).toEqual(Object.keys(PERMISSIONS).map((name) => `\`${name}\``))
})

test('every route is listed under its permission', () => {
  const common = { tag: 'T', answer: OkSchema, handle: () => OK } as const
  const text = rolesDocument([
    route({ ...common, id: 'a', method: 'POST', path: '/a/{id}', access: 'edit', summary: 'Does a' }),
    publicRoute({ ...common, id: 'b', method: 'GET', path: '/b', summary: 'Does b' }),
  ])
  const sections = Object.fromEntries(text.split('\n## ').map((part) => [part.split('\n')[0], part]))
  expect(sections.edit).toContain('- `POST /a/{id}` – Does a')
  expect(sections.public).toContain('- `GET /b` – Does b')
  expect(text.match(/^- `/gm)).toHaveLength(2)
  expect(sections.configure).toContain('Each use is recorded in the audit log.')
})
