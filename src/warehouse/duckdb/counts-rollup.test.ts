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
const countsOf = async (stand: WarehouseFixture, asked: QueryScope = {}) =>
  inOrder(await stand.query<Count>('SELECT * FROM counts', {}, { ...asked, over: 'counts' }))
const agree = async (stand: WarehouseFixture, asked: QueryScope = {}) =>
  expect(await countsOf(stand, asked)).toEqual(expectedCounts(stand.events, asked))
const levelsOf = ({ manifest }: WarehouseFixture) => manifest.rollups().map(({ level }) => level)
const filesIn = (stand: WarehouseFixture) =>
  readdirSync(join(stand.folder, 'counts'))
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

/** Crashes at the point where the manifest would be changed. */
class Dying extends Manifest {
  override addSegment(): void {
    throw new Error('killed')
  }
  override swapRollups(): void {
    throw new Error('killed')
  }
}

async function carryOut(stand: WarehouseFixture, step: Step): Promise<void> {
  if (step.do === 'add') await stand.add(step.events)
  else if (step.do === 'wait') stand.clock.advance(step.ms)
  else if (step.do === 'flush') await stand.flush()
  else if (step.do === 'compact') await stand.compactCounts()
  else if (step.do === 'rest') {
    await stand.flush()
    stand.clock.advance(HOUR_MS + 2 * MINUTE_MS)
    await stand.compactCounts()
  } else if (step.do === 'crash') await stand.reopen()
  else await dieIn(stand, step.do)
}

/** The manifest is changed last, so everything else is already on disk. */
async function dieIn(stand: WarehouseFixture, what: 'killed loading' | 'killed merging'): Promise<void> {
  const { addSegment, swapRollups } = Dying.prototype
  Object.assign(stand.manifest, { addSegment, swapRollups })
  const work = what === 'killed loading' ? stand.flush() : stand.compactCounts()
  const deaths = (error: Error) => (error instanceof AggregateError ? error.errors.map(({ cause }) => cause) : [error])
  await work.catch((error: Error) => expect(deaths(error).filter(({ message }) => message !== 'killed')).toEqual([]))
  await agree(stand)
  await stand.reopen()
}

describe('counts', () => {
  test('equal those of the events, wherever the events are stored and after any crash', async () => {
    const reached = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { minLength: 4, maxLength: 16 }), async (steps) => {
        await using stand = await WarehouseFixture.open()
        for (const step of steps) {
          await carryOut(stand, step)
          await agree(stand)
          for (const level of levelsOf(stand)) reached.add(level)
        }
        await stand.flush()
        stand.clock.advance(DAY_MS + HOUR_MS)
        await stand.compactCounts()
        await agree(stand)
        for (const level of levelsOf(stand)) reached.add(level)
        expect(levelsOf(stand).every((level) => level === 'day')).toBe(true)
        expect(filesIn(stand)).toEqual(pathsOf(stand))
      }),
      { numRuns: 25 },
    )
    expect([...reached].toSorted()).toEqual(['day', 'fresh', 'hour'])
  })

  test('for a window cover its whole minutes for the organization, across files', async () => {
    await using stand = await WarehouseFixture.open()
    const random = fc.sample(aCounted, { numRuns: 60, seed: 7 })
    for (const [index, event] of random.entries()) {
      await stand.add([event])
      stand.clock.advance(37 * MINUTE_MS + 11_000)
      if (index % 3 === 0) await stand.flush()
      if (index % 10 === 9 && index < 50) await stand.compactCounts()
    }
    expect(new Set(levelsOf(stand))).toEqual(new Set(['day', 'hour', 'fresh']))
    const offsets = [0, 1, 59_999, MINUTE_MS, HOUR_MS, 12 * HOUR_MS, 12 * HOUR_MS - 1, DAY_MS, 30 * HOUR_MS + MINUTE_MS]
    for (const from of offsets) {
      for (const lengthMs of [1, MINUTE_MS, HOUR_MS, 7 * HOUR_MS + 1, DAY_MS]) {
        const window = { from: HOUR + from, to: HOUR + from + lengthMs }
        await agree(stand, { window })
        await agree(stand, { window, orgId: 'org_1' })
      }
    }
    await agree(stand, { orgId: "org_'2" })
    expect(await countsOf(stand, { orgId: 'org_3' })).toEqual([])
  })

  test('without events are empty, with the same columns', async () => {
    await using stand = await WarehouseFixture.open()
    const columns = async () =>
      (
        await stand.query<{ column_name: string; column_type: string }>(
          'SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM counts)',
          {},
          { over: 'counts' },
        )
      ).map(({ column_name, column_type }) => [column_name, column_type])
    expect(await columns()).toEqual(Object.entries(COUNT_COLUMNS))
    await stand.add([{ kind: 'library' }])
    expect([await columns(), await countsOf(stand)]).toEqual([Object.entries(COUNT_COLUMNS), []])
    await stand.flush()
    expect([stand.manifest.rollups(), filesIn(stand)]).toEqual([[], []])
    await stand.add([{}])
    expect(await columns()).toEqual(Object.entries(COUNT_COLUMNS))
    await stand.flush()
    expect(await columns()).toEqual(Object.entries(COUNT_COLUMNS))
  })

  test('are read without reading events', async () => {
    await using stand = await WarehouseFixture.open()
    await stand.add([{}, {}])
    await stand.flush()
    const [file] = stand.manifest.files()
    await stand.parquet.remove([join(stand.folder, file?.path ?? '')])
    await agree(stand)
  })

  test('recognise page views by name, regardless of case', async () => {
    await using stand = await WarehouseFixture.open()
    const names = PAGE_VIEWS.flatMap((name) => [name, name.toUpperCase()])
    await stand.add(
      names.flatMap((event) => [
        { event, weight: 2.5 },
        { event: `${event}s`, weight: 8 },
      ]),
    )
    const sql = 'SELECT event, pageViews FROM counts WHERE pageViews > 0'
    const views = await stand.query<{ event: string }>(sql, {}, { over: 'counts' })
    expect(views.toSorted((a, b) => ofText(a.event, b.event))).toEqual(
      names.toSorted().map((event) => ({ event, pageViews: 2.5 })),
    )
  })
})

describe('count files', () => {
  const minutes = async (stand: WarehouseFixture, count: number) => {
    for (let n = 0; n < count; n++) {
      await stand.add([{ sessionId: `s${n % 3}` }, { orgId: 'org_2', sessionId: 's' }])
      await stand.flush()
      stand.clock.advance(10_000)
    }
  }

  test('are merged in groups of sixteen in the current hour, then per hour, then per organization', async () => {
    await using stand = await WarehouseFixture.open()
    await minutes(stand, 17)
    await stand.compactCounts()
    expect(levelsOf(stand).toSorted()).toEqual(['fresh', 'merged'])
    await agree(stand)
    stand.clock.set(HOUR + HOUR_MS + 2 * MINUTE_MS - 1)
    await stand.compactCounts()
    expect(levelsOf(stand)).toHaveLength(2)
    stand.clock.advance(1)
    await stand.compactCounts()
    expect(levelsOf(stand)).toEqual(['hour'])
    await agree(stand)
    await minutes(stand, 2)
    stand.clock.set(HOUR + DAY_MS)
    await stand.compactCounts()
    expect(levelsOf(stand)).toEqual(['day', 'day'])
    expect(stand.manifest.rollups().map(({ orgId }) => orgId)).toEqual(['org_1', 'org_2'])
    await agree(stand)
    expect(filesIn(stand)).toEqual(pathsOf(stand))
    const before = stand.manifest.rollups()
    await stand.compactCounts()
    expect(stand.manifest.rollups()).toBe(before)
  })

  test('for an hour wait for its events that are not loaded yet', async () => {
    await using stand = await WarehouseFixture.open()
    await stand.add([{ sessionId: 'a' }])
    await stand.flush()
    await stand.add([{ sessionId: 'a' }])
    stand.clock.advance(2 * HOUR_MS)
    await stand.compactCounts()
    expect(levelsOf(stand)).toEqual(['fresh'])
    await stand.flush()
    await stand.compactCounts()
    expect(levelsOf(stand)).toEqual(['hour'])
    expect(await countsOf(stand)).toMatchObject([{ events: 2, sessions: 1 }])
  })

  test('for days include late events', async () => {
    await using stand = await WarehouseFixture.open()
    const late = async () => {
      await stand.add([{ event: 'late' }])
      await stand.flush()
    }
    await late()
    await stand.compactCounts(HOUR + 2 * DAY_MS)
    await late()
    await stand.compactCounts(HOUR + 2 * DAY_MS)
    expect(levelsOf(stand)).toEqual(['day'])
    await stand.compactCounts(HOUR + MINUTES_MS + 2 * DAY_MS)
    expect(levelsOf(stand)).toEqual(['quarters'])
    await late()
    await stand.compactCounts(HOUR + MINUTES_MS + 2 * DAY_MS)
    await stand.compactCounts(HOUR + MINUTES_MS + 2 * DAY_MS)
    expect(levelsOf(stand)).toEqual(['quarters', 'quarters'])
    expect(await stand.query('SELECT sum(events) AS n FROM counts', {}, { over: 'counts' })).toEqual([{ n: 3 }])
  })

  test('older than 70 days are aggregated by quarter of an hour, with the same sums', async () => {
    await using stand = await WarehouseFixture.open()
    for (const event of fc.sample(aCounted, { numRuns: 80, seed: 3 })) {
      await stand.add([event])
      stand.clock.advance(4 * MINUTE_MS)
    }
    await stand.flush()
    const day = Math.floor(HOUR / DAY_MS) * DAY_MS
    const sums = (window: QueryScope['window']) =>
      stand
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
    await stand.compactCounts(day + DAY_MS + MINUTES_MS - 1)
    expect(new Set(levelsOf(stand))).toEqual(new Set(['day']))
    await stand.compactCounts(day + DAY_MS + MINUTES_MS)
    expect(new Set(levelsOf(stand))).toEqual(new Set(['quarters']))
    expect(await Promise.all(windows.map(sums))).toEqual(before)
    expect((await countsOf(stand)).every(({ minute }) => Number(minute) % quarter === 0)).toBe(true)
    const rows = stand.manifest.rollups()
    await stand.compactCounts(day + MINUTES_MS + 20 * DAY_MS)
    expect(stand.manifest.rollups()).toBe(rows)
  })

  test('for days also exist by the hour, and those are read when whole hours are requested', async () => {
    await using stand = await WarehouseFixture.open()
    const day = Math.ceil(HOUR / DAY_MS) * DAY_MS
    stand.clock.set(day)
    for (let hour = 0; hour < 5; hour++) {
      const names = Array.from({ length: 300 }, (_, n) => ({ event: `e${n}`, domainId: `dom_${n % 3}`, weight: n / 4 }))
      await stand.add([...names, ...names.slice(0, 9).map((said) => ({ ...said, orgId: 'org_2' }))])
      await stand.flush()
      stand.clock.advance(HOUR_MS + 7 * MINUTE_MS)
    }
    const sums = async (stepMs: number, window: QueryScope['window'] = { from: day, to: day + 2 * DAY_MS }) => {
      const sql = `SELECT orgId, domainId, event, minute // ${HOUR_MS} AS hour, sum(events) AS events, sum(weight) AS weight,
        count(*) AS rows FROM counts GROUP BY ALL ORDER BY ALL`
      const rows = await stand.warehouse.query<{ rows: number }>(plainQuery({ over: 'counts', sql, window, stepMs }))
      return { answers: rows.map(({ rows, ...row }) => row), read: rows.reduce((sum, { rows }) => sum + rows, 0) }
    }
    const hours = () => stand.manifest.rollups().filter(({ level }) => level === 'hours')
    const half = { from: day + HOUR_MS, to: day + 3 * HOUR_MS }
    stand.clock.set(day + DAY_MS + HOUR_MS)
    const before = [(await sums(MINUTE_MS)).answers, (await sums(MINUTE_MS, half)).answers]
    await stand.compactCounts()
    expect(hours()).toEqual([])
    await stand.compactCounts()
    // The second organization has too few counts.
    expect(hours().map(({ orgId, rows }) => [orgId, rows])).toEqual([['org_1', 1500]])
    expect([(await sums(HOUR_MS)).answers, (await sums(HOUR_MS, half)).answers]).toEqual(before)
    await agree(stand)
    const [first] = hours()
    const planned = stand.manifest.rollups()
    await stand.compactCounts()
    expect(stand.manifest.rollups()).toBe(planned)

    // Hourly counts survive a restart. Files that are listed again or damaged are not counted twice.
    await stand.reopen()
    expect(hours().map(({ path }) => path)).toEqual([first?.path ?? ''])
    const days = stand.manifest.rollups().filter(({ level, orgId }) => level === 'day' && orgId === 'org_1')
    stand.manifest.markDamaged(days[0]?.path ?? '', stand.clock.now())
    expect((await sums(HOUR_MS)).answers).toEqual((await sums(MINUTE_MS)).answers)
    stand.manifest.restore(days[0]?.path ?? '')
    expect((await sums(HOUR_MS)).answers).toEqual(before[0] ?? [])

    // Late counts are in every result, both before and after they are merged into the day.
    const { path = '' } = days[0] ?? {}
    const [lateFile] = stand.manifest.rollups().filter((file) => file.path === path)
    if (!lateFile) throw new Error('expected a day')
    const extra = { ...lateFile, path: 'counts/di0-0000000000000000.parquet' }
    copyFileSync(join(stand.folder, path), join(stand.folder, extra.path))
    stand.manifest.swapRollups([], [extra])
    const doubled = (await sums(MINUTE_MS)).answers
    expect(doubled).not.toEqual(before[0] ?? [])
    expect((await sums(HOUR_MS)).answers).toEqual(doubled)
    await stand.compactCounts()
    expect(hours().map(({ path }) => path)).not.toEqual([first?.path ?? ''])
    expect((await sums(HOUR_MS)).answers).toEqual(doubled)
    expect(filesIn(stand)).toEqual(pathsOf(stand))

    // Quarter-hours later replace minutes, and have their own hourly counts.
    await stand.compactCounts(day + DAY_MS + MINUTES_MS)
    await stand.compactCounts(day + DAY_MS + MINUTES_MS)
    expect(new Set(levelsOf(stand))).toEqual(new Set(['quarters', 'hours']))
    expect((await sums(HOUR_MS)).answers).toEqual(doubled)
  })

  test('by the hour that an interrupted merge left behind are removed by the next start', async () => {
    await using stand = await WarehouseFixture.open()
    await stand.add(Array.from({ length: 1000 }, (_, n) => ({ event: `e${n}` })))
    await stand.flush()
    stand.clock.advance(2 * DAY_MS)
    await stand.compactCounts()
    await dieIn(stand, 'killed merging')
    expect(filesIn(stand)).toEqual(pathsOf(stand))
    expect(levelsOf(stand)).toEqual(['day'])
    await stand.compactCounts()
    expect(new Set(levelsOf(stand))).toEqual(new Set(['day', 'hours']))
    await agree(stand)
  })

  test('have accurate manifest entries', async () => {
    await using stand = await WarehouseFixture.open()
    for (const event of fc.sample(aCounted, { numRuns: 40, seed: 5 })) {
      await stand.add([event])
      await stand.flush()
      stand.clock.advance(41 * MINUTE_MS)
      await stand.compactCounts()
    }
    expect(new Set(levelsOf(stand)).size).toBeGreaterThan(1)
    for (const { path, orgId, minMinute, maxMinute, rows } of stand.manifest.rollups()) {
      const [found] = await stand.parquet.run<{ rows: number; first: Instant; last: Instant; orgId: string | null }>(
        `SELECT count(*) AS rows, min(minute) AS first, max(minute) AS last,
           CASE WHEN count(DISTINCT orgId) = 1 THEN min(orgId) END AS orgId
         FROM read_parquet('${join(stand.folder, path)}')`,
      )
      expect(found).toEqual({ rows, first: minMinute, last: maxMinute, orgId })
    }
  })

  test('missing from the manifest remain, but are not read', async () => {
    await using stand = await WarehouseFixture.open()
    await stand.add([{}])
    await stand.flush()
    const [known = ''] = filesIn(stand)
    copyFileSync(join(stand.folder, known), join(stand.folder, 'counts', '000000009999.parquet'))
    copyFileSync(join(stand.folder, known), join(stand.folder, 'tmp', 'counts-h-1.parquet'))
    await stand.reopen()
    expect(filesIn(stand)).toEqual([known, 'counts/000000009999.parquet'])
    expect(readdirSync(join(stand.folder, 'tmp')).filter((name) => name.endsWith('.parquet'))).toEqual([])
    await agree(stand)
  })

  test('dropped during their merge do not reappear', async () => {
    await using stand = await WarehouseFixture.open()
    await minutes(stand, 2)
    const [first] = stand.manifest.rollups()
    if (!first) throw new Error('expected a file')
    const merge = { files: [...stand.manifest.rollups()], level: 'hour' as const }
    const merging = runRollupMerge(stand.parquet, stand.manifest, stand.folder, merge)
    stand.manifest.swapRollups([first], [])
    await merging
    expect(levelsOf(stand)).toEqual(['fresh'])
    expect(filesIn(stand).filter((path) => path !== first.path)).toEqual(pathsOf(stand))
  })
})

test('every event is counted exactly once at all times', async () => {
  await using stand = await WarehouseFixture.open()
  let known = 0
  let over = false
  const movers = (async () => {
    for (let round = 0; round < 12; round++) {
      for (let n = 0; n < 3; n++) {
        await stand.add(Array.from({ length: 20 }, () => ({ orgId: `org_${n}` })))
        known = stand.events.length
      }
      await stand.flush()
      if (round % 4 === 3) stand.clock.advance(HOUR_MS + 3 * MINUTE_MS)
      await stand.compactCounts()
    }
    over = true
  })()
  let looks = 0
  while (!over) {
    const before = known
    const rows = await stand.query<{ n: number | null }>('SELECT sum(events) AS n FROM counts', {}, { over: 'counts' })
    const n = rows[0]?.n ?? 0
    expect(n).toBeGreaterThanOrEqual(before)
    expect(n).toBeLessThanOrEqual(stand.events.length)
    looks++
  }
  await movers
  await agree(stand)
  expect(looks).toBeGreaterThan(5)
})
