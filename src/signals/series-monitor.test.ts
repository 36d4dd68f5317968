import { describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Query } from '../warehouse/query.ts'
import type { Gap } from './gap.ts'
import { ALL_SIGNALS, type SeriesScope } from './series.ts'
import { CountsFixture, follow, hours, MONDAY, scope, type Traffic, ticks } from './series-monitor.fixture.ts'
import { SeriesMonitor } from './series-monitor.ts'
import type { SignalSetting } from './signal.ts'
import type { VerdictRow } from './verdict-row.ts'

const every = scope({ vendor: ALL_SIGNALS, event: null })

const alarms = (rows: readonly VerdictRow[][]) => rows.flat().filter(({ alarm }) => alarm)

/** Ten weeks of traffic from one tag, with a fault near the end. */
const START = MONDAY
const END = MONDAY + 70 * DAY_MS
const view: Traffic = { from: START, to: END, perHour: 60 }

/** A Monday in the middle of the last week. */
const NOON = START + 63 * DAY_MS + hours(12)

const alarmsOf = (rows: readonly VerdictRow[][]) =>
  alarms(rows).map(({ state, at }) => `${state} ${new Date(at).toISOString().slice(5, 16)}`)

describe('an outage of a tag', () => {
  const deadAt = NOON + 7 * MINUTE_MS
  const dead: Traffic = { ...view, faults: [{ from: deadAt, to: deadAt + hours(9), factor: 0 }] }

  test('with 60 events an hour is reported once within 30 minutes, and ends within two rows of recovery', async () => {
    await using fixture = await CountsFixture.with(dead)
    const rows = await follow(fixture.seriesMonitor(), [scope()], { from: NOON, to: NOON + hours(14) })
    const [named, ...again] = alarms(rows)
    expect(named).toMatchObject({ state: 'silent', observed: 0, down: true, open: true })
    expect(named?.at).toBeLessThanOrEqual(deadAt + 30 * MINUTE_MS)
    expect(named?.silentSince).toBeLessThanOrEqual(deadAt)
    expect(named?.lastEventAt).toBe(named?.silentSince ?? 0)
    expect(again).toEqual([])
    const lastOpen = rows.flat().findLast(({ open }) => open)
    expect(lastOpen?.at).toBeGreaterThan(deadAt + hours(9))
    expect(lastOpen?.at).toBeLessThanOrEqual(deadAt + hours(11))
    expect(rows.flat().at(-1)).toMatchObject({ state: 'normal', open: false })
  })

  test('is reported again after half a day', async () => {
    const [one] = dead.faults ?? []
    await using fixture = await CountsFixture.with({ ...dead, faults: one ? [{ ...one, to: NOON + hours(40) }] : [] })
    const rows = await fixture.seriesMonitor().verdicts([scope()], [{ from: NOON, to: NOON + hours(30) }])
    const windows = Array.from({ length: 30 }, (_, at) => ({ from: NOON + hours(at), to: NOON + hours(at + 1) }))
    const hourly = await fixture.seriesMonitor().verdicts([scope()], windows)
    const raised = hourly.flatMap(([row], at) => (row?.alarm ? [at] : []))
    expect(raised).toHaveLength(3)
    expect(raised[0]).toBe(0)
    expect((raised[1] ?? 0) - (raised[0] ?? 0)).toBeGreaterThanOrEqual(12)
    expect(hourly.every(([row]) => row?.open)).toBe(true)
    expect(rows[0]?.[0]).toMatchObject({ open: true, alarm: true, state: 'silent' })
  })

  test('is reported when the first instant that is not ignored is reached', async () => {
    await using fixture = await CountsFixture.with(dead)
    const counts = (instant: Instant) => instant >= NOON + hours(4)
    const windows = Array.from({ length: 8 }, (_, at) => ({ from: NOON + hours(at), to: NOON + hours(at + 1) }))
    const rows = await fixture.seriesMonitor().verdicts([scope()], windows, { counts })
    expect(rows.map(([row]) => row?.open)).toEqual([false, false, false, false, true, true, true, true])
    expect(rows.map(([row]) => row?.alarm)).toEqual([false, false, false, false, true, false, false, false])
  })
})

describe('no alarm is raised', () => {
  const quiet = async (traffic: Traffic, values: Partial<SeriesScope> = {}, gaps: readonly Gap[] = []) => {
    await using fixture = await CountsFixture.with(traffic)
    const gapsOf = (from: Instant, to: Instant) => gaps.filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
    const one = scope(values)
    const seriesMonitor = fixture.seriesMonitor({ gapsOf })
    const lastDays = { from: NOON - DAY_MS, to: NOON + 2 * DAY_MS }
    const chart = await seriesMonitor.chart(one, lastDays, END)
    return { rows: await seriesMonitor.verdicts([one], ticks(lastDays)), chart }
  }

  test('for a tag with normal traffic', async () => {
    const { rows, chart } = await quiet(view)
    expect(alarmsOf(rows)).toEqual([])
    expect(chart.state).toBe('normal')
  })

  test('when sampling begins, because stored events are counted without their weight', async () => {
    const { chart, rows } = await quiet({ ...view, sampled: { from: START, weight: 4 } })
    expect(alarmsOf(rows)).toEqual([])
    // Outcomes use weighted events.
    const expected = chart.points.map((point) => point.expected ?? 0)
    expect(Math.max(...expected)).toBeGreaterThan(60)
    const changed = await quiet({ ...view, sampled: { from: NOON, weight: 2 } })
    expect(alarmsOf(changed.rows)).toEqual([])
  })

  test.each([
    ['of two hours', [[0, 120]]],
    ['of several minutes', [[10, 17]]],
    ['of a day', [[-60, 24 * 60 - 60]]],
    [
      'repeatedly',
      [
        [0, 20],
        [70, 95],
        [130, 140],
      ],
    ],
  ] as const)('during a collection gap: %s', async (_, minutes) => {
    const gaps = minutes.map(([from, to]): Gap => {
      return { fromAt: NOON + from * MINUTE_MS, toAt: NOON + to * MINUTE_MS, cause: 'down' }
    })
    const faults = gaps.map(({ fromAt, toAt }) => ({ from: fromAt, to: toAt, factor: 0 }))
    const hidden = await quiet({ ...view, faults }, {}, gaps)
    expect(alarmsOf(hidden.rows)).toEqual([])
    const hurt = hidden.chart.points.filter(({ partial }) => partial).map(({ start }) => start)
    expect(hurt.length).toBeGreaterThan(0)
    for (const start of hurt)
      expect(gaps.some(({ fromAt, toAt }) => fromAt < start + HOUR_MS && toAt > start)).toBe(true)
    const [first] = gaps
    if (first && first.toAt - first.fromAt >= hours(2))
      expect(alarmsOf((await quiet({ ...view, faults })).rows)).not.toEqual([])
  })

  test('while a series is learning, and the chart has the estimated end', async () => {
    const from = NOON - 3 * DAY_MS
    const { rows, chart } = await quiet({ ...view, from, perHour: 30 })
    expect(alarmsOf(rows)).toEqual([])
    expect(chart.state).toBe('learning')
    expect(chart.learningUntil).toBeGreaterThan(NOON + 2 * DAY_MS)
    expect(chart.learningUntil).toBeLessThan(NOON + 8 * DAY_MS)
  })

  test('for a series without events', async () => {
    const { rows, chart } = await quiet(view, { event: 'nothing' })
    expect(rows.every(([row]) => row?.state === 'learning' && !row.open)).toBe(true)
    expect(chart.points.every(({ observed, expected }) => observed === 0 && expected === null)).toBe(true)
  })
})

test('a deviation continues after a gap', async () => {
  const deadAt = NOON
  const gap: Gap = { fromAt: NOON + hours(3), toAt: NOON + hours(5), cause: 'down' }
  await using fixture = await CountsFixture.with({ ...view, faults: [{ from: deadAt, to: END, factor: 0 }] })
  const gapsOf = (from: Instant, to: Instant) => (gap.fromAt < to && gap.toAt > from ? [gap] : [])
  const windows = Array.from({ length: 8 }, (_, at) => ({ from: NOON + hours(at), to: NOON + hours(at + 1) }))
  const rows = await fixture.seriesMonitor({ gapsOf }).verdicts([scope()], windows)
  expect(rows.map(([row]) => row?.open)).toEqual([true, true, true, false, false, true, true, true])
  expect(rows.map(([row]) => row?.alarm)).toEqual([true, false, false, false, false, false, false, false])
})

describe('signals', () => {
  const setting = (values: Partial<SignalSetting>): SignalSetting => ({
    domainId: 'dom_1',
    vendor: 'Shop',
    event: 'view',
    mode: 'auto',
    sensitivity: null,
    ...values,
  })
  const deadAt = NOON + 5 * MINUTE_MS
  const faults = [{ from: deadAt, to: END, factor: 0 }]
  const world = () =>
    CountsFixture.with(
      { ...view, faults },
      { ...view, event: 'buy', perHour: 20 },
      { ...view, event: 'rare', perHour: 0.2 },
      { ...view, domainId: 'dom_2', vendor: 'Other' },
    )
  const namesOf = (rows: readonly VerdictRow[]) => rows.map(({ vendor, event }) => `${vendor} ${event}`)
  const after = [{ from: NOON, to: NOON + hours(2) }]
  const of = { orgId: 'org_1', domainId: 'dom_1', sensitivity: 5, timezone: 'UTC' }

  test('are listed if they have enough traffic or a setting', async () => {
    await using fixture = await world()
    const [plain = []] = await fixture.seriesMonitor().signals([of], NOON + hours(3))
    expect(plain.map(({ event, state, mode, sensitivity }) => [event, state, mode, sensitivity])).toEqual([
      ['buy', 'normal', 'auto', 5],
      ['view', 'silent', 'auto', 5],
    ])
    expect(plain[0]?.observed).toBeGreaterThan(10)
    expect(plain[0]?.expected).toBeGreaterThan(10)
    expect(plain[0]?.silentSince).toBeNull()
    expect(plain[1]).toMatchObject({ observed: 0 })
    expect(plain[1]?.silentSince).toBeLessThanOrEqual(deadAt)
    const settings = [
      setting({ event: 'buy', mode: 'off' }),
      setting({ event: 'rare', sensitivity: 8 }),
      setting({ mode: 'muted' }),
      setting({ domainId: 'dom_2', event: 'elsewhere' }),
    ]
    const [set = []] = await fixture.seriesMonitor({ settingsOf: () => settings }).signals([of], NOON + hours(3))
    expect(set.map(({ event, state, mode, sensitivity }) => [event, state, mode, sensitivity])).toEqual([
      ['buy', null, 'off', 5],
      ['rare', 'normal', 'auto', 8],
      ['view', 'silent', 'muted', 5],
    ])
    expect(set[0]).toMatchObject({ observed: null, expected: null, silentSince: null })
  })

  test('have their own row when they deviate, in addition to the row of the domain', async () => {
    await using fixture = await world()
    const [rows = []] = await fixture.seriesMonitor().verdicts([every], after)
    expect(namesOf(rows)).toEqual(['null null', 'Shop view'])
    expect(rows[0]).toMatchObject({ vendor: null, explains: false })
    expect(rows[1]).toMatchObject({ muted: false, down: true, alarm: true, explained: false })
  })

  test.each<[string, Partial<SignalSetting>, string[], boolean]>([
    ['muted is monitored', { mode: 'muted' }, ['null null', 'Shop view'], true],
    ['off is not monitored', { mode: 'off' }, ['null null'], false],
  ])('a signal that is %s', async (_, values, names, muted) => {
    await using fixture = await world()
    const [rows = []] = await fixture.seriesMonitor({ settingsOf: () => [setting(values)] }).verdicts([every], after)
    expect(namesOf(rows)).toEqual(names)
    expect(rows.some((row) => row.muted)).toBe(muted)
  })

  test('are all explained by a drop of their domain', async () => {
    await using fixture = await CountsFixture.with({ ...view, faults }, { ...view, event: 'buy', perHour: 20, faults })
    const [rows = []] = await fixture.seriesMonitor().verdicts([every], after)
    expect(rows[0]).toMatchObject({ vendor: null, down: true, open: true, explains: true })
    expect(rows.slice(1).map(({ event, down, explained }) => [event, down, explained])).toEqual([
      ['buy', true, true],
      ['view', true, true],
    ])
  })

  test('are evaluated at several sensitivities in one pass, unless they have their own sensitivity', async () => {
    await using fixture = await world()
    const settings = [setting({ sensitivity: 8 })]
    const kinds = [2, 5, 8]
    const own = scope({ sensitivity: 5 })
    const rows = await fixture
      .seriesMonitor({ settingsOf: () => settings })
      .verdictsAtSensitivities([every, own], kinds, after)
    const signals = rows.map(([of = []]) => of.find((row) => row.scope === every && row.event === 'view'))
    expect(signals.map((row) => row?.sensitivity)).toEqual([8, 8, 8])
    for (const [index, sensitivity] of kinds.entries()) {
      const [alone = []] = await fixture.seriesMonitor().verdicts([{ ...own, sensitivity }], after)
      const [row] = rows[index]?.[0]?.filter((row) => row.scope === own) ?? []
      expect({ ...row, scope: null }).toEqual({ ...alone[0], scope: null } as typeof row & { scope: null })
    }
  })
})

describe('a chart', () => {
  test('contains every row across blocks, including the current one', async () => {
    await using fixture = await CountsFixture.with(view)
    const range = { from: END - 31 * DAY_MS, to: END }
    const now = END - hours(2) + 17 * MINUTE_MS + 3
    const { points, state } = await fixture.seriesMonitor().chart(scope(), range, now)
    expect(points.map(({ start }) => start)).toEqual(
      Array.from({ length: 31 * 24 - 1 }, (_, at) => range.from + hours(at)),
    )
    expect(points.filter(({ partial }) => partial).map(({ start }) => start)).toEqual([END - hours(2)])
    expect(points.at(-1)?.observed).toBeLessThan(40)
    expect(points.at(-1)?.expected).toBeGreaterThan(0)
    for (const { observed, low, high } of points.slice(0, -1)) {
      expect(low ?? Number.NaN).toBeLessThanOrEqual(observed)
      expect(high ?? Number.NaN).toBeGreaterThanOrEqual(observed)
    }
    expect(state).toBe('normal')
  })

  test('is empty for the future, and counts all events if it has no vendor and event', async () => {
    await using fixture = await CountsFixture.with(view, { ...view, event: 'buy', perHour: 20 })
    const future = { from: END + DAY_MS, to: END + 2 * DAY_MS }
    expect(await fixture.seriesMonitor().chart(scope(), future, END)).toMatchObject({ points: [] })
    const range = { from: NOON, to: NOON + hours(3) }
    const sums = async (values: Partial<SeriesScope>) =>
      (await fixture.seriesMonitor().chart(scope(values), range, END)).points.map(({ observed }) => observed)
    const [whole, one, other] = [
      await sums({ vendor: null, event: null }),
      await sums({}),
      await sums({ event: 'buy' }),
    ]
    expect(whole).toEqual(one.map((observed, at) => observed + (other[at] ?? 0)))
  })
})

test('memory is limited: evicted trackers are rebuilt with the same results', async () => {
  await using fixture = await CountsFixture.with({ ...view, faults: [{ from: NOON, to: END, factor: 0 }] })
  const scopes = ['UTC', 'Europe/Berlin', 'Asia/Tokyo'].map((timezone) => scope({ timezone }))
  const span = { from: NOON, to: NOON + hours(1) }
  const all = fixture.seriesMonitor()
  const expected = await follow(all, scopes, span)
  const room = all.bytes
  for (const [share, kept] of [
    [1, 3],
    [0.7, 2],
    [0.4, 1],
    [0, 0],
  ] as const) {
    const seriesMonitor = fixture.seriesMonitor({ memoryBytes: room * share })
    expect(await follow(seriesMonitor, scopes, span)).toEqual(expected)
    expect(seriesMonitor.bytes).toBeLessThanOrEqual(room * share)
    expect(Math.round((3 * seriesMonitor.bytes) / room)).toBe(kept)
  }
  // Trackers that are no longer queried are discarded.
  const queries: Query[] = []
  const warehouse = {
    query<T>(query: Query): Promise<T[]> {
      queries.push(query)
      return fixture.fixture.warehouse.query<T>(query)
    },
  }
  const seriesMonitor = fixture.seriesMonitor({ memoryBytes: room * 0.5, warehouse })
  for (const [hour, timezone] of [
    [0, 'UTC'],
    [3, 'Asia/Tokyo'],
  ] as const) {
    const from = NOON + hours(hour)
    await follow(seriesMonitor, [scope({ timezone })], { from, to: from + hours(1) })
    queries.length = 0
    await follow(seriesMonitor, [scope({ timezone })], { from: from + hours(1), to: from + hours(2) })
    // Nothing is relearned.
    expect(Math.min(...queries.map(({ window }) => window.from))).toBe(from + hours(1))
  }
})

test('current queries do not wait for historical queries, which return the correct results', async () => {
  await using fixture = await CountsFixture.with(view)
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const { warehouse } = fixture.fixture
  const slow = {
    async query<T>(query: Query): Promise<T[]> {
      if (query.name === 'signals.row-counts' && query.window.to < NOON) {
        reached.resolve()
        await released.promise
      }
      return warehouse.query<T>(query)
    },
  }
  const seriesMonitor = fixture.seriesMonitor({ warehouse: slow })
  const at = NOON - 8 * DAY_MS
  const asked = seriesMonitor.forHistory.signals([every], at)
  await reached.promise
  const present = await follow(seriesMonitor, [scope()], { from: NOON, to: NOON + hours(1) })
  expect(present).toEqual(await follow(fixture.seriesMonitor(), [scope()], { from: NOON, to: NOON + hours(1) }))
  released.resolve()
  const [signals] = await asked
  expect(signals).toHaveLength(1)
  expect(await asked).toEqual(await fixture.seriesMonitor().signals([every], at))
})

test('retrying after a failed query gives the same result', async () => {
  await using fixture = await CountsFixture.with({ ...view, faults: [{ from: NOON, to: END, factor: 0 }] })
  const span = { from: NOON - hours(1), to: NOON + hours(3) }
  const expected = await follow(fixture.seriesMonitor(), [scope()], span)
  let calls = 0
  const warehouse = {
    query<T>(query: Query): Promise<T[]> {
      calls += 1
      if (calls % 3 === 2) return Promise.reject(new AppError('unavailable', 'try again', 1))
      return fixture.fixture.warehouse.query<T>(query)
    },
  }
  const seriesMonitor = new SeriesMonitor({ warehouse, gapsOf: () => [], settingsOf: () => [] })
  const rows: VerdictRow[][] = []
  let refused = 0
  const seen = ticks(span)
  for (let at = 0; at < seen.length; ) {
    const window = seen[at]
    if (!window) break
    try {
      rows.push((await seriesMonitor.verdicts([scope()], [window]))[0] ?? [])
      at += 1
    } catch (error) {
      expect(error).toBeInstanceOf(AppError)
      refused += 1
    }
  }
  expect(refused).toBeGreaterThan(5)
  expect(rows).toEqual(expected)
})

describe('a repeated chart query', () => {
  const gone = { from: NOON - hours(30), to: NOON - hours(27), factor: 0 }

  test.each([0, 1, 5])('%i hours later equals a new chart, and reads only later rows', async (later) => {
    await using fixture = await CountsFixture.with({ ...view, faults: [gone] })
    const windows: Query['window'][] = []
    const { warehouse } = fixture.fixture
    const noting = {
      query<T>(query: Query) {
        windows.push(query.window)
        return warehouse.query<T>(query)
      },
    }
    const seriesMonitor = fixture.seriesMonitor({ warehouse: noting })
    const chartAt = (of: SeriesMonitor, now: Instant) => of.chart(scope(), { from: now - 7 * DAY_MS, to: now }, now)
    await chartAt(seriesMonitor, NOON + 10 * MINUTE_MS)
    windows.length = 0
    const now = NOON + hours(later) + 20 * MINUTE_MS
    expect(await chartAt(seriesMonitor, now)).toEqual(await chartAt(fixture.seriesMonitor(), now))
    expect(Math.min(...windows.map(({ from }) => from))).toBeGreaterThanOrEqual(NOON - HOUR_MS)
  })
})

test('an aborted call is rejected with the abort reason', async () => {
  await using fixture = await CountsFixture.with(view)
  const verdicts = fixture.seriesMonitor().verdicts([scope()], [{ from: NOON, to: NOON + hours(1) }], {
    stopping: AbortSignal.abort(new Error('test aborted')),
  })
  await expect(verdicts).rejects.toThrow('test aborted')
})
