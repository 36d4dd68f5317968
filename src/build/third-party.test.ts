import { expect, test } from 'bun:test'
import { lockedPackages } from './native-packages.ts'
import { TARGETS } from './targets.ts'
import { billOfMaterials, thirdParties, thirdPartyLicenses } from './third-party.ts'

const parties = thirdParties()

/** Licences that permit distribution in a program under the MIT licence; those of files apply to the files alone. */
const ACCEPTED = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'Unlicense'],
  ...['CC0-1.0', 'CC-BY-3.0', 'Python-2.0', 'PSF-2.0', 'MPL-2.0'],
])

test('every package has an accepted licence, and its text is included', () => {
  const refused = parties.filter(({ license }) =>
    license.split(/[()\s]+|\b(?:AND|OR)\b/).some((id) => id !== '' && !ACCEPTED.has(id)),
  )
  expect(refused).toEqual([])
  const text = thirdPartyLicenses(parties)
  for (const { name, version } of parties) expect(text).toContain(`\n${name} ${version}\nLicence: `)
  for (const name of ['bun', 'better-sqlite3', '@duckdb/node-api', 'react', 'elysia'])
    expect(parties.map((party) => party.name)).toContain(name)
  expect(parties.map(({ name }) => name)).not.toContain('fast-check')
})

test('the bill of materials lists each package once, with its checksum and its dependencies', () => {
  const bill = billOfMaterials({ version: '1.2.3', commit: 'abc', date: '2026-11-28' }, parties) as {
    components: { 'bom-ref': string; hashes: { content: string }[] }[]
    dependencies: { ref: string; dependsOn: string[] }[]
  }
  const refs = bill.components.map((one) => one['bom-ref'])
  expect(new Set(refs).size).toBe(parties.length)
  for (const { hashes } of bill.components) expect(hashes[0]?.content).toMatch(/^[0-9a-f]{128}$/)
  const [own, ...others] = bill.dependencies
  expect(others.map(({ ref }) => ref)).toEqual(refs)
  expect(own?.dependsOn).toContain('pkg:npm/%40duckdb/node-api@1.5.6-r.1')
  expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([])
  // Without times or random ids, the same sources give the same bytes.
  expect(JSON.stringify(billOfMaterials({ version: '1.2.3', commit: 'abc', date: '2026-11-28' }))).toBe(
    JSON.stringify(bill),
  )
})

test('the lockfile has a checksum for each package of each target', () => {
  const keys = new Set(lockedPackages().map(({ key }) => key))
  const needed = Object.values(TARGETS).flatMap(({ runtime, addons }) => [runtime, ...addons.sqlite, ...addons.duckdb])
  expect(needed.filter((file) => !keys.has(file.package))).toEqual([])
})
