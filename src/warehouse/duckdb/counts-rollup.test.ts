import { describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { StoredEvent } from '../../core/event.ts'
import { PAGE_VIEWS } from '../../decoders/page-view.ts'
import { COUNT_COLUMNS, MINUTES_MS } from '../relation-columns.ts'
import { type EventFields, HOUR, plainQuery, type QueryScope, WarehouseFixture } from '../warehouse.fixture.ts'
import { runRollupMerge } from './compact-rollups.ts'
import { Manifest } from './manifest.ts'

/** One row of the relation. */
type Count = Record<keyof typeof COUNT_COLUMNS, string | number>

const ofText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const keyOf = ({ orgId, domainId, vendor, event, env }: StoredEvent, minute: number) =>
  JSON.stringify([orgId, domainId, vendor, event, env, minute])
/** Rounded, because weights are added in an arbitrary order. */
const rounded = (count: Count): Count => ({
  ...count,
  weight: Number(Number(count.weight).toFixed(6)),
  pageViews: Number(Number(count.pageViews).toFixed(6)),
})
const inOrder = (counts: Count[]) =>
  counts.map(rounded).sort((a, b) => ofText(JSON.stringify(Object.values(a)), JSON.stringify(Object.values(b))))

/** Expected rows of `counts`, computed from the events themselves. */
function expectedCounts(events: readonly StoredEvent[], { orgId, window }: QueryScope = {}): Count[] {
  const inScope = events.filter(
    (event) =>
      event.kind !== 'library' &&
      (!orgId || event.orgId === orgId) &&
      (!window || (minuteOf(event) >= window.from && minuteOf(event) < window.to)),
  )
  const groups = Map.groupBy(inScope, (event) => keyOf(event, minuteOf(event)))
  const counts = [...groups.values()].flatMap((group): Count[] => {
    const [first] = group
    if (!first) return []
    const { orgId, domainId, vendor, event, env } = first
    const weight = group.reduce((sum, { weight }) => sum + weight, 0)
    const sessions = new Set(group.flatMap(({ sessionId }) => sessionId ?? [])).size
    const isPageView = PAGE_VIEWS.some((name) => name === event.toLowerCase())
    const numbers = { events: group.length, weight, sessions, pageViews: isPageView ? weight : 0 }
    return [{ orgId, domainId, vendor, event, env, minute: minuteOf(first), ...numbers }]
  })
  return inOrder(counts)
}

const minuteOf = ({ receivedAt }: StoredEvent) => Math.floor(receivedAt / MINUTE_MS) * MINUTE_MS
const countsOf = async (fixture: WarehouseFixture, asked: QueryScope = {}) =>
  inOrder(await fixture.query<Count>('SELECT * FROM counts', {}, { ...asked, over: 'counts' }))
const agree = async (fixture: WarehouseFixture, asked: QueryScope = {}) =>
  expect(await countsOf(fixture, asked)).toEqual(expectedCounts(fixture.events, asked))
const levelsOf = ({ manifest }: WarehouseFixture) => manifest.rollups().map(({ level }) => level)
const filesIn = (fixture: WarehouseFixture) =>
  readdirSync(join(fixture.folder, 'counts'))
    .map((name) => `counts/${name}`)
    .toSorted()
const pathsOf = ({ manifest }: WarehouseFixture) =>
  manifest
    .rollups()
    .map(({ path }) => path)
    .toSorted()

const aCounted: fc.Arbitrary<EventFields> = fc.record({
  orgId: fc.constantFrom('org_1', "org_'2"),
  domainId: fc.constantFrom('dom_1', 'dom_2'),
  vendor: fc.constantFrom('Google Analytics 4', "it's", ''),
  event: fc.constantFrom('purchase', 'page_view', 'PageView', 'page_views', ''),
  env: fc.constantFrom('prod', 'dev'),
  kind: fc.constantFrom('event', 'hit', 'tag', 'library'),
  sessionId: fc.constantFrom(null, '', 'a', 'b', 'c'),
  weight: fc.constantFrom(1, 4, 1 / 0.3),
})

type Step =
  | { do: 'add'; events: EventFields[] }
  | { do: 'wait'; ms: number }
  | { do: 'flush' | 'compact' | 'rest' | 'crash' | 'killed loading' | 'killed merging' }

const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      events: fc.array(aCounted, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(10_000, MINUTE_MS, 25 * MINUTE_MS, 7 * HOUR_MS, DAY_MS),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('flush', 'flush', 'compact', 'rest', 'rest', 'crash', 'killed loading', 'killed merging'),
    }),
  },
)

/** Crashes when the manifest would be changed. */
class Dying extends Manifest {
  override addSegment(): void {
    throw new Error('killed')
  }
  override swapRollups(): void {
    throw new Error('killed')
  }
}

async function carryOut(fixture: WarehouseFixture, step: Step): Promise<void> {
  if (step.do === 'add') await fixture.add(step.events)
  else if (step.do === 'wait') fixture.clock.advance(step.ms)
  else if (step.do === 'flush') await fixture.flush()
  else if (step.do === 'compact') await fixture.compactCounts()
  else if (step.do === 'rest') {
    await fixture.flush()
    fixture.clock.advance(HOUR_MS + 2 * MINUTE_MS)
    await fixture.compactCounts()
  } else if (step.do === 'crash') await fixture.reopen()
  else await dieIn(fixture, step.do)
}

/**
 * Kills the fixture just before the manifest is changed. The manifest is changed last, so everything else is already on
 * disk.
 */
async function dieIn(fixture: WarehouseFixture, what: 'killed loading' | 'killed merging'): Promise<void> {
  const { addSegment, swapRollups } = Dying.prototype
  Object.assign(fixture.manifest, { addSegment, swapRollups })
  const work = what === 'killed loading' ? fixture.flush() : fixture.compactCounts()
  const deaths = (error: Error) => (error instanceof AggregateError ? error.errors.map(({ cause }) => cause) : [error])
  await work.catch((error: Error) => expect(deaths(error).filter(({ message }) => message !== 'killed')).toEqual([]))
  await agree(fixture)
  await fixture.reopen()
}

describe('counts', () => {
  test('match the events, regardless of where the events are stored and after any crash', async () => {
    const reached = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { minLength: 4, maxLength: 16 }), async (steps) => {
        await using fixture = await WarehouseFixture.open()
        for (const step of steps) {
          await carryOut(fixture, step)
          await agree(fixture)
          for (const level of levelsOf(fixture)) reached.add(level)
        }
        await fixture.flush()
        fixture.clock.advance(DAY_MS + HOUR_MS)
        await fixture.compactCounts()
        await agree(fixture)
        for (const level of levelsOf(fixture)) reached.add(level)
        expect(levelsOf(fixture).every((level) => level === 'day')).toBe(true)
        expect(filesIn(fixture)).toEqual(pathsOf(fixture))
      }),
      { numRuns: 25 },
    )
    expect([...reached].toSorted()).toEqual(['day', 'fresh', 'hour'])
  })

  test('for a window cover its whole minutes for one organization, across files', async () => {
    await using fixture = await WarehouseFixture.open()
    const random = fc.sample(aCounted, { numRuns: 60, seed: 7 })
    for (const [index, event] of random.entries()) {
      await fixture.add([event])
      fixture.clock.advance(37 * MINUTE_MS + 11_000)
      if (index % 3 === 0) await fixture.flush()
      if (index % 10 === 9 && index < 50) await fixture.compactCounts()
    }
    expect(new Set(levelsOf(fixture))).toEqual(new Set(['day', 'hour', 'fresh']))
    const offsets = [0, 1, 59_999, MINUTE_MS, HOUR_MS, 12 * HOUR_MS, 12 * HOUR_MS - 1, DAY_MS, 30 * HOUR_MS + MINUTE_MS]
    for (const from of offsets) {
      for (const lengthMs of [1, MINUTE_MS, HOUR_MS, 7 * HOUR_MS + 1, DAY_MS]) {
        const window = { from: HOUR + from, to: HOUR + from + lengthMs }
        await agree(fixture, { window })
        await agree(fixture, { window, orgId: 'org_1' })
      }
    }
    await agree(fixture, { orgId: "org_'2" })
    expect(await countsOf(fixture, { orgId: 'org_3' })).toEqual([])
  })

  test('are empty without events, and have the same columns', async () => {
    await using fixture = await WarehouseFixture.open()
    const columns = async () =>
      (
        await fixture.query<{ column_name: string; column_type: string }>(
          'SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM counts)',
          {},
          { over: 'counts' },
        )
      ).map(({ column_name, column_type }) => [column_name, column_type])
    expect(await columns()).toEqual(Object.entries(COUNT_COLUMNS))
    await fixture.add([{ kind: 'library' }])
    expect([await columns(), await countsOf(fixture)]).toEqual([Object.entries(COUNT_COLUMNS), []])
    await fixture.flush()
    expect([fixture.manifest.rollups(), filesIn(fixture)]).toEqual([[], []])
    await fixture.add([{}])
    expect(await columns()).toEqual(Object.entries(COUNT_COLUMNS))
    await fixture.flush()
    expect(await columns()).toEqual(Object.entries(COUNT_COLUMNS))
  })

  test('are read without reading events', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add([{}, {}])
    await fixture.flush()
    const [file] = fixture.manifest.files()
    await fixture.parquet.remove([join(fixture.folder, file?.path ?? '')])
    await agree(fixture)
  })

  test('recognize page views by name, regardless of case', async () => {
    await using fixture = await WarehouseFixture.open()
    const names = PAGE_VIEWS.flatMap((name) => [name, name.toUpperCase()])
    await fixture.add(
      names.flatMap((event) => [
        { event, weight: 2.5 },
        { event: `${event}s`, weight: 8 },
      ]),
    )
    const sql = 'SELECT event, pageViews FROM counts WHERE pageViews > 0'
    const views = await fixture.query<{ event: string }>(sql, {}, { over: 'counts' })
    expect(views.toSorted((a, b) => ofText(a.event, b.event))).toEqual(
      names.toSorted().map((event) => ({ event, pageViews: 2.5 })),
    )
  })
})

describe('count files', () => {
  const minutes = async (fixture: WarehouseFixture, count: number) => {
    for (let n = 0; n < count; n++) {
      await fixture.add([{ sessionId: `s${n % 3}` }, { orgId: 'org_2', sessionId: 's' }])
      await fixture.flush()
      fixture.clock.advance(10_000)
    }
  }

  test('are merged in groups of sixteen in the current hour, then per hour, then per organization', async () => {
    await using fixture = await WarehouseFixture.open()
    await minutes(fixture, 17)
    await fixture.compactCounts()
    expect(levelsOf(fixture).toSorted()).toEqual(['fresh', 'merged'])
    await agree(fixture)
    fixture.clock.set(HOUR + HOUR_MS + 2 * MINUTE_MS - 1)
    await fixture.compactCounts()
    expect(levelsOf(fixture)).toHaveLength(2)
    fixture.clock.advance(1)
    await fixture.compactCounts()
    expect(levelsOf(fixture)).toEqual(['hour'])
    await agree(fixture)
    await minutes(fixture, 2)
    fixture.clock.set(HOUR + DAY_MS)
    await fixture.compactCounts()
    expect(levelsOf(fixture)).toEqual(['day', 'day'])
    expect(fixture.manifest.rollups().map(({ orgId }) => orgId)).toEqual(['org_1', 'org_2'])
    await agree(fixture)
    expect(filesIn(fixture)).toEqual(pathsOf(fixture))
    const before = fixture.manifest.rollups()
    await fixture.compactCounts()
    expect(fixture.manifest.rollups()).toBe(before)
  })

  test('for an hour are merged only after all of its events are loaded', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add([{ sessionId: 'a' }])
    await fixture.flush()
    await fixture.add([{ sessionId: 'a' }])
    fixture.clock.advance(2 * HOUR_MS)
    await fixture.compactCounts()
    expect(levelsOf(fixture)).toEqual(['fresh'])
    await fixture.flush()
    await fixture.compactCounts()
    expect(levelsOf(fixture)).toEqual(['hour'])
    expect(await countsOf(fixture)).toMatchObject([{ events: 2, sessions: 1 }])
  })

  test('for days include late events', async () => {
    await using fixture = await WarehouseFixture.open()
    const late = async () => {
      await fixture.add([{ event: 'late' }])
      await fixture.flush()
    }
    await late()
    await fixture.compactCounts(HOUR + 2 * DAY_MS)
    await late()
    await fixture.compactCounts(HOUR + 2 * DAY_MS)
    expect(levelsOf(fixture)).toEqual(['day'])
    await fixture.compactCounts(HOUR + MINUTES_MS + 2 * DAY_MS)
    expect(levelsOf(fixture)).toEqual(['quarters'])
    await late()
    await fixture.compactCounts(HOUR + MINUTES_MS + 2 * DAY_MS)
    await fixture.compactCounts(HOUR + MINUTES_MS + 2 * DAY_MS)
    expect(levelsOf(fixture)).toEqual(['quarters', 'quarters'])
    expect(await fixture.query('SELECT sum(events) AS n FROM counts', {}, { over: 'counts' })).toEqual([{ n: 3 }])
  })

  test('older than 70 days are aggregated by quarter-hour, with the same sums', async () => {
    await using fixture = await WarehouseFixture.open()
    for (const event of fc.sample(aCounted, { numRuns: 80, seed: 3 })) {
      await fixture.add([event])
      fixture.clock.advance(4 * MINUTE_MS)
    }
    await fixture.flush()
    const day = Math.floor(HOUR / DAY_MS) * DAY_MS
    const sums = (window: QueryScope['window']) =>
      fixture
        .query<Count>(
          `SELECT orgId, domainId, vendor, event, env, 0 AS minute, sum(events) AS events, sum(weight) AS weight,
             sum(sessions) AS sessions, sum(pageViews) AS pageViews FROM counts GROUP BY ALL`,
          {},
          { over: 'counts', ...(window && { window }) },
        )
        .then(inOrder)
    const quarter = 15 * MINUTE_MS
    const windows = [
      { from: day, to: day + 2 * DAY_MS },
      { from: HOUR + quarter, to: HOUR + 2 * quarter },
      { from: HOUR - quarter, to: HOUR + 3 * HOUR_MS + quarter },
    ]
    const before = await Promise.all(windows.map(sums))
    await fixture.compactCounts(day + DAY_MS + MINUTES_MS - 1)
    expect(new Set(levelsOf(fixture))).toEqual(new Set(['day']))
    await fixture.compactCounts(day + DAY_MS + MINUTES_MS)
    expect(new Set(levelsOf(fixture))).toEqual(new Set(['quarters']))
    expect(await Promise.all(windows.map(sums))).toEqual(before)
    expect((await countsOf(fixture)).every(({ minute }) => Number(minute) % quarter === 0)).toBe(true)
    const rows = fixture.manifest.rollups()
    await fixture.compactCounts(day + MINUTES_MS + 20 * DAY_MS)
    expect(fixture.manifest.rollups()).toBe(rows)
  })

  test('for days are also written by the hour, and hourly files are read when whole hours are requested', async () => {
    await using fixture = await WarehouseFixture.open()
    const day = Math.ceil(HOUR / DAY_MS) * DAY_MS
    fixture.clock.set(day)
    for (let hour = 0; hour < 5; hour++) {
      const names = Array.from({ length: 300 }, (_, n) => ({ event: `e${n}`, domainId: `dom_${n % 3}`, weight: n / 4 }))
      await fixture.add([...names, ...names.slice(0, 9).map((said) => ({ ...said, orgId: 'org_2' }))])
      await fixture.flush()
      fixture.clock.advance(HOUR_MS + 7 * MINUTE_MS)
    }
    const sums = async (stepMs: number, window: QueryScope['window'] = { from: day, to: day + 2 * DAY_MS }) => {
      const sql = `SELECT orgId, domainId, event, minute // ${HOUR_MS} AS hour, sum(events) AS events, sum(weight) AS weight,
        count(*) AS rows FROM counts GROUP BY ALL ORDER BY ALL`
      const rows = await fixture.warehouse.query<{ rows: number }>(plainQuery({ over: 'counts', sql, window, stepMs }))
      return { answers: rows.map(({ rows, ...row }) => row), read: rows.reduce((sum, { rows }) => sum + rows, 0) }
    }
    const hours = () => fixture.manifest.rollups().filter(({ level }) => level === 'hours')
    const half = { from: day + HOUR_MS, to: day + 3 * HOUR_MS }
    fixture.clock.set(day + DAY_MS + HOUR_MS)
    const before = [(await sums(MINUTE_MS)).answers, (await sums(MINUTE_MS, half)).answers]
    await fixture.compactCounts()
    expect(hours()).toEqual([])
    await fixture.compactCounts()
    // The second organization has too few counts.
    expect(hours().map(({ orgId, rows }) => [orgId, rows])).toEqual([['org_1', 1500]])
    expect([(await sums(HOUR_MS)).answers, (await sums(HOUR_MS, half)).answers]).toEqual(before)
    await agree(fixture)
    const [first] = hours()
    const planned = fixture.manifest.rollups()
    await fixture.compactCounts()
    expect(fixture.manifest.rollups()).toBe(planned)

    // Hourly counts survive a restart. Counts are not doubled when a file is marked as damaged and restored.
    await fixture.reopen()
    expect(hours().map(({ path }) => path)).toEqual([first?.path ?? ''])
    const days = fixture.manifest.rollups().filter(({ level, orgId }) => level === 'day' && orgId === 'org_1')
    fixture.manifest.markDamaged(days[0]?.path ?? '', fixture.clock.now())
    expect((await sums(HOUR_MS)).answers).toEqual((await sums(MINUTE_MS)).answers)
    fixture.manifest.restore(days[0]?.path ?? '')
    expect((await sums(HOUR_MS)).answers).toEqual(before[0] ?? [])

    // Late counts are in every result, both before and after they are merged into their day.
    const { path = '' } = days[0] ?? {}
    const [lateFile] = fixture.manifest.rollups().filter((file) => file.path === path)
    if (!lateFile) throw new Error('expected a day')
    const extra = { ...lateFile, path: 'counts/di0-0000000000000000.parquet' }
    copyFileSync(join(fixture.folder, path), join(fixture.folder, extra.path))
    fixture.manifest.swapRollups([], [extra])
    const doubled = (await sums(MINUTE_MS)).answers
    expect(doubled).not.toEqual(before[0] ?? [])
    expect((await sums(HOUR_MS)).answers).toEqual(doubled)
    await fixture.compactCounts()
    expect(hours().map(({ path }) => path)).not.toEqual([first?.path ?? ''])
    expect((await sums(HOUR_MS)).answers).toEqual(doubled)
    expect(filesIn(fixture)).toEqual(pathsOf(fixture))

    // Later, quarter-hours replace minutes and have their own hourly counts.
    await fixture.compactCounts(day + DAY_MS + MINUTES_MS)
    await fixture.compactCounts(day + DAY_MS + MINUTES_MS)
    expect(new Set(levelsOf(fixture))).toEqual(new Set(['quarters', 'hours']))
    expect((await sums(HOUR_MS)).answers).toEqual(doubled)
  })

  test('by the hour that an interrupted merge left behind are removed by the next start', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add(Array.from({ length: 1000 }, (_, n) => ({ event: `e${n}` })))
    await fixture.flush()
    fixture.clock.advance(2 * DAY_MS)
    await fixture.compactCounts()
    await dieIn(fixture, 'killed merging')
    expect(filesIn(fixture)).toEqual(pathsOf(fixture))
    expect(levelsOf(fixture)).toEqual(['day'])
    await fixture.compactCounts()
    expect(new Set(levelsOf(fixture))).toEqual(new Set(['day', 'hours']))
    await agree(fixture)
  })

  test('have accurate manifest entries', async () => {
    await using fixture = await WarehouseFixture.open()
    for (const event of fc.sample(aCounted, { numRuns: 40, seed: 5 })) {
      await fixture.add([event])
      await fixture.flush()
      fixture.clock.advance(41 * MINUTE_MS)
      await fixture.compactCounts()
    }
    expect(new Set(levelsOf(fixture)).size).toBeGreaterThan(1)
    for (const { path, orgId, minMinute, maxMinute, rows } of fixture.manifest.rollups()) {
      const [found] = await fixture.parquet.run<{ rows: number; first: Instant; last: Instant; orgId: string | null }>(
        `SELECT count(*) AS rows, min(minute) AS first, max(minute) AS last,
           CASE WHEN count(DISTINCT orgId) = 1 THEN min(orgId) END AS orgId
         FROM read_parquet('${join(fixture.folder, path)}')`,
      )
      expect(found).toEqual({ rows, first: minMinute, last: maxMinute, orgId })
    }
  })

  test('that are not in the manifest remain, but are not read', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add([{}])
    await fixture.flush()
    const [known = ''] = filesIn(fixture)
    copyFileSync(join(fixture.folder, known), join(fixture.folder, 'counts', '000000009999.parquet'))
    copyFileSync(join(fixture.folder, known), join(fixture.folder, 'tmp', 'counts-h-1.parquet'))
    await fixture.reopen()
    expect(filesIn(fixture)).toEqual([known, 'counts/000000009999.parquet'])
    expect(readdirSync(join(fixture.folder, 'tmp')).filter((name) => name.endsWith('.parquet'))).toEqual([])
    await agree(fixture)
  })

  test('dropped during their merge do not reappear', async () => {
    await using fixture = await WarehouseFixture.open()
    await minutes(fixture, 2)
    const [first] = fixture.manifest.rollups()
    if (!first) throw new Error('expected a file')
    const merge = { files: [...fixture.manifest.rollups()], level: 'hour' as const }
    const merging = runRollupMerge(fixture.parquet, fixture.manifest, fixture.folder, merge)
    fixture.manifest.swapRollups([first], [])
    await merging
    expect(levelsOf(fixture)).toEqual(['fresh'])
    expect(filesIn(fixture).filter((path) => path !== first.path)).toEqual(pathsOf(fixture))
  })
})

test('every event is counted exactly once at all times', async () => {
  await using fixture = await WarehouseFixture.open()
  let known = 0
  let over = false
  const movers = (async () => {
    for (let round = 0; round < 12; round++) {
      for (let n = 0; n < 3; n++) {
        await fixture.add(Array.from({ length: 20 }, () => ({ orgId: `org_${n}` })))
        known = fixture.events.length
      }
      await fixture.flush()
      if (round % 4 === 3) fixture.clock.advance(HOUR_MS + 3 * MINUTE_MS)
      await fixture.compactCounts()
    }
    over = true
  })()
  let looks = 0
  while (!over) {
    const before = known
    const rows = await fixture.query<{ n: number | null }>(
      'SELECT sum(events) AS n FROM counts',
      {},
      { over: 'counts' },
    )
    const n = rows[0]?.n ?? 0
    expect(n).toBeGreaterThanOrEqual(before)
    expect(n).toBeLessThanOrEqual(fixture.events.length)
    looks++
  }
  await movers
  await agree(fixture)
  expect(looks).toBeGreaterThan(5)
})
