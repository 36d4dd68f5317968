import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { GLIBC_MIN, glibcFault } from './glibc.ts'

const ROOT = resolve(import.meta.dir, '../..')

test.each([
  ['2.31', false],
  ['2.33', false],
  ['2.34', true],
  ['2.36', true],
  ['2.4', false],
  ['3.0', true],
])('glibc %s is supported: %p', (version, isEnough) => {
  const fault = glibcFault(version)
  expect(fault === null).toBe(isEnough)
  if (!isEnough) expect(fault).toContain(`glibc ${version}; glibc ${GLIBC_MIN} or later`)
})

test('the minimum glibc version is what the bundled libraries require and the README states', () => {
  const duckdb = join(ROOT, 'node_modules/@duckdb/node-bindings-linux-x64')
  const libraries = [
    join(ROOT, 'node_modules/better-sqlite3/prebuilds/linux-x64.node'),
    join(ROOT, 'node_modules/@oven/bun-linux-x64/bin/bun'),
    ...readdirSync(duckdb).flatMap((name) => (/\.(node|so)$/.test(name) ? [join(duckdb, name)] : [])),
  ]
  const needed = libraries.flatMap((path) => readFileSync(path, 'latin1').match(/GLIBC_2\.\d+/g) ?? [])
  const versions = [...new Set(needed)].map((name) => `${name.slice('GLIBC_'.length)}.0`)
  expect(versions.toSorted(Bun.semver.order).at(-1)).toBe(`${GLIBC_MIN}.0`)
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(`glibc ${GLIBC_MIN}`)
})
