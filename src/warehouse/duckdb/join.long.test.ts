import { describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS } from '../../core/clock.ts'
import { anEvent, type EventFields, NASTY_KEYS, WarehouseFixture } from '../warehouse.fixture.ts'
import { runMerge } from './compact-events.ts'
import { columnName, quoteName, quoteText } from './duckdb-dialect.ts'
import { Manifest } from './manifest.ts'
import { planMerges } from './plan-merges.ts'
import { RELATION_COLUMNS } from './spool-relation.ts'
import { filesOnDisk } from './unlisted-files.ts'

/** A time after the days of all events have ended. */
const later = (stand: WarehouseFixture) => stand.clock.now() + 2 * DAY_MS

/** Loads each of these batches in a different hour, then compacts the hours. */
async function loadHours(stand: WarehouseFixture, hours: readonly (readonly EventFields[])[]): Promise<void> {
  for (const said of hours) {
    await stand.add(said)
    await stand.flush()
    stand.clock.advance(HOUR_MS)
  }
  const merges = planMerges(stand.manifest.files(), stand.clock.now() + HOUR_MS)
  for (const merge of merges) await runMerge(stand.parquet, stand.manifest, stand.folder, merge)
}

const pathsOf = ({ manifest }: WarehouseFixture) =>
  manifest
    .files()
    .map(({ path }) => path)
    .toSorted()
const onDisk = ({ folder }: WarehouseFixture) => readdirSync(folder).filter((name) => name.endsWith('.parquet'))

/** Queries events in each of the ways in which files are read: all parameters, a few keys, any parameter, none. */
async function answersOf(stand: WarehouseFixture) {
  const window = { from: 0, to: Number.MAX_SAFE_INTEGER }
  const asked = { orgId: 'org_1', window: { from: stand.events[0]?.receivedAt ?? 0, to: stand.clock.now() - HOUR_MS } }
  const names = await stand.query('SELECT DISTINCT name FROM names ORDER BY name', {}, { over: 'names' })
  return {
    ...{ names, whole: await stand.wholeEvents({ window }), part: await stand.wholeEvents(asked) },
    values: await stand.valuesOf(NASTY_KEYS),
    one: await stand.valuesOf(['a'], asked),
    rows: await stand.query('SELECT id, ts, seq FROM events ORDER BY seq'),
  }
}

const shop = (count: number, params: EventFields['params'], said: EventFields = {}): EventFields[] =>
  Array.from({ length: count }, () => ({ orgId: 'org_1', ...said, ...(params && { params }) }))

describe('days with small hourly files', () => {
  test('are joined into one file per organization, with the same query results', async () => {
    await using stand = await WarehouseFixture.open()
    await loadHours(stand, [
      [...shop(3, { a: '1', b: '2' }, { id: 'own', ts: 5 }), ...shop(1, { c: '' }, { orgId: 'org_2' })],
      [...shop(2, { a: '3', userId: 'x' }), ...shop(1, { c: '1' }, { orgId: 'org_2', violations: ['alr_1'] })],
      shop(4, {}),
    ])
    expect(pathsOf(stand)).toHaveLength(5)
    const before = await answersOf(stand)
    await stand.compact(later(stand))
    const files = stand.manifest.files().toSorted((a, b) => b.rows - a.rows)
    expect(files.map(({ orgId, rows, level, keys }) => [orgId, rows, level, keys])).toEqual([
      ['org_1', 9, 'compacted', ['a', 'b', 'userId']],
      ['org_2', 2, 'compacted', ['c']],
    ])
    expect(await answersOf(stand)).toEqual(before)
    expect(onDisk(stand).toSorted()).toEqual(pathsOf(stand))
    expect(planMerges(stand.manifest.files(), later(stand))).toEqual([])
    expect(stand.manifest.lastSeq()).toBe(stand.events.at(-1)?.seq ?? 0)
  })

  test('return the same query results for any events', async () => {
    const anHour = fc.array(anEvent, { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(anHour, { minLength: 2, maxLength: 5 }), async (hours) => {
        await using stand = await WarehouseFixture.open()
        await loadHours(stand, hours)
        const before = await answersOf(stand)
        await stand.compact(later(stand))
        const orgs = new Set(stand.events.map(({ orgId }) => orgId))
        expect(stand.manifest.files()).toHaveLength(orgs.size)
        expect(await answersOf(stand)).toEqual(before)
      }),
      { numRuns: 10 },
    )
  })

  test('include late events, and keep a rare key in the map', async () => {
    await using stand = await WarehouseFixture.open()
    await loadHours(stand, [shop(300, { a: '1' }), shop(1, { rare: 'x', a: '2' }), shop(1, { a: '3' })])
    await stand.compact(later(stand))
    expect(stand.manifest.files().map(({ keys }) => keys)).toEqual([['a']])
    await stand.add(shop(1, { late: 'y' }))
    await stand.flush()
    const before = await answersOf(stand)
    await stand.compact(later(stand))
    await stand.compact(later(stand))
    expect(stand.manifest.files().map(({ rows, keys }) => [rows, keys])).toEqual([[303, ['a']]])
    expect(await answersOf(stand)).toEqual(before)
  })
})

/** Crashes at the point where the manifest would be changed. */
class Dying extends Manifest {
  override swap(): void {
    throw new Error('killed')
  }
}

describe('a crash while hours are joined', () => {
  const hours = [shop(2, { a: '1' }), shop(3, { b: '2' })]

  test('before the manifest is updated leaves the hours in use; the next start removes the day', async () => {
    await using stand = await WarehouseFixture.open()
    await loadHours(stand, hours)
    const [before, paths] = [await answersOf(stand), pathsOf(stand)]
    const [merge] = planMerges(stand.manifest.files(), later(stand))
    if (!merge) throw new Error('expected a merge')
    const dying = runMerge(stand.parquet, new Dying(stand.db), stand.folder, merge)
    expect(dying).rejects.toThrow('killed')
    await dying.catch(() => {})
    expect(onDisk(stand)).toHaveLength(3)
    expect(await answersOf(stand)).toEqual(before)
    await stand.reopen()
    expect(onDisk(stand).toSorted()).toEqual(paths)
    await stand.compact(later(stand))
    expect(await answersOf(stand)).toEqual(before)
  })

  test('before the hours are removed leaves the day in use; the next start removes the hours', async () => {
    await using stand = await WarehouseFixture.open()
    await loadHours(stand, hours)
    const before = await answersOf(stand)
    const old = pathsOf(stand)
    for (const path of old) copyFileSync(join(stand.folder, path), join(stand.folder, `${path}.kept`))
    await stand.compact(later(stand))
    for (const path of old) copyFileSync(join(stand.folder, `${path}.kept`), join(stand.folder, path))
    await stand.reopen()
    expect(onDisk(stand).toSorted()).toEqual(pathsOf(stand))
    expect(filesOnDisk(stand.folder).filter((path) => old.includes(path))).toEqual([])
    expect(await answersOf(stand)).toEqual(before)
  })
})

/** Writes a compacted file in the format of version 0.1: every column is filled, with Parquet 1 encodings. */
async function rewriteAsBefore(stand: WarehouseFixture, path: string, keys: readonly string[]): Promise<void> {
  const file = join(stand.folder, path)
  const columns = RELATION_COLUMNS.map((name) => (name === 'ts' ? 'coalesce(ts, receivedAt) AS ts' : name))
    .map((name) => (name === 'id' ? `coalesce(id, 'evt_' || seq) AS id` : name))
    .concat(keys.map((key) => quoteName(columnName(key))))
  await stand.parquet.run(
    `COPY (SELECT ${[...columns, 'params'].join(', ')} FROM read_parquet(${quoteText(file)})) TO ${quoteText(`${file}.old`)}
     (FORMAT parquet, PARQUET_VERSION v1, COMPRESSION zstd)`,
  )
  copyFileSync(`${file}.old`, file)
  const listed = stand.manifest.files().find((one) => one.path === path)
  if (!listed) throw new Error(`${path} is not listed`)
  stand.manifest.swap([listed], [{ ...listed, ...(await stand.parquet.measure(path)) }])
}

test('files written by an earlier version are read and joined with new ones', async () => {
  await using stand = await WarehouseFixture.open()
  const said = [...shop(2, { a: '1' }), ...shop(1, { b: '2' }, { id: 'own', ts: 5 })]
  await loadHours(stand, [said, said, said])
  const before = await answersOf(stand)
  for (const { path, keys } of stand.manifest.files().slice(0, 2)) await rewriteAsBefore(stand, path, keys ?? [])
  const idsOf = async (path: string) => {
    const sql = `SELECT count(id) AS ids FROM read_parquet(${quoteText(join(stand.folder, path))})`
    return (await stand.parquet.run<{ ids: number }>(sql))[0]?.ids
  }
  const counts = await Promise.all(stand.manifest.files().map(({ path }) => idsOf(path)))
  expect(counts).toEqual([3, 3, 1])
  expect(await answersOf(stand)).toEqual(before)
  await stand.compact(later(stand))
  expect(stand.levels()).toEqual(['compacted'])
  expect(await answersOf(stand)).toEqual(before)
  expect(await idsOf(pathsOf(stand)[0] ?? '')).toBe(3)
})
