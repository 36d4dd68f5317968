import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cast, memoryDb, TEST_START, testClock } from '../../test/fixtures.ts'
import type { Alert, AlertInput } from '../alerts/alert.ts'
import { parsePeriod } from '../alerts/alert-period.ts'
import { activeAlerts, createAlert, watchedDomains } from '../alerts/alert-store.ts'
import { wholeWindows } from '../alerts/alert-windows.ts'
import { causesNotification } from '../alerts/finding.ts'
import { judgeHistory } from '../alerts/judge-past-events.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import type { NotificationRequest } from '../issues/issue.ts'
import type { Gap } from '../signals/gap.ts'
import type { SeriesScope } from '../signals/series.ts'
import { TICK_MS } from '../signals/series.ts'
import { CountsFixture, hours, type Traffic } from '../signals/series-monitor.fixture.ts'
import { ServerOutageDetector } from '../signals/server-outage.ts'
import type { SignalSetting } from '../signals/signal.ts'
import type { VerdictRow } from '../signals/verdict-row.ts'
import { type EvaluateSeriesDeps, evaluateSeries, monitorSeries } from './evaluate-series.ts'

/** Noon on a Monday. */
const NOON = Date.UTC(2026, 2, 9, 12)
const channels: AlertInput['channels'] = [{ type: 'email', target: 'ann@example.com' }]
const signals: AlertInput = {
  name: 'Signals',
  alertType: 'volume_anomaly',
  volume: { vendor: '*', sensitivity: 5 },
  period: '1h',
  channels,
}
const one: AlertInput = { ...signals, name: 'Views', volume: { vendor: 'Shop', event: 'view', sensitivity: 5 } }

interface Notification {
  at: Instant
  transition: string
  subject: string
}

/** Ten weeks of traffic until some days after noon, and alerts that were saved at eleven. */
async function setUp(inputs: readonly AlertInput[], traffic: readonly Partial<Traffic>[]) {
  const db = memoryDb()
  const clock = testClock(NOON - HOUR_MS)
  const { orgId } = cast(db, clock)
  const domainId = createDomain(db, clock, orgId, { name: 'Shop' })
  const span = { from: NOON - 66 * DAY_MS, to: NOON + 4 * DAY_MS, perHour: 60 }
  const history = await CountsFixture.with(...traffic.map((of) => ({ ...span, orgId, domainId, ...of })))
  const alerts = inputs.map((input) => createAlert(db, clock, orgId, input))
  const notifications: Notification[] = []
  const on = { gaps: [] as Gap[], settings: [] as SignalSetting[], suspected: false, calls: 0 }
  const gapsOf = (from: Instant, to: Instant) => on.gaps.filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
  const settingsOf = () => on.settings
  const subjectOf = (issueId: string) =>
    db.prepare<[string], string>('SELECT subject FROM issue WHERE id = ?').pluck().get(issueId) ?? ''
  const newParts = (): EvaluateSeriesDeps => ({
    db,
    clock,
    gapsOf,
    visible: { watermark: () => clock.now() },
    seriesMonitor: history.seriesMonitor({ gapsOf, settingsOf }),
    suspected: async () => on.suspected,
    enqueue(order: NotificationRequest) {
      if (order.kind !== 'notify') return
      notifications.push({ at: clock.now(), transition: order.transition, subject: subjectOf(order.issueId) })
    },
  })
  let parts = newParts()
  return {
    db,
    clock,
    orgId,
    domainId,
    alerts,
    notifications,
    on,
    history,
    restart() {
      parts = newParts()
    },
    /** Evaluates shortly after each tick until `to`. */
    async until(to: Instant) {
      for (let at = clock.now(); at < to; at = clock.now()) {
        clock.set(Math.min(to, (Math.floor(at / TICK_MS) + 1) * TICK_MS + 1000))
        await evaluateSeries(parts)
      }
    },
    /** Sets the clock to `to` and evaluates once. */
    async jump(to: Instant) {
      clock.set(to)
      await evaluateSeries(parts)
    },
    transitions: () => notifications.map(({ transition, subject }) => `${transition} ${subject || 'all'}`),
    issues: () =>
      db
        .prepare<[], { subject: string; status: string; occurrences: number; title: string }>(
          'SELECT subject, status, occurrences, title FROM issue ORDER BY id',
        )
        .all(),
    cursor: () => activeAlerts(db)[0]?.cursor,
    past: (alert: Alert, windows: Parameters<typeof judgeHistory>[1]) =>
      judgeHistory(alert, windows, {
        warehouse: history.fixture.warehouse,
        gapsOf,
        settingsOf,
        privacy: PLAIN_PRIVACY,
        domains: watchedDomains(db, orgId),
      }),
    async [Symbol.asyncDispose]() {
      await history[Symbol.asyncDispose]()
      db.close()
    },
  }
}

const dies = (from: Instant, to: Instant) => [{ from, to, factor: 0 }]

describe('a dead tag', () => {
  const deadAt = NOON + 7 * MINUTE_MS
  const traffic = [
    { event: 'view', faults: dies(deadAt, deadAt + hours(5)) },
    { event: 'buy', perHour: 40 },
  ]

  test.each([
    ['by an alert for all signals', signals],
    ['by an alert for one signal', one],
  ])('is reported within half an hour %s', async (_, input) => {
    await using world = await setUp([input], traffic)
    await world.until(NOON + hours(9))
    expect(world.transitions()).toEqual(['opened Shop view', 'resolved Shop view'])
    expect(world.notifications[0]?.at).toBeLessThanOrEqual(deadAt + 30 * MINUTE_MS)
    // Five silent hours, and the hour of recovery.
    expect(world.issues()).toMatchObject([{ subject: 'Shop view', status: 'resolved', occurrences: 6 }])
    expect(world.issues()[0]?.title).toMatch(
      /^\w+ \(Shop view\): no event since 9 Mar 2026, 12:0\d UTC, about \d+ expected$/,
    )
  })

  test('is still monitored after a restart', async () => {
    await using world = await setUp([signals], traffic)
    await world.until(NOON + hours(1))
    world.restart()
    await world.until(NOON + hours(3))
    world.restart()
    await world.until(NOON + hours(9))
    expect(world.transitions()).toEqual(['opened Shop view', 'resolved Shop view'])
  })

  test('opens no issue when its signal is muted or off', async () => {
    for (const mode of ['muted', 'off'] as const) {
      await using world = await setUp([signals], traffic)
      world.on.settings = [{ domainId: world.domainId, vendor: 'Shop', event: 'view', mode, sensitivity: null }]
      await world.until(NOON + hours(3))
      expect(world.issues()).toEqual([])
    }
  })

  test('outside the run windows is reported when the next window begins', async () => {
    const runWindows = { hours: [15, 20] }
    await using world = await setUp(
      [
        { ...signals, runWindows },
        { ...signals, period: '1d', runWindows },
      ],
      traffic,
    )
    await world.until(NOON + hours(4))
    expect(world.transitions()).toEqual(['opened Shop view', 'opened Shop view'])
    for (const { at } of world.notifications) {
      expect(at).toBeGreaterThan(NOON + hours(3))
      expect(at).toBeLessThan(NOON + hours(3) + 10 * MINUTE_MS)
    }
  })
})

describe('all traffic of a domain', () => {
  const downAt = NOON + 10 * MINUTE_MS
  const backAt = downAt + hours(3)
  const all = [
    { event: 'view', faults: dies(downAt, backAt), perHour: 120 },
    { event: 'buy', faults: dies(downAt, backAt), perHour: 30 },
    { event: 'cart', faults: dies(downAt, backAt), perHour: 60 },
  ]

  test('opens one issue for the domain, and none for its signals, when it drops', async () => {
    await using world = await setUp([signals], all)
    await world.until(NOON + hours(9))
    expect(world.transitions()).toEqual(['opened all', 'resolved all'])
    expect(world.issues()).toMatchObject([{ subject: '', status: 'resolved' }])
    expect(world.issues()[0]?.title).toStartWith('Signals: all traffic of the domain dropped: no event since')
  })

  test('resolves its issue when it recovers, and a tag that is still silent is reported', async () => {
    const [view, buy, cart] = all
    await using world = await setUp(
      [signals],
      [view ?? {}, buy ?? {}, { ...cart, faults: dies(downAt, NOON + DAY_MS) }],
    )
    await world.until(NOON + hours(9))
    expect(world.transitions()).toEqual(['opened all', 'opened Shop cart', 'resolved all'])
    expect(world.notifications[1]?.at).toBeLessThan(backAt + hours(5))
  })

  test('opens an issue when it drops to a third', async () => {
    const third = all.map((of) => ({ ...of, faults: [{ from: downAt, to: backAt, factor: 0.3 }] }))
    await using world = await setUp([signals], third)
    await world.until(NOON + hours(8))
    expect(world.transitions()).toEqual(['opened all', 'resolved all'])
  })

  test('opens no issue when only one of three tags dies', async () => {
    const [view, buy, cart] = all
    const others = [view, buy].map((of) => ({ ...of, faults: [] }))
    await using world = await setUp([signals], [...others, cart ?? {}])
    await world.until(NOON + hours(2))
    expect(world.transitions()).toEqual(['opened Shop cart'])
  })

  test('explains an issue that was already open, without closing it', async () => {
    const [view, buy, cart] = all
    await using world = await setUp(
      [signals],
      [view ?? {}, buy ?? {}, { ...cart, faults: dies(NOON - hours(3), backAt) }],
    )
    await world.until(NOON + hours(2))
    // The drop was reported before the alert was saved, so no notification is sent.
    expect(world.transitions()).toEqual(['opened all'])
  })
})

describe('a failure of the server itself', () => {
  const from = NOON + 7 * MINUTE_MS
  const traffic = [{ event: 'view', faults: dies(from, from + hours(2)) }]

  test('opens no issue for a collection gap, and the alert continues afterwards', async () => {
    await using world = await setUp([signals], traffic)
    world.on.gaps = [{ fromAt: from, toAt: from + hours(2), cause: 'down' }]
    await world.until(NOON + hours(6))
    expect(world.issues()).toEqual([])
    expect(world.cursor()).toEqual({ evaluatedThrough: NOON + hours(6), windowStartAt: NOON + hours(6) })
  })

  test('opens no issue when all domains drop at the same time, but rises are still reported', async () => {
    const rises = { event: 'buy', faults: [{ from, to: from + hours(2), factor: 4 }] }
    await using world = await setUp([signals], [...traffic, rises])
    world.on.suspected = true
    await world.until(NOON + hours(2))
    expect(world.transitions()).toEqual(['opened Shop buy'])
    world.on.suspected = false
    await world.until(NOON + hours(6))
    expect(world.transitions()).toEqual(['opened Shop buy', 'resolved Shop buy'])
  })

  test('resolves no issue that was already open', async () => {
    await using world = await setUp(
      [signals],
      [{ event: 'view', faults: dies(from, from + hours(12)) }, { event: 'buy' }],
    )
    await world.until(NOON + hours(2))
    const gap: Gap = { fromAt: NOON + hours(2), toAt: NOON + hours(6), cause: 'refused' }
    world.on.gaps = [gap]
    await world.until(NOON + hours(8))
    expect(world.transitions()).toEqual(['opened Shop view'])
    expect(world.issues()).toMatchObject([{ status: 'open' }])
  })
})

describe('after downtime', () => {
  test('of several hours, each missed window is evaluated separately', async () => {
    await using world = await setUp([one], [{ event: 'view', faults: dies(NOON + hours(2), NOON + hours(4)) }])
    await world.until(NOON + hours(1))
    world.restart()
    await world.jump(NOON + hours(8) + 1000)
    expect(world.transitions()).toEqual(['opened Shop view', 'resolved Shop view'])
  })

  test('of several days, the last 24 windows are evaluated', async () => {
    await using world = await setUp([one], [{ event: 'view', faults: dies(NOON + hours(2), NOON + hours(4)) }])
    await world.until(NOON + hours(1))
    world.restart()
    await world.jump(NOON + 3 * DAY_MS + 1000)
    expect(world.transitions()).toEqual([])
    expect(world.cursor()).toEqual({ evaluatedThrough: NOON + 3 * DAY_MS, windowStartAt: NOON + 3 * DAY_MS })
  })
})

test('a backtest fires at the same times as the scheduler', async () => {
  const fault = fc.record({
    event: fc.constantFrom('view', 'buy'),
    from: fc.integer({ min: 0, max: 26 * 12 }),
    ticks: fc.integer({ min: 3, max: 16 * 12 }),
    factor: fc.constantFrom(0, 0.3, 4),
  })
  const gap = fc.record({ from: fc.integer({ min: 0, max: 28 * 60 }), minutes: fc.integer({ min: 3, max: 200 }) })
  const world = fc.record({
    faults: fc.array(fault, { minLength: 1, maxLength: 3 }),
    gap: fc.option(gap),
    period: fc.constantFrom('1h', '3h', '1h', '15m'),
    hours: fc.option(fc.constant<[number, number]>([8, 18])),
  })
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const faultsOf = (event: string) =>
        given.faults
          .filter((of) => of.event === event)
          .map(({ from, ticks, factor }) => {
            const at = NOON + from * TICK_MS
            return { from: at, to: at + ticks * TICK_MS, factor }
          })
      const runWindows = given.hours ? { runWindows: { hours: given.hours } } : {}
      const period = given.period === '15m' ? {} : { period: given.period }
      const inputs = [
        { ...signals, ...period, ...runWindows },
        { ...one, period: given.period, ...runWindows },
      ]
      const traffic = [
        { event: 'view', faults: faultsOf('view') },
        { event: 'buy', faults: faultsOf('buy'), perHour: 20 },
        { event: 'cart', perHour: 200 },
      ]
      await using fixture = await setUp(inputs, traffic)
      const { gap } = given
      const fromAt = NOON + (gap?.from ?? 0) * MINUTE_MS
      if (gap) fixture.on.gaps = [{ fromAt, toAt: fromAt + gap.minutes * MINUTE_MS, cause: 'down' }]
      await fixture.until(NOON + hours(30))
      const scheduled = fixture.db
        .prepare<[], { alertId: string; subject: string; kind: string; createdAt: Instant }>(
          `SELECT alertId, subject, kind, createdAt FROM issueHistory JOIN issue ON issue.id = issueId
           WHERE kind IN ('opened', 'reopened', 'fired') ORDER BY seq`,
        )
        .all()
      for (const alert of fixture.alerts) {
        const windows = wholeWindows(parsePeriod(alert.period), alert.timezone, NOON, NOON + hours(30))
        const { findings } = await fixture.past(alert, windows)
        const predicted = findings.flatMap((found, index) =>
          found.filter(causesNotification).map(({ subject }) => `${subject} ${windows[index]?.from}`),
        )
        const windowOf = (at: Instant) => windows.find(({ from, to }) => at - 1000 > from && at - 1000 <= to)?.from
        const notifications = scheduled
          .filter(({ alertId }) => alertId === alert.id)
          .map(({ subject, createdAt }) => `${subject} ${windowOf(createdAt)}`)
        expect(notifications.toSorted()).toEqual(predicted.toSorted())
      }
    }),
    { numRuns: 2 },
  )
})

test('a suspected outage ends when traffic returns, even without a drop that triggers a check', async () => {
  const clock = testClock()
  let down = true
  const evaluated: Instant[] = []
  const seriesMonitor = {
    async verdicts(scopes: readonly SeriesScope[], [window]: readonly { to: Instant }[]) {
      if (window) evaluated.push(window.to)
      const since = clock.now() - HOUR_MS
      // Only the state of the domain matters.
      return [
        scopes.map(({ domainId }) => ({ domainId, state: down ? 'silent' : 'normal', down, since })),
      ] as VerdictRow[][]
    },
  }
  const domains = ['a', 'b', 'c'].map((domainId) => ({ orgId: 'o', domainId, sensitivity: 5, timezone: 'UTC' }))
  const warehouse = { query: async () => [] }
  const serverOutage = new ServerOutageDetector({ warehouse, seriesMonitor, domains: () => domains, onSuspected() {} })
  const parts = {
    db: memoryDb(),
    clock,
    seriesMonitor,
    serverOutage,
    enqueue() {},
    visible: { watermark: () => clock.now() + MINUTE_MS },
    gapsOf: () => [],
  }
  await monitorSeries(parts)
  expect(evaluated).toEqual([])
  expect(await serverOutage.isSuspectedAt(TEST_START - 5 * MINUTE_MS)).toBe(true)
  await monitorSeries(parts)
  expect(serverOutage.suspected).toBe(true)
  down = false
  clock.advance(5 * MINUTE_MS)
  await monitorSeries(parts)
  await monitorSeries(parts)
  expect([serverOutage.suspected, evaluated.map((at) => at - TEST_START)]).toEqual([
    false,
    [-5, 0, 5].map((m) => m * MINUTE_MS),
  ])
})
