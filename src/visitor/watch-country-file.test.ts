import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testApp } from '../../test/test-app.ts'
import { CountryFile } from './watch-country-file.ts'

const root = mkdtempSync(join(tmpdir(), 'tagwarden-watch-'))
afterAll(() => rmSync(root, { recursive: true }))

const ADDRESS = '5.0.0.1'
const rowOf = (country: string) => `5.0.0.0,5.0.0.255,${country}\n`
let version = 0

/** Replaces the file with one that has another time of modification. */
function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content)
  version++
  utimesSync(`${path}.new`, version, version)
  renameSync(`${path}.new`, path)
}

function watched(path: string) {
  const lines: string[] = []
  const stopping = new AbortController()
  const log = { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) }
  return { file: new CountryFile(path, { log, stopping: stopping.signal }), lines, stopping }
}

test('a replaced file is read once it has not changed between two checks', async () => {
  const path = join(root, 'replaced.csv')
  replace(path, rowOf('DE'))
  const { file, lines } = watched(path)
  expect(file.countryOf(ADDRESS)).toBeNull()
  await file.refresh()
  expect(file.countryOf(ADDRESS)).toBe('DE')
  await file.refresh()
  expect(lines).toEqual([`countries of IP addresses read from ${path}; ranges: 1`])
  replace(path, rowOf('FR'))
  await file.refresh()
  replace(path, rowOf('GB'))
  await file.refresh()
  expect(file.countryOf(ADDRESS)).toBe('DE')
  await file.refresh()
  expect(file.countryOf(ADDRESS)).toBe('GB')
  expect(lines).toHaveLength(2)
})

test('a damaged or missing replacement is logged once and keeps the previous countries', async () => {
  const path = join(root, 'damaged.csv')
  replace(path, rowOf('DE'))
  const { file, lines } = watched(path)
  await file.refresh()
  replace(path, 'nonsense\n')
  for (let check = 0; check < 4; check++) await file.refresh()
  expect(file.countryOf(ADDRESS)).toBe('DE')
  rmSync(path)
  for (let check = 0; check < 4; check++) await file.refresh()
  expect(file.countryOf(ADDRESS)).toBe('DE')
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(
      /^TAGWARDEN_COUNTRY_FILE: .+damaged\.csv:1: is not .+; the countries read before remain in use$/,
    ),
    expect.stringMatching(/^TAGWARDEN_COUNTRY_FILE: .+damaged\.csv: does not exist; the countries read before remain/),
  ])
  replace(path, rowOf('US'))
  for (let check = 0; check < 2; check++) await file.refresh()
  expect(file.countryOf(ADDRESS)).toBe('US')
})

test('without a file, nothing is read and no address has a country', async () => {
  const { file, lines } = watched('')
  await file.refresh()
  expect(file.countryOf(ADDRESS)).toBeNull()
  expect(lines).toEqual([])
})

test('a server that is stopping does not report an unfinished file', async () => {
  const path = join(root, 'large.csv')
  replace(path, rowOf('DE').repeat(40_000))
  const { file, lines, stopping } = watched(path)
  const reading = file.refresh()
  stopping.abort()
  await reading
  expect(file.countryOf(ADDRESS)).toBeNull()
  expect(lines).toEqual([])
})

test('the server starts with a missing file, logs it, and reads the file once it exists', async () => {
  const path = join(root, 'late.csv')
  await using world = await testApp({ countryFile: path })
  await world.app.idle()
  expect(world.warnings).toContain(`TAGWARDEN_COUNTRY_FILE: ${path}: does not exist; events get no country`)
  replace(path, rowOf('DE'))
  await world.run('read country file', 'read country file')
  expect(world.lines).toContain(`countries of IP addresses read from ${path}; ranges: 1`)
})
