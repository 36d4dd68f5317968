import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { openDatabase } from './database.ts'
import { type DatabaseState, inspectDatabase } from './inspect-database.ts'

const root = mkdtempSync(join(tmpdir(), 'inspect-'))
afterAll(() => rmSync(root, { recursive: true }))

test.each<[string, (path: string) => void, DatabaseState]>([
  ['that exists', () => {}, { kind: 'sound', schema: migrations.length }],
  ['that is missing', (path) => rmSync(path), { kind: 'empty' }],
  ['of zero bytes', (path) => truncateSync(path), { kind: 'empty' }],
  [
    'with invalid content',
    (path) => writeFileSync(path, 'x'.repeat(9000)),
    { kind: 'damaged', reason: 'file is not a database' },
  ],
  [
    'truncated to half its size',
    (path) => truncateSync(path, readFileSync(path).length / 2),
    { kind: 'damaged', reason: expect.stringMatching(/^[^\n]+$/) },
  ],
])('a database %s is identified correctly and not modified', (_, change, expected) => {
  const path = join(root, `${Bun.hash(String(change))}.db`)
  openDatabase(path).close()
  change(path)
  const before = existsSync(path) ? readFileSync(path) : null
  for (const isThorough of [false, true]) expect(inspectDatabase(path, { isThorough })).toEqual(expected)
  expect(existsSync(path) ? readFileSync(path) : null).toEqual(before)
})
