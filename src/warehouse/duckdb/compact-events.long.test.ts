import { describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { capturedEvents, capturesFolder } from '../captures.fixture.ts'
import { anEvent, type EventFields, HOUR, WarehouseFixture } from '../warehouse.fixture.ts'
import { compactEvents, runMerge } from './compact-events.ts'
import { Manifest } from './manifest.ts'
import { MergeRetries } from './merge-retries.ts'
import { planMerges } from './plan-merges.ts'

const some = (count: number, orgId = 'org_1') =>
  Array.from({ length: count }, (_, n) => ({ orgId, params: { a: `${n}` } }))
const parquetIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.parquet'))
    .toSorted()
const pathsOf = (manifest: Manifest) =>
  manifest
    .files()
    .map(({ path }) => path)
    .toSorted()

describe('compaction', () => {
  test('writes one sorted file for each organization and hour', async () => {
    await using stand = await WarehouseFixture.open()
    const names = ['b', 'a', 'c']
    for (let n = 0; n < 6; n++) {
      const event = {
        domainId: `dom_${names[n % 3]}`,
        vendor: names[(n + 1) % 3] ?? '',
        event: names[(n + 2) % 3] ?? '',
      }
      await stand.add([
        { ...event, orgId: 'org_1' },
        { ...event, orgId: 'org_2' },
      ])
      stand.clock.advance(HOUR_MS / 4)
      await stand.flush()
    }
    await stand.compact()
    expect(stand.manifest.files().map(({ orgId, hour, rows }) => [orgId, (hour - HOUR) / HOUR_MS, rows])).toEqual([
      ['org_1', 0, 4],
      ['org_2', 0, 4],
      ['org_1', 1, 2],
      ['org_2', 1, 2],
    ])
    expect(parquetIn(stand.folder)).toEqual(pathsOf(stand.manifest))
    for (const { path, sizeBytes } of stand.manifest.files()) {
      const rows = await stand.parquet.run<Record<string, string>>(
        `SELECT domainId, vendor, event FROM read_parquet('${join(stand.folder, path)}')`,
      )
      const places = rows.map(({ domainId, vendor, event }) => `${domainId} ${vendor} ${event}`)
      expect(places).toEqual(places.toSorted())
      expect(sizeBytes).toBeGreaterThan(0)
    }
  })

  test('has enough memory for the maximum number of parameter columns, and for joining such hours', async () => {
    await using stand = await WarehouseFixture.open()
    const params = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`key${n}`, `value ${n}`]))
    const events = Array.from({ length: 60 }, () => ({ params }))
    for (let hour = 0; hour < 2; hour++) {
      await stand.add(events)
      await stand.flush()
      stand.clock.advance(HOUR_MS)
    }
    await stand.compact()
    expect(stand.manifest.files().map(({ keys }) => keys?.length)).toEqual([256, 256])
    stand.clock.advance(DAY_MS)
    await stand.compact()
    expect(stand.manifest.files().map(({ keys, rows }) => [keys?.length, rows])).toEqual([[256, 120]])
  })

  test('keeps the manifest entry of a file accurate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anEvent, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 }),
        async (batches) => {
          await using stand = await WarehouseFixture.open()
          for (const batch of batches) {
            await stand.add(batch)
            stand.clock.advance(25 * MINUTE_MS)
            await stand.flush()
          }
          await stand.compact()
          await stand.add(batches[0] ?? [])
          await stand.flush()
          for (const { path, orgId, hour, minReceivedAt, maxReceivedAt, maxSeq, rows } of stand.manifest.files()) {
            const [found] = await stand.parquet.run<Record<string, number | string | null>>(
              `SELECT min(receivedAt) AS minReceivedAt, max(receivedAt) AS maxReceivedAt, max(seq) AS maxSeq, count(*) AS rows,
               CASE WHEN count(DISTINCT orgId) = 1 THEN min(orgId) END AS orgId
             FROM read_parquet('${join(stand.folder, path)}')`,
            )
            expect(found ?? {}).toEqual({ minReceivedAt, maxReceivedAt, maxSeq, rows, orgId })
            expect(hour).toBe(Math.floor(minReceivedAt / HOUR_MS) * HOUR_MS)
          }
          expect(stand.manifest.lastSeq()).toBe(stand.events.at(-1)?.seq ?? 0)
          expect(stand.manifest.lastReceivedAt()).toBe(stand.events.at(-1)?.receivedAt ?? 0)
        },
      ),
      { numRuns: 10 },
    )
  })

  test('includes late events', async () => {
    await using stand = await WarehouseFixture.open()
    await stand.add(some(3))
    await stand.flush()
    await stand.compact()
    await stand.add(some(2))
    await stand.flush()
    expect(stand.levels().toSorted()).toEqual(['compacted', 'fresh'])
    await stand.compact()
    expect(stand.levels()).toEqual(['compacted'])
    expect(await stand.count()).toEqual({ rows: 5, events: 5 })
    expect(parquetIn(stand.folder)).toEqual(pathsOf(stand.manifest))
  })
})

/** Events with `perEvent` parameters each, out of `names` different names. There are `values` different values. */
function wide({ rows, names, perEvent, length, values }: Width): EventFields[] {
  const text = (n: number) => `v${n % values}`.padEnd(length, 'abcdefgh')
  return Array.from({ length: rows }, (_, row) => ({
    orgId: `org_${row % 2}`,
    event: `event ${row % 7}`,
    params: Object.fromEntries(
      Array.from({ length: perEvent }, (_, n) => [`name${(row * 31 + n * 7) % names}`, text(row + n)]),
    ),
  }))
}

interface Width {
  rows: number
  names: number
  perEvent: number
  length: number
  values: number
}

/** Maximum characters of JSON per case. The engine has 200 MB of memory, and CI only a few minutes. */
const MOST_CHARACTERS = 24_000_000

const aWidth: fc.Arbitrary<Width> = fc
  .record({
    rows: fc.integer({ min: 1, max: 20_000 }),
    names: fc.constantFrom(10, 60, 256, 3000, 20_000),
    perEvent: fc.constantFrom(1, 13, 60, 500),
    length: fc.constantFrom(0, 12, 300, 4000),
    values: fc.constantFrom(1, 50, 1_000_000),
  })
  .map((width) => ({
    ...width,
    rows: Math.max(1, Math.min(width.rows, Math.floor(MOST_CHARACTERS / (width.perEvent * (width.length + 12))))),
  }))

describe('every past hour is compacted', () => {
  async function expectCompacted(segments: readonly (readonly EventFields[])[]): Promise<void> {
    await using stand = await WarehouseFixture.open()
    for (const segment of segments) {
      await stand.add(segment)
      await stand.flush()
    }
    const { events } = stand
    const now = stand.clock.now() + HOUR_MS + 3 * MINUTE_MS
    await stand.compact(now)
    expect(stand.levels().every((level) => level === 'compacted')).toBe(true)
    expect(planMerges(stand.manifest.files(), now)).toEqual([])
    expect(await stand.count()).toEqual({ rows: events.length, events: events.length })
    expect(parquetIn(stand.folder)).toEqual(pathsOf(stand.manifest))
    // Only some events from each file, because reading every map of the widest events takes longer than everything
    // else.
    const [last] = events.slice(-1)
    for (const event of [events[0], last].filter((event) => event !== undefined)) {
      const [found] = await stand.query<{ params: Record<string, string> }>(
        `SELECT params FROM events WHERE seq = ${event.seq}`,
        {},
        { wholeParams: true },
      )
      expect(found?.params).toEqual(event.params)
    }
  }

  test('for any number of columns, size and values', async () => {
    const segments = fc.array(aWidth, { minLength: 1, maxLength: 2 }).map((widths) => widths.map(wide))
    await fc.assert(fc.asyncProperty(segments, expectCompacted), { numRuns: 6 })
  })

  test.each<[string, Width, number]>([
    ['for ordinary events with many values', { rows: 20_000, names: 60, perEvent: 13, length: 12, values: 1e6 }, 3],
    [
      'for events with 500 parameters out of 20,000',
      { rows: 2000, names: 20_000, perEvent: 500, length: 12, values: 1e6 },
      2,
    ],
    ['of long strings that compress well', { rows: 4000, names: 200, perEvent: 20, length: 600, values: 50 }, 2],
    ['of a few very large events', { rows: 60, names: 500, perEvent: 500, length: 300, values: 1 }, 2],
  ])('%s', async (_, width, segments) => {
    await expectCompacted(Array.from({ length: segments }, () => wide(width)))
  })

  test.skipIf(capturesFolder === null)('for repeated real recordings', async () => {
    const captured = capturedEvents(capturesFolder ?? '', { id: 'dom_1', orgId: 'org_1' })
    await expectCompacted(Array.from({ length: 22 }, () => captured))
  })

  test('with little engine memory, by splitting in half and finally without sorting', async () => {
    await using loaded = await WarehouseFixture.open()
    for (const segment of [0, 1]) {
      await loaded.add(wide({ rows: 700, names: 20_000, perEvent: 500, length: 40, values: 1e6 + segment }))
      await loaded.flush()
    }
    await using stand = await WarehouseFixture.open({ memoryLimit: '95MB' }, loaded.snapshot())
    await stand.compact()
    const levels = stand.manifest.files().map(({ level, keys, orgId }) => [level, keys === null, orgId])
    expect(levels).toContainEqual(['compacted', true, 'org_0'])
    expect(levels.filter(([level]) => level !== 'compacted')).toEqual([])
    expect(await stand.count()).toEqual({ rows: 1400, events: 1400 })
    expect(await stand.count({ orgId: 'org_0' })).toEqual({ rows: 700, events: 700 })
    // Days later, the files are unchanged, and late events are compacted separately.
    await stand.add(some(5, 'org_0'))
    await stand.flush()
    await stand.compact(stand.clock.now() + 3 * DAY_MS)
    await stand.compact(stand.clock.now() + 3 * DAY_MS)
    expect(await stand.count()).toEqual({ rows: 1405, events: 1405 })
    expect(stand.levels().filter((level) => level !== 'compacted')).toEqual([])
  })
})

test('a repeatedly failing merge is reported once, retried with delays, and does not block others', async () => {
  await using loaded = await WarehouseFixture.open()
  await loaded.add(wide({ rows: 700, names: 20_000, perEvent: 500, length: 40, values: 1e6 }))
  await loaded.flush()
  loaded.clock.advance(2 * HOUR_MS)
  await loaded.add(some(3, 'org_9'))
  await loaded.flush()
  // Less memory than one row group of these events requires.
  await using stand = await WarehouseFixture.open({ memoryLimit: '60MB' }, loaded.snapshot())
  const told: string[] = []
  const retries = new MergeRetries()
  const { parquet, manifest, folder } = stand
  const notifyOperator = ({ subject }: { subject: string }) => void told.push(subject)
  const round = (now: number) => compactEvents({ parquet, manifest, folder, retries, notifyOperator }, now)
  const now = stand.clock.now() + HOUR_MS + 3 * MINUTE_MS
  await expect(round(now)).rejects.toThrow('1 merges failed')
  expect([told.length, retries.failing]).toEqual([1, 1])
  expect(manifest.files().map(({ orgId, level }) => [orgId, level])).toEqual([
    [null, 'fresh'],
    ['org_9', 'compacted'],
  ])
  await round(now + MINUTE_MS - 1)
  await expect(round(now + MINUTE_MS)).rejects.toThrow('1 merges failed')
  await round(now + 3 * MINUTE_MS - 1)
  expect([told.length, retries.failing]).toEqual([1, 1])
})

test.each(['merged', 'compacted'] as const)(
  'events with violations are grouped and come first in a %s file',
  async (level) => {
    await using stand = await WarehouseFixture.open()
    for (let n = 0; n < 4; n++) {
      await stand.add([0, 1, 2].map((index) => ({ violations: index === 1 ? [`alr_${n}`] : null })))
      await stand.flush()
    }
    await runMerge(stand.parquet, stand.manifest, stand.folder, { files: [...stand.manifest.files()], level })
    const [file] = stand.manifest.files()
    const rows = await stand.parquet.run<{ violations: string[] | null }>(
      `SELECT violations FROM read_parquet('${join(stand.folder, file?.path ?? '')}') ORDER BY file_row_number`,
    )
    expect(rows.map(({ violations }) => violations !== null)).toEqual([...Array(4).fill(true), ...Array(8).fill(false)])
  },
)

/** Crashes at the point where the manifest would be changed. */
class Dying extends Manifest {
  override swap(): void {
    throw new Error('killed')
  }
}

describe('a crash during a merge', () => {
  test.each(['merged', 'compacted'] as const)(
    'into a %s file, before the manifest is updated, leaves the old files in use',
    async (level) => {
      await using stand = await WarehouseFixture.open()
      for (const orgId of ['org_1', 'org_2']) {
        await stand.add(some(3, orgId))
        await stand.flush()
      }
      const before = pathsOf(stand.manifest)
      const merge = { files: [...stand.manifest.files()], level }
      const dying = runMerge(stand.parquet, new Dying(stand.db), stand.folder, merge)
      expect(dying).rejects.toThrow('killed')
      await dying.catch(() => {})
      expect(parquetIn(stand.folder).length).toBeGreaterThan(2)
      expect(await stand.count()).toEqual({ rows: 6, events: 6 })

      await stand.reopen()
      expect(parquetIn(stand.folder)).toEqual(before)
      expect(await stand.count()).toEqual({ rows: 6, events: 6 })
      await stand.compact()
      expect(await stand.count()).toEqual({ rows: 6, events: 6 })
    },
  )

  test('after the manifest is updated, before the old files are removed: the next start removes them', async () => {
    await using stand = await WarehouseFixture.open()
    for (let n = 0; n < 3; n++) {
      await stand.add(some(2))
      await stand.flush()
    }
    const old = pathsOf(stand.manifest)
    for (const path of old) copyFileSync(join(stand.folder, path), join(stand.folder, `${path}.kept`))
    await stand.compact()
    for (const path of old) copyFileSync(join(stand.folder, `${path}.kept`), join(stand.folder, path))
    expect(await stand.count()).toEqual({ rows: 6, events: 6 })
    await stand.reopen()
    expect(parquetIn(stand.folder)).toEqual(pathsOf(stand.manifest))
    expect(await stand.count()).toEqual({ rows: 6, events: 6 })
  })
})

test('files dropped during their merge do not reappear', async () => {
  await using stand = await WarehouseFixture.open()
  for (let n = 0; n < 2; n++) {
    await stand.add(some(2000))
    await stand.flush()
  }
  const [first, second] = stand.manifest.files()
  if (!first || !second) throw new Error('expected two files')
  const merging = stand.compact()
  stand.manifest.swap([first], [])
  await stand.parquet.remove([join(stand.folder, first.path)])
  await merging
  expect(pathsOf(stand.manifest)).toEqual([second.path])
  expect(await stand.count()).toEqual({ rows: 2000, events: 2000 })
  await stand.compact()
  expect(stand.levels()).toEqual(['compacted'])
  expect(await stand.count()).toEqual({ rows: 2000, events: 2000 })
})
