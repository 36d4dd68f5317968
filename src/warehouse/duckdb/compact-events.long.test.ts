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
    await using fixture = await WarehouseFixture.open()
    const names = ['b', 'a', 'c']
    for (let n = 0; n < 6; n++) {
      const event = {
        domainId: `dom_${names[n % 3]}`,
        vendor: names[(n + 1) % 3] ?? '',
        event: names[(n + 2) % 3] ?? '',
      }
      await fixture.add([
        { ...event, orgId: 'org_1' },
        { ...event, orgId: 'org_2' },
      ])
      fixture.clock.advance(HOUR_MS / 4)
      await fixture.flush()
    }
    await fixture.compact()
    expect(fixture.manifest.files().map(({ orgId, hour, rows }) => [orgId, (hour - HOUR) / HOUR_MS, rows])).toEqual([
      ['org_1', 0, 4],
      ['org_2', 0, 4],
      ['org_1', 1, 2],
      ['org_2', 1, 2],
    ])
    expect(parquetIn(fixture.folder)).toEqual(pathsOf(fixture.manifest))
    for (const { path, sizeBytes } of fixture.manifest.files()) {
      const rows = await fixture.parquet.run<Record<string, string>>(
        `SELECT domainId, vendor, event FROM read_parquet('${join(fixture.folder, path)}')`,
      )
      const places = rows.map(({ domainId, vendor, event }) => `${domainId} ${vendor} ${event}`)
      expect(places).toEqual(places.toSorted())
      expect(sizeBytes).toBeGreaterThan(0)
    }
  })

  test('has enough memory for the maximum number of parameter columns, and for joining hours with that many columns', async () => {
    await using fixture = await WarehouseFixture.open()
    const params = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`key${n}`, `value ${n}`]))
    const events = Array.from({ length: 60 }, () => ({ params }))
    for (let hour = 0; hour < 2; hour++) {
      await fixture.add(events)
      await fixture.flush()
      fixture.clock.advance(HOUR_MS)
    }
    await fixture.compact()
    expect(fixture.manifest.files().map(({ keys }) => keys?.length)).toEqual([256, 256])
    fixture.clock.advance(DAY_MS)
    await fixture.compact()
    expect(fixture.manifest.files().map(({ keys, rows }) => [keys?.length, rows])).toEqual([[256, 120]])
  })

  test('keeps the manifest entry of a file accurate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anEvent, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 }),
        async (batches) => {
          await using fixture = await WarehouseFixture.open()
          for (const batch of batches) {
            await fixture.add(batch)
            fixture.clock.advance(25 * MINUTE_MS)
            await fixture.flush()
          }
          await fixture.compact()
          await fixture.add(batches[0] ?? [])
          await fixture.flush()
          for (const { path, orgId, hour, minReceivedAt, maxReceivedAt, maxSeq, rows } of fixture.manifest.files()) {
            const [found] = await fixture.parquet.run<Record<string, number | string | null>>(
              `SELECT min(receivedAt) AS minReceivedAt, max(receivedAt) AS maxReceivedAt, max(seq) AS maxSeq, count(*) AS rows,
               CASE WHEN count(DISTINCT orgId) = 1 THEN min(orgId) END AS orgId
             FROM read_parquet('${join(fixture.folder, path)}')`,
            )
            expect(found ?? {}).toEqual({ minReceivedAt, maxReceivedAt, maxSeq, rows, orgId })
            expect(hour).toBe(Math.floor(minReceivedAt / HOUR_MS) * HOUR_MS)
          }
          expect(fixture.manifest.lastSeq()).toBe(fixture.events.at(-1)?.seq ?? 0)
          expect(fixture.manifest.lastReceivedAt()).toBe(fixture.events.at(-1)?.receivedAt ?? 0)
        },
      ),
      { numRuns: 10 },
    )
  })

  test('includes late events', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add(some(3))
    await fixture.flush()
    await fixture.compact()
    await fixture.add(some(2))
    await fixture.flush()
    expect(fixture.levels().toSorted()).toEqual(['compacted', 'fresh'])
    await fixture.compact()
    expect(fixture.levels()).toEqual(['compacted'])
    expect(await fixture.count()).toEqual({ rows: 5, events: 5 })
    expect(parquetIn(fixture.folder)).toEqual(pathsOf(fixture.manifest))
  })
})

/** Events with `perEvent` parameters each, chosen from `names` different names. There are `values` different values. */
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

/** Maximum number of characters of JSON per case, because the engine has only 200 MB of memory and CI a few minutes. */
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
    await using fixture = await WarehouseFixture.open()
    for (const segment of segments) {
      await fixture.add(segment)
      await fixture.flush()
    }
    const { events } = fixture
    const now = fixture.clock.now() + HOUR_MS + 3 * MINUTE_MS
    await fixture.compact(now)
    expect(fixture.levels().every((level) => level === 'compacted')).toBe(true)
    expect(planMerges(fixture.manifest.files(), now)).toEqual([])
    expect(await fixture.count()).toEqual({ rows: events.length, events: events.length })
    expect(parquetIn(fixture.folder)).toEqual(pathsOf(fixture.manifest))
    // Checks only the first and the last event, because reading all maps of the widest events takes longer than
    // everything else.
    const [last] = events.slice(-1)
    for (const event of [events[0], last].filter((event) => event !== undefined)) {
      const [found] = await fixture.query<{ params: Record<string, string> }>(
        `SELECT params FROM events WHERE seq = ${event.seq}`,
        {},
        { wholeParams: true },
      )
      expect(found?.params).toEqual(event.params)
    }
  }

  test('for any number of columns, event sizes and values', async () => {
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
    ['for long strings that compress well', { rows: 4000, names: 200, perEvent: 20, length: 600, values: 50 }, 2],
    ['for a few very large events', { rows: 60, names: 500, perEvent: 500, length: 300, values: 1 }, 2],
  ])('%s', async (_, width, segments) => {
    await expectCompacted(Array.from({ length: segments }, () => wide(width)))
  })

  test.skipIf(capturesFolder === null)('for repeated real captures', async () => {
    const captured = capturedEvents(capturesFolder ?? '', { id: 'dom_1', orgId: 'org_1' })
    await expectCompacted(Array.from({ length: 22 }, () => captured))
  })

  test('with little engine memory, by splitting merges in half and finally without sorting', async () => {
    await using loaded = await WarehouseFixture.open()
    for (const segment of [0, 1]) {
      await loaded.add(wide({ rows: 700, names: 20_000, perEvent: 500, length: 40, values: 1e6 + segment }))
      await loaded.flush()
    }
    await using fixture = await WarehouseFixture.open({ memoryLimit: '95MB' }, loaded.snapshot())
    await fixture.compact()
    const levels = fixture.manifest.files().map(({ level, keys, orgId }) => [level, keys === null, orgId])
    expect(levels).toContainEqual(['compacted', true, 'org_0'])
    expect(levels.filter(([level]) => level !== 'compacted')).toEqual([])
    expect(await fixture.count()).toEqual({ rows: 1400, events: 1400 })
    expect(await fixture.count({ orgId: 'org_0' })).toEqual({ rows: 700, events: 700 })
    // Three days later, the files are unchanged, and late events are compacted separately.
    await fixture.add(some(5, 'org_0'))
    await fixture.flush()
    await fixture.compact(fixture.clock.now() + 3 * DAY_MS)
    await fixture.compact(fixture.clock.now() + 3 * DAY_MS)
    expect(await fixture.count()).toEqual({ rows: 1405, events: 1405 })
    expect(fixture.levels().filter((level) => level !== 'compacted')).toEqual([])
  })
})

test('a repeatedly failing merge is reported once, retried with delays, and does not block other merges', async () => {
  await using loaded = await WarehouseFixture.open()
  await loaded.add(wide({ rows: 700, names: 20_000, perEvent: 500, length: 40, values: 1e6 }))
  await loaded.flush()
  loaded.clock.advance(2 * HOUR_MS)
  await loaded.add(some(3, 'org_9'))
  await loaded.flush()
  // Less memory than one row group of these events requires.
  await using fixture = await WarehouseFixture.open({ memoryLimit: '60MB' }, loaded.snapshot())
  const told: string[] = []
  const retries = new MergeRetries()
  const { parquet, manifest, folder } = fixture
  const notifyOperator = ({ subject }: { subject: string }) => void told.push(subject)
  const round = (now: number) => compactEvents({ parquet, manifest, folder, retries, notifyOperator }, now)
  const now = fixture.clock.now() + HOUR_MS + 3 * MINUTE_MS
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
    await using fixture = await WarehouseFixture.open()
    for (let n = 0; n < 4; n++) {
      await fixture.add([0, 1, 2].map((index) => ({ violations: index === 1 ? [`alr_${n}`] : null })))
      await fixture.flush()
    }
    await runMerge(fixture.parquet, fixture.manifest, fixture.folder, { files: [...fixture.manifest.files()], level })
    const [file] = fixture.manifest.files()
    const rows = await fixture.parquet.run<{ violations: string[] | null }>(
      `SELECT violations FROM read_parquet('${join(fixture.folder, file?.path ?? '')}') ORDER BY file_row_number`,
    )
    expect(rows.map(({ violations }) => violations !== null)).toEqual([...Array(4).fill(true), ...Array(8).fill(false)])
  },
)

/** Crashes when the manifest would be changed. */
class Dying extends Manifest {
  override swap(): void {
    throw new Error('killed')
  }
}

describe('a crash during a merge', () => {
  test.each(['merged', 'compacted'] as const)(
    'into a %s file, before the manifest is updated, leaves the old files in use',
    async (level) => {
      await using fixture = await WarehouseFixture.open()
      for (const orgId of ['org_1', 'org_2']) {
        await fixture.add(some(3, orgId))
        await fixture.flush()
      }
      const before = pathsOf(fixture.manifest)
      const merge = { files: [...fixture.manifest.files()], level }
      const dying = runMerge(fixture.parquet, new Dying(fixture.db), fixture.folder, merge)
      expect(dying).rejects.toThrow('killed')
      await dying.catch(() => {})
      expect(parquetIn(fixture.folder).length).toBeGreaterThan(2)
      expect(await fixture.count()).toEqual({ rows: 6, events: 6 })

      await fixture.reopen()
      expect(parquetIn(fixture.folder)).toEqual(before)
      expect(await fixture.count()).toEqual({ rows: 6, events: 6 })
      await fixture.compact()
      expect(await fixture.count()).toEqual({ rows: 6, events: 6 })
    },
  )

  test('after the manifest is updated but before the old files are removed: the next start removes these files', async () => {
    await using fixture = await WarehouseFixture.open()
    for (let n = 0; n < 3; n++) {
      await fixture.add(some(2))
      await fixture.flush()
    }
    const old = pathsOf(fixture.manifest)
    for (const path of old) copyFileSync(join(fixture.folder, path), join(fixture.folder, `${path}.kept`))
    await fixture.compact()
    for (const path of old) copyFileSync(join(fixture.folder, `${path}.kept`), join(fixture.folder, path))
    expect(await fixture.count()).toEqual({ rows: 6, events: 6 })
    await fixture.reopen()
    expect(parquetIn(fixture.folder)).toEqual(pathsOf(fixture.manifest))
    expect(await fixture.count()).toEqual({ rows: 6, events: 6 })
  })
})

test('files dropped during their merge do not reappear', async () => {
  await using fixture = await WarehouseFixture.open()
  for (let n = 0; n < 2; n++) {
    await fixture.add(some(2000))
    await fixture.flush()
  }
  const [first, second] = fixture.manifest.files()
  if (!first || !second) throw new Error('expected two files')
  const merging = fixture.compact()
  fixture.manifest.swap([first], [])
  await fixture.parquet.remove([join(fixture.folder, first.path)])
  await merging
  expect(pathsOf(fixture.manifest)).toEqual([second.path])
  expect(await fixture.count()).toEqual({ rows: 2000, events: 2000 })
  await fixture.compact()
  expect(fixture.levels()).toEqual(['compacted'])
  expect(await fixture.count()).toEqual({ rows: 2000, events: 2000 })
})
