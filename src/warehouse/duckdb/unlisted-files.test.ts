import { describe, expect, test } from 'bun:test'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { MINUTE_MS } from '../../core/clock.ts'
import { firstFew } from '../../core/text.ts'
import { aKey, anEvent, NASTY_KEYS, WarehouseFixture } from '../warehouse.fixture.ts'
import { compactEvents } from './compact-events.ts'
import { compactPages } from './compact-pages.ts'
import { columnName, keyOfColumn } from './duckdb-dialect.ts'
import { Manifest } from './manifest.ts'
import { addToListing, type Listing, selectListable } from './rebuild-manifest.ts'
import {
  filesOnDisk,
  findDifferences,
  isManifestOlder,
  listedPaths,
  segmentOf,
  type UnlistedFile,
} from './unlisted-files.ts'

const partsOf = (fixture: WarehouseFixture, manifest = fixture.manifest) => ({
  parquet: fixture.parquet,
  manifest,
  folder: fixture.folder,
  spoolFolder: fixture.spoolFolder,
})

/** Returns a fixture with files of every level from three organizations. */
async function filled(): Promise<WarehouseFixture> {
  const fixture = await WarehouseFixture.open()
  const events = fc.sample(anEvent, { numRuns: 60, seed: 7 })
  for (let at = 0; at < events.length; at += 3) {
    await fixture.add(events.slice(at, at + 3))
    await fixture.flush()
    fixture.clock.advance(20 * MINUTE_MS)
    await compactEvents(
      { parquet: fixture.parquet, manifest: fixture.manifest, folder: fixture.folder },
      fixture.clock.now(),
    )
    await fixture.compactCounts()
    await compactPages(fixture.parquet, fixture.manifest, fixture.folder, fixture.clock.now())
  }
  return fixture
}

/** Returns the manifest entries that a rebuild would create. */
async function relisted(fixture: WarehouseFixture): Promise<Listing> {
  const strays: UnlistedFile[] = (await findDifferences(partsOf(fixture, emptyManifest(fixture)))).strays
  const listing: Listing = { files: [], rollups: [], pages: [] }
  for (const path of selectListable(strays, filesOnDisk(fixture.folder))) {
    await addToListing(listing, fixture.parquet, fixture.folder, path)
  }
  return listing
}

const emptyManifest = (fixture: WarehouseFixture) =>
  new (class extends Manifest {
    override files = () => []
    override rollups = () => []
    override pages = () => []
    override lastSegment = () => null
  })(fixture.db)

const byPath = <File extends { path: string }>(files: readonly File[]) =>
  [...files].sort((a, b) => (a.path < b.path ? -1 : 1)).map((file) => ({ ...file }))

describe('a manifest rebuilt from the files alone', () => {
  test('equals the lost one', async () => {
    await using fixture = await filled()
    expect(new Set(fixture.levels())).toEqual(new Set(['fresh', 'compacted']))
    const { files, rollups } = await relisted(fixture)
    const sorted = (list: typeof files) =>
      // `unpackedBytes` is not in the file, so a rebuild estimates it.
      byPath(list).map(({ unpackedBytes: _, ...file }) => ({ ...file, keys: file.keys && [...file.keys].sort() }))
    expect(sorted(files)).toEqual(sorted([...fixture.manifest.files()]))
    expect(byPath(rollups)).toEqual(byPath(fixture.manifest.rollups()))
  })

  test('omits replaced files, regardless of where a merge was interrupted', async () => {
    await using fixture = await WarehouseFixture.open()
    for (const orgId of ['org_1', 'org_2', 'org_1']) {
      await fixture.add([{ orgId }])
      await fixture.flush()
    }
    const old = filesOnDisk(fixture.folder)
    const events = old.filter((path) => !path.startsWith('counts/'))
    for (const path of events) copyFileSync(join(fixture.folder, path), join(fixture.folder, `${path}.kept`))
    await fixture.compact()
    const made = listedPaths(fixture.manifest).filter((path) => !path.startsWith('counts/'))
    expect(made).toHaveLength(2)
    const listedNow = async () => byPath((await relisted(fixture)).files).map(({ path }) => path)
    for (const path of events) copyFileSync(join(fixture.folder, `${path}.kept`), join(fixture.folder, path))
    expect(await listedNow()).toEqual([...made].sort())
    // The merge's output is incomplete, so its inputs remain in use.
    rmSync(join(fixture.folder, made[0] ?? ''))
    expect(await listedNow()).toEqual(events)
    // Some of the merge's inputs are missing, so its output is required.
    rmSync(join(fixture.folder, events[0] ?? ''))
    expect(await listedNow()).toEqual([made[1] ?? ''])
  })

  test('contains the names of the parameters that became columns', () => {
    for (const key of NASTY_KEYS) expect(keyOfColumn(columnName(key))).toBe(key)
    fc.assert(fc.property(aKey, (key) => expect(keyOfColumn(columnName(key))).toBe(key)))
    expect(keyOfColumn('receivedAt')).toBeNull()
  })
})

describe('a manifest that is older than the files', () => {
  test('is detected from a later segment, from later events, and from files that replaced listed files', async () => {
    await using fixture = await filled()
    const older = async (manifest: Manifest) => {
      const parts = partsOf(fixture, manifest)
      return isManifestOlder(parts, await findDifferences(parts))
    }
    const view = (files: typeof Manifest.prototype.files, more: Partial<Manifest> = {}) =>
      Object.assign(new Manifest(fixture.db), { files, ...more })
    const all = fixture.manifest.files()
    expect(await older(fixture.manifest)).toBe(false)
    const last = all.at(-1)
    const before = all.slice(0, -1)
    expect(await older(view(() => before, { lastSegment: () => '000000000001' }))).toBe(true)
    const knownAt = last === undefined ? 0 : last.maxReceivedAt
    expect(await older(view(() => before, { lastKnownAt: () => knownAt - 1 }))).toBe(true)
    // An unlisted file that is as old as listed files was added manually or left behind by a deletion.
    const first = all.slice(1)
    expect(await older(view(() => first))).toBe(false)
    expect(await older(emptyManifest(fixture))).toBe(true)
  })
})

test.each([
  ['000000000012.parquet', '000000000012'],
  ['counts/000000000012.parquet', '000000000012'],
  ['c0-0123456789abcdef.parquet', null],
  ['counts/d12-0123456789abcdef.parquet', null],
])('the segment of %s is %p', (path, segment) => {
  expect(segmentOf(path)).toBe(segment)
})

test('only the first few of many paths are listed', () => {
  expect(firstFew(['a', 'b', 'c'])).toBe('a, b, c')
  expect(firstFew(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more')
})
