import { describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS } from '../../core/clock.ts'
import { NO_SEGMENTS } from '../../core/event.ts'
import { anEvent, type EventFields, NASTY_KEYS, WarehouseFixture } from '../warehouse.fixture.ts'
import { runMerge } from './compact-events.ts'
import { columnName, quoteName, quoteText } from './duckdb-dialect.ts'
import { Manifest } from './manifest.ts'
import { planMerges } from './plan-merges.ts'
import { RELATION_COLUMNS } from './spool-relation.ts'
import { filesOnDisk } from './unlisted-files.ts'

/** A time after all days with events have ended. */
const later = (fixture: WarehouseFixture) => fixture.clock.now() + 2 * DAY_MS

/** Loads each of these batches in a different hour, then compacts the hours. */
async function loadHours(fixture: WarehouseFixture, hours: readonly (readonly EventFields[])[]): Promise<void> {
  for (const said of hours) {
    await fixture.add(said)
    await fixture.flush()
    fixture.clock.advance(HOUR_MS)
  }
  const merges = planMerges(fixture.manifest.files(), fixture.clock.now() + HOUR_MS)
  for (const merge of merges) await runMerge(fixture.parquet, fixture.manifest, fixture.folder, merge)
}

const pathsOf = ({ manifest }: WarehouseFixture) =>
  manifest
    .files()
    .map(({ path }) => path)
    .toSorted()
const onDisk = ({ folder }: WarehouseFixture) => readdirSync(folder).filter((name) => name.endsWith('.parquet'))

/** Queries events in each way that files are read: all parameters, a few keys, any parameter, and none. */
async function answersOf(fixture: WarehouseFixture) {
  const window = { from: 0, to: Number.MAX_SAFE_INTEGER }
  const asked = {
    orgId: 'org_1',
    window: { from: fixture.events[0]?.receivedAt ?? 0, to: fixture.clock.now() - HOUR_MS },
  }
  const names = await fixture.query('SELECT DISTINCT name FROM names ORDER BY name', {}, { over: 'names' })
  return {
    names,
    whole: await fixture.wholeEvents({ window }),
    part: await fixture.wholeEvents(asked),
    values: await fixture.valuesOf(NASTY_KEYS),
    one: await fixture.valuesOf(['a'], asked),
    rows: await fixture.query('SELECT id, ts, seq FROM events ORDER BY seq'),
  }
}

const shop = (count: number, params: EventFields['params'], said: EventFields = {}): EventFields[] =>
  Array.from({ length: count }, () => ({ orgId: 'org_1', ...said, ...(params && { params }) }))

describe('days with small hourly files', () => {
  test('are joined into one file per organization, with the same query results', async () => {
    await using fixture = await WarehouseFixture.open()
    await loadHours(fixture, [
      [...shop(3, { a: '1', b: '2' }, { id: 'own', ts: 5 }), ...shop(1, { c: '' }, { orgId: 'org_2' })],
      [...shop(2, { a: '3', userId: 'x' }), ...shop(1, { c: '1' }, { orgId: 'org_2', violations: ['alr_1'] })],
      shop(4, {}),
    ])
    expect(pathsOf(fixture)).toHaveLength(5)
    const before = await answersOf(fixture)
    await fixture.compact(later(fixture))
    const files = fixture.manifest.files().toSorted((a, b) => b.rows - a.rows)
    expect(files.map(({ orgId, rows, level, keys }) => [orgId, rows, level, keys])).toEqual([
      ['org_1', 9, 'compacted', ['a', 'b', 'userId']],
      ['org_2', 2, 'compacted', ['c']],
    ])
    expect(await answersOf(fixture)).toEqual(before)
    expect(onDisk(fixture).toSorted()).toEqual(pathsOf(fixture))
    expect(planMerges(fixture.manifest.files(), later(fixture))).toEqual([])
    expect(fixture.manifest.lastSeq()).toBe(fixture.events.at(-1)?.seq ?? 0)
  })

  test('return the same query results for any events', async () => {
    const anHour = fc.array(anEvent, { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(anHour, { minLength: 2, maxLength: 5 }), async (hours) => {
        await using fixture = await WarehouseFixture.open()
        await loadHours(fixture, hours)
        const before = await answersOf(fixture)
        await fixture.compact(later(fixture))
        const orgs = new Set(fixture.events.map(({ orgId }) => orgId))
        expect(fixture.manifest.files()).toHaveLength(orgs.size)
        expect(await answersOf(fixture)).toEqual(before)
      }),
      { numRuns: 10 },
    )
  })

  test('include late events, and keep a rare key in the map', async () => {
    await using fixture = await WarehouseFixture.open()
    await loadHours(fixture, [shop(300, { a: '1' }), shop(1, { rare: 'x', a: '2' }), shop(1, { a: '3' })])
    await fixture.compact(later(fixture))
    expect(fixture.manifest.files().map(({ keys }) => keys)).toEqual([['a']])
    await fixture.add(shop(1, { late: 'y' }))
    await fixture.flush()
    const before = await answersOf(fixture)
    await fixture.compact(later(fixture))
    await fixture.compact(later(fixture))
    expect(fixture.manifest.files().map(({ rows, keys }) => [rows, keys])).toEqual([[303, ['a']]])
    expect(await answersOf(fixture)).toEqual(before)
  })
})

/** Crashes when the manifest would be changed. */
class Dying extends Manifest {
  override swap(): void {
    throw new Error('killed')
  }
}

describe('a crash while hours are joined', () => {
  const hours = [shop(2, { a: '1' }), shop(3, { b: '2' })]

  test('before the manifest is updated leaves the hours in use; the next start removes the day', async () => {
    await using fixture = await WarehouseFixture.open()
    await loadHours(fixture, hours)
    const [before, paths] = [await answersOf(fixture), pathsOf(fixture)]
    const [merge] = planMerges(fixture.manifest.files(), later(fixture))
    if (!merge) throw new Error('expected a merge')
    const dying = runMerge(fixture.parquet, new Dying(fixture.db), fixture.folder, merge)
    expect(dying).rejects.toThrow('killed')
    await dying.catch(() => {})
    expect(onDisk(fixture)).toHaveLength(3)
    expect(await answersOf(fixture)).toEqual(before)
    await fixture.reopen()
    expect(onDisk(fixture).toSorted()).toEqual(paths)
    await fixture.compact(later(fixture))
    expect(await answersOf(fixture)).toEqual(before)
  })

  test('before the hours are removed leaves the day in use; the next start removes the hours', async () => {
    await using fixture = await WarehouseFixture.open()
    await loadHours(fixture, hours)
    const before = await answersOf(fixture)
    const old = pathsOf(fixture)
    for (const path of old) copyFileSync(join(fixture.folder, path), join(fixture.folder, `${path}.kept`))
    await fixture.compact(later(fixture))
    for (const path of old) copyFileSync(join(fixture.folder, `${path}.kept`), join(fixture.folder, path))
    await fixture.reopen()
    expect(onDisk(fixture).toSorted()).toEqual(pathsOf(fixture))
    expect(filesOnDisk(fixture.folder).filter((path) => old.includes(path))).toEqual([])
    expect(await answersOf(fixture)).toEqual(before)
  })
})

/** Writes a compacted file in the format of version 0.1, with every column filled and Parquet 1 encodings. */
async function rewriteAsBefore(fixture: WarehouseFixture, path: string, keys: readonly string[]): Promise<void> {
  const file = join(fixture.folder, path)
  const columns = RELATION_COLUMNS.filter((name) => !Object.hasOwn(NO_SEGMENTS, name))
    .map((name) => (name === 'ts' ? 'coalesce(ts, receivedAt) AS ts' : name))
    .map((name) => (name === 'id' ? `coalesce(id, 'evt_' || seq) AS id` : name))
    .concat(keys.map((key) => quoteName(columnName(key))))
  await fixture.parquet.run(
    `COPY (SELECT ${[...columns, 'params'].join(', ')} FROM read_parquet(${quoteText(file)})) TO ${quoteText(`${file}.old`)}
     (FORMAT parquet, PARQUET_VERSION v1, COMPRESSION zstd)`,
  )
  copyFileSync(`${file}.old`, file)
  const listed = fixture.manifest.files().find((one) => one.path === path)
  if (!listed) throw new Error(`${path} is not listed`)
  fixture.manifest.swap([listed], [{ ...listed, hasSegments: false, ...(await fixture.parquet.measure(path)) }])
}

test('files written by an earlier version are read and joined with new ones', async () => {
  await using fixture = await WarehouseFixture.open()
  const said = [...shop(2, { a: '1' }), ...shop(1, { b: '2' }, { id: 'own', ts: 5 })]
  await loadHours(fixture, [said, said, said])
  const before = await answersOf(fixture)
  for (const { path, keys } of fixture.manifest.files().slice(0, 2)) await rewriteAsBefore(fixture, path, keys ?? [])
  const idsOf = async (path: string) => {
    const sql = `SELECT count(id) AS ids FROM read_parquet(${quoteText(join(fixture.folder, path))})`
    return (await fixture.parquet.run<{ ids: number }>(sql))[0]?.ids
  }
  const counts = await Promise.all(fixture.manifest.files().map(({ path }) => idsOf(path)))
  expect(counts).toEqual([3, 3, 1])
  expect(await answersOf(fixture)).toEqual(before)
  await fixture.compact(later(fixture))
  expect(fixture.levels()).toEqual(['compacted'])
  expect(await answersOf(fixture)).toEqual(before)
  expect(await idsOf(pathsOf(fixture)[0] ?? '')).toBe(3)
})
