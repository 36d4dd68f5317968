import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { plainEvent } from '../core/event.fixture.ts'
import type { Gap } from '../signals/gap.ts'
import { addTraffic } from '../signals/series-monitor.fixture.ts'
import { SeriesMonitor } from '../signals/series-monitor.ts'
import { WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import type { Alert, AlertInput } from './alert.ts'
import { readAlertInput } from './alert-input.ts'
import { parsePeriod } from './alert-period.ts'
import { preview } from './alert-preview.ts'
import { alertFrom } from './alert-store.ts'
import { wholeWindows } from './alert-windows.ts'
import { type AlertBacktest, backtest, backtestSeries } from './backtest.ts'
import { causesNotification, type Finding, type Window } from './finding.ts'
import { judgeOf } from './judge.fixture.ts'
import { judgeHistory } from './judge-past-events.ts'
import { alertTypeOf } from './types/index.ts'

const channels: AlertInput['channels'] = [{ type: 'email', target: 'ann@example.com' }]
const PERIODS = ['15m', '1h', '6h', '1d'] as const
const ZONES = ['UTC', 'Asia/Kolkata', 'America/New_York']

const condition = fc.record({
  parameter: fc.constantFrom('value', 'mail', '$event', '$path'),
  op: fc.constantFrom('is_blank', 'not_blank', 'contains_email', 'contains_phone', 'gt', 'equals', 'not_equals'),
})
const exactCondition = condition.filter(({ op }) => op !== 'contains_phone')
const withValues = ({ parameter, op }: { parameter: string; op: string }) => ({
  parameter,
  op,
  ...(['gt', 'equals', 'not_equals'].includes(op) ? { values: ['5'] } : {}),
})
const scope = fc.record(
  {
    vendors: fc.subarray(['Shop', 'Other'], { minLength: 1 }),
    filters: fc.array(exactCondition.map(withValues), { maxLength: 1 }),
  },
  { requiredKeys: [] },
)

/** Rules of every type. */
const rule = fc
  .tuple(
    fc.constantFrom(...PERIODS),
    fc.constantFrom(...ZONES),
    scope,
    fc.oneof(
      fc.record({
        alertType: fc.constant('data_validation'),
        conditions: fc.record({
          logic: fc.constantFrom('any', 'all'),
          items: fc.array(condition.map(withValues), { minLength: 1, maxLength: 2 }),
        }),
      }),
      fc.record({
        alertType: fc.constant('volume_threshold'),
        volume: fc.record({ op: fc.constantFrom('lte', 'gte'), count: fc.nat(30) }),
      }),
      fc.record({
        alertType: fc.constant('tag_volume_change'),
        volume: fc.record({
          direction: fc.constantFrom('increase', 'decrease'),
          percent: fc.integer({ min: 1, max: 90 }),
        }),
      }),
      fc.record({
        alertType: fc.constant('volume_anomaly'),
        volume: fc.constantFrom<object>(
          { vendor: 'Shop' },
          { vendor: 'Shop', event: 'view', sensitivity: 3 },
          { vendor: 'Other', sensitivity: 2 },
          { vendor: '*', sensitivity: 5 },
        ),
      }),
      fc.record({
        alertType: fc.constant('journey'),
        journey: fc.constantFrom<object>(
          {
            steps: [
              { vendor: 'Shop', event: 'view' },
              { vendor: 'Other', event: 'buy' },
            ],
          },
          { version: 2, steps: [{ anchor: { kind: 'session' }, expect: [{ vendor: 'Shop', event: 'view' }] }] },
          {
            version: 2,
            steps: [
              {
                anchor: { kind: 'event', vendor: 'Shop' },
                expect: [
                  { event: 'buy', ordered: true },
                  { vendor: 'Other', ordered: true, data: [{ parameter: 'value', op: 'not_blank' }] },
                ],
              },
            ],
          },
        ),
      }),
    ),
  )
  .map(([period, timezone, scope, type]) => {
    const shared = { name: 'Rule', period, timezone, channels }
    if (type.alertType !== 'volume_anomaly') return { ...shared, ...scope, ...type }
    return { ...shared, ...type, period: period === '15m' && isEvery(type.volume) ? '1h' : period }
  })

const isEvery = (volume: object) => 'vendor' in volume && volume.vendor === '*'

/** Adds the traffic of the preceding weeks, from which expected counts are learned. */
async function addHistory(fixture: WarehouseFixture): Promise<void> {
  const past = { from: START - 5 * 7 * DAY_MS, to: START, domainId: 'dom_1' }
  await addTraffic(fixture, 'a', { ...past, vendor: 'Shop', event: 'view', perHour: 60 })
  await addTraffic(fixture, 'b', { ...past, vendor: 'Other', event: 'buy', perHour: 5, domainId: 'dom_2' })
}

const event = fc.record({
  vendor: fc.constantFrom('Shop', 'Other', 'Third'),
  event: fc.constantFrom('view', 'buy', '5'),
  params: fc.record(
    { value: fc.constantFrom('', '5', '12', 'x'), mail: fc.constantFrom('ann@example.com', '+1 506 234 5678', 'none') },
    { requiredKeys: [] },
  ),
})
/** Batches of events, each with the time since the previous batch. */
const traffic = fc.array(
  fc.record({
    // These pauses continue or end a session, including across midnight.
    afterMs: fc.oneof(
      fc.integer({ min: 1, max: 29 * MINUTE_MS }),
      fc.integer({ min: 29 * MINUTE_MS, max: 31 * MINUTE_MS }),
      fc.integer({ min: 1, max: 4 * HOUR_MS }),
    ),
    domain: fc.nat(1),
    sessionId: fc.constantFrom('s1', 's2'),
    events: fc.array(event, { minLength: 1, maxLength: 25 }),
  }),
  { minLength: 5, maxLength: 25 },
)

const DOMAINS = ['dom_1', 'dom_2'].map((id) => ({ id, createdAt: 0 }))
const START = Date.UTC(2026, 0, 5)
/** Few days, because querying window by window is slow. */
const DAYS = 2

const alertOfInput = (input: unknown, index: number): Alert =>
  alertFrom(readAlertInput(input), { id: `alr_${index}`, orgId: 'org_1', createdAt: 0, updatedAt: 0 })

interface Sent {
  afterMs: number
  domain: number
  sessionId: string
  events: { vendor: string; event: string; params: Record<string, string> }[]
}

/** Stores events while the alerts are active, like the collector. Files are occasionally written and merged. */
async function receive(fixture: WarehouseFixture, sent: readonly Sent[], alerts: readonly Alert[]): Promise<void> {
  const judge = judgeOf(alerts)
  for (const [index, { afterMs, domain, sessionId, events }] of sent.entries()) {
    fixture.clock.advance(afterMs)
    const place = { orgId: 'org_1', domainId: DOMAINS[domain]?.id ?? '', sessionId }
    await fixture.add(
      events.map((event) => {
        const values = { ...place, ...event }
        const violations = judge(plainEvent(values))
        return { ...values, violations: violations.length > 0 ? [...violations] : null }
      }),
    )
    if (index % 7 === 3) await fixture.flush()
    if (index % 11 === 5) await fixture.compact()
  }
}

/** Returns the scheduler's findings, window by window. */
async function judged(fixture: WarehouseFixture, alert: Alert, now: Instant) {
  const type = alertTypeOf(alert.alertType)
  const seriesMonitor = new SeriesMonitor({ warehouse: fixture.warehouse, gapsOf: () => [], settingsOf: () => [] })
  const rowsOf = async (window: Window) => {
    if (type.evaluated !== 'along a series') {
      return fixture.warehouse.query<unknown>(type.measure([alert], window, DOMAINS))
    }
    return (await seriesMonitor.verdicts(type.series(alert, DOMAINS), [window]))[0] ?? []
  }
  const verdicts = []
  for (const window of wholeWindows(parsePeriod(alert.period), alert.timezone, now - DAYS * DAY_MS, now)) {
    const rows = await rowsOf(window)
    const found = type.judge(alert, rows, window, DOMAINS)
    verdicts.push({
      start: window.from,
      fired: found.some(causesNotification),
      found: found.map(fieldsOf),
    })
  }
  return verdicts
}

/** The fields of a finding that must be equal. */
const fieldsOf = ({ domainId, subject, occurrences, observed, expected, continues, explainedBy }: Finding) => ({
  domainId,
  subject,
  occurrences,
  observed,
  expected,
  continues: continues ?? false,
  explainedBy: explainedBy ?? null,
})

test('a backtest returns the same findings as the scheduler did at the time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { minLength: 4, maxLength: 6 }), traffic, async (rules, sent) => {
      await using fixture = await WarehouseFixture.open()
      fixture.clock.set(START)
      await addHistory(fixture)
      const alerts = rules.map(alertOfInput)
      await receive(fixture, sent, alerts)
      fixture.clock.advance(6 * HOUR_MS)
      const now = fixture.clock.now()
      const parts = { warehouse: fixture.warehouse, domains: DOMAINS, privacy: PLAIN_PRIVACY }
      for (const alert of alerts) {
        const expected = await judged(fixture, alert, now)
        const { findings, exact } = await judgeHistory(
          alert,
          wholeWindows(parsePeriod(alert.period), alert.timezone, now - DAYS * DAY_MS, now),
          parts,
        )
        const found = findings.map((of) => of.map(fieldsOf).toSorted(byDomain))
        expect(found).toEqual(expected.map(({ found }) => found.toSorted(byDomain)))
        expect(exact).toBe(true)
        const tested: AlertBacktest = await backtest(alert, DAYS, now, parts)
        const fired = expected.filter((window) => window.fired).map(({ start }) => start)
        const buckets = tested.buckets.filter(({ wouldFire }) => wouldFire).map(({ start }) => start)
        const isFine = parsePeriod(alert.period).lengthMs < HOUR_MS
        expect(buckets).toEqual(isFine ? [...new Set(fired.map((at) => Math.floor(at / HOUR_MS) * HOUR_MS))] : fired)
      }
    }),
    { numRuns: 4 },
  )
})

type Said = Pick<Finding, 'domainId' | 'subject'>
const byDomain = (a: Said, b: Said) => (`${a.domainId} ${a.subject}` < `${b.domainId} ${b.subject}` ? -1 : 1)

describe('the method of a backtest', () => {
  const shape = async (input: object, days = 7) => {
    await using fixture = await WarehouseFixture.open()
    fixture.clock.set(START + 40 * DAY_MS)
    const parts = { warehouse: fixture.warehouse, domains: DOMAINS, privacy: PLAIN_PRIVACY }
    const { buckets, ...rest } = await backtest(
      alertOfInput({ name: 'x', channels, ...input }, 1),
      days,
      fixture.clock.now(),
      parts,
    )
    return { buckets: buckets.length, ...rest }
  }
  const lte = { alertType: 'volume_threshold', volume: { op: 'lte', count: 0 } }
  const validation = {
    alertType: 'data_validation',
    conditions: { logic: 'any', items: [{ parameter: 'a', op: 'is_blank' }] },
  }

  test.each([
    [{ ...lte, period: '1h' }, 7, { buckets: 7 * 24, grain: 'hour', method: 'rollup' }],
    [{ ...lte, period: '15m' }, 7, { buckets: 7 * 24, grain: 'hour', method: 'rollup' }],
    [{ ...lte, period: '6h' }, 14, { buckets: 14 * 4, grain: 'hour', method: 'rollup' }],
    [{ ...lte, period: 'daily' }, 30, { buckets: 30, grain: 'day', method: 'rollup' }],
    [{ ...lte, period: 'weekly' }, 14, { buckets: 1, grain: 'day', method: 'rollup' }],
    [{ ...lte, period: '4w' }, 7, { buckets: 0, grain: 'day' }],
    [{ ...lte, period: '1h', filters: [{ parameter: 'a', op: 'is_blank' }] }, 7, { buckets: 168, method: 'sql' }],
    [{ ...validation, period: '1h' }, 7, { buckets: 168, grain: 'hour', method: 'sql' }],
  ])('is as expected for %j over %i days', async (input, days, expected) => {
    expect(await shape(input, days)).toMatchObject({ ...expected, coverage: null, exact: true })
  })
})

describe('a backtest of anomalies', () => {
  const dies = (from: Instant, lastsMs: number) => [{ from, to: from + lastsMs, factor: 0 }]
  const now = START + 56 * DAY_MS
  const deadAt = now - 5 * DAY_MS + 9 * HOUR_MS

  async function shop() {
    const fixture = await WarehouseFixture.open()
    fixture.clock.set(now)
    const past = { from: START, to: now, domainId: 'dom_1', vendor: 'Shop' }
    await addTraffic(fixture, 'a', { ...past, event: 'view', perHour: 60, faults: dies(deadAt, 5 * HOUR_MS) })
    await addTraffic(fixture, 'b', { ...past, event: 'buy', perHour: 20 })
    return { fixture, parts: { warehouse: fixture.warehouse, domains: DOMAINS, privacy: PLAIN_PRIVACY } }
  }
  const anomaly = (volume: object, more: object = {}) =>
    alertOfInput({ name: 'x', channels, alertType: 'volume_anomaly', period: '1h', volume, ...more }, 1)
  const view = { vendor: 'Shop', event: 'view' }

  test('fires when a deviation is new, and shows where it continues', async () => {
    const { fixture, parts } = await shop()
    await using _stand = fixture
    for (const volume of [view, { vendor: '*' }]) {
      const { buckets, method, grain, exact } = await backtest(anomaly(volume), 7, now, parts)
      expect({ method, grain, exact, buckets: buckets.length }).toEqual({
        method: 'rollup',
        grain: 'hour',
        exact: true,
        buckets: 168,
      })
      expect(buckets.filter(({ wouldFire }) => wouldFire).map(({ start }) => start)).toEqual([deadAt])
      const open = buckets.filter(({ matchCount }) => matchCount > 0).map(({ start }) => (start - deadAt) / HOUR_MS)
      expect(open.slice(0, 5)).toEqual([0, 1, 2, 3, 4])
      expect(open.length).toBeLessThan(9)
    }
  })

  test('counts the notifications at other sensitivities in one pass', async () => {
    const { fixture, parts } = await shop()
    await using _stand = fixture
    const sensitivities = [2, 4, 8]
    const { alternatives = [] } = await backtest(anomaly(view), 14, now, parts, sensitivities)
    expect(alternatives.map(({ sensitivity }) => sensitivity)).toEqual(sensitivities)
    const alone = await Promise.all(
      sensitivities.map(async (sensitivity) => {
        const { buckets } = await backtest(anomaly({ ...view, sensitivity }), 14, now, parts)
        return buckets.filter(({ wouldFire }) => wouldFire).length
      }),
    )
    expect(alternatives.map(({ fired }) => fired)).toEqual(alone)
    expect(alone[0]).toBeGreaterThan(alone[1] ?? 0)
    expect(alone[1]).toBe(1)
    expect(await backtest(anomaly(view), 7, now, parts)).not.toHaveProperty('alternatives')
    expect(backtest(anomaly(view, { domainId: 'dom_gone' }), 7, now, parts, [2])).resolves.toMatchObject({
      alternatives: [{ sensitivity: 2, fired: 0 }],
    })
  })

  test('returns rows with a band for its sensitivity, or null for several series', async () => {
    const { fixture, parts } = await shop()
    await using _stand = fixture
    const domainId = 'dom_1'
    const bands = new Map<number, number>()
    for (const sensitivity of [2, 8]) {
      const points = (await backtestSeries(anomaly({ ...view, sensitivity }, { domainId }), 7, now, parts)) ?? []
      expect(points.map(({ start }) => start)).toEqual(
        Array.from({ length: 7 * 24 }, (_, hour) => now - 7 * DAY_MS + hour * HOUR_MS),
      )
      const dead = points.find(({ start }) => start === deadAt)
      expect(dead?.observed).toBeLessThan(dead?.low ?? 0)
      bands.set(sensitivity, (dead?.high ?? 0) - (dead?.low ?? 0))
    }
    expect(bands.get(8)).toBeGreaterThan(bands.get(2) ?? 0)
    const short = anomaly(view, { domainId, period: '15m' })
    const newest = (await backtestSeries(short, 30, now, parts)) ?? []
    expect([newest.length, newest.at(-1)?.start]).toEqual([1000, now - 15 * MINUTE_MS])
    expect(await backtestSeries(anomaly({ vendor: '*' }, { domainId }), 7, now, parts)).toBeNull()
    expect(await backtestSeries(anomaly(view), 7, now, parts)).toBeNull()
  })

  test('fires only inside the run windows', async () => {
    const { fixture, parts } = await shop()
    await using _stand = fixture
    const hours = [11, 20]
    for (const period of ['1h', '1d']) {
      const { buckets } = await backtest(anomaly(view, { period, runWindows: { hours } }), 7, now, parts)
      const fired = buckets.filter(({ wouldFire }) => wouldFire).map(({ start }) => start)
      expect(fired).toEqual([period === '1h' ? deadAt + 2 * HOUR_MS : deadAt - 9 * HOUR_MS])
    }
  })

  test('finds nothing in a collection gap, like every rule that counts events', async () => {
    const { fixture, parts } = await shop()
    await using _stand = fixture
    const gap: Gap = { fromAt: deadAt, toAt: deadAt + 5 * HOUR_MS, cause: 'refused' }
    const gapsOf = (from: Instant, to: Instant) => (gap.fromAt < to && gap.toAt > from ? [gap] : [])
    const counts = { alertType: 'volume_threshold', volume: { op: 'lte', count: 0, event: 'view' }, domainId: 'dom_1' }
    const change = { alertType: 'tag_volume_change', volume: { direction: 'decrease', percent: 90, event: 'view' } }
    for (const rule of [{ alertType: 'volume_anomaly', volume: view }, counts, change]) {
      const alert = alertOfInput({ name: 'x', channels, period: '1h', ...rule }, 1)
      const fired = async (more: Partial<typeof parts & { gapsOf: typeof gapsOf }>) =>
        (await backtest(alert, 7, now, { ...parts, ...more })).buckets.filter(({ wouldFire }) => wouldFire).length
      expect(await fired({})).toBeGreaterThan(0)
      expect(await fired({ gapsOf })).toBe(0)
    }
  })

  test('agrees with the preview, which lists the windows newest first', async () => {
    const { fixture, parts } = await shop()
    await using _stand = fixture
    const { scanned, matched, samples } = await preview(anomaly(view), 168, now, parts)
    const { buckets } = await backtest(anomaly(view), 7, now, parts)
    expect(matched).toBe(buckets.reduce((sum, { matchCount }) => sum + matchCount, 0))
    expect(scanned).toBeGreaterThan(150 * 50)
    expect(scanned).toBeLessThan(170 * 60)
    expect(samples).toHaveLength(matched)
    expect(samples.at(-1)).toMatchObject({ vendor: 'Shop', event: 'view', observed: 0 })
    expect((await preview(anomaly({ vendor: '*' }), 168, now, parts)).scanned).toBeGreaterThan(scanned)
  })

  test('rejects sensitivities for other alert types', async () => {
    const { fixture, parts } = await shop()
    await using _stand = fixture
    const lte = alertOfInput(
      { name: 'x', channels, period: '1h', alertType: 'volume_threshold', volume: { op: 'lte', count: 0 } },
      1,
    )
    expect(backtest(lte, 7, now, parts, [4])).rejects.toThrow(/^sensitivities: not supported for a volume_threshold/)
  })
})
