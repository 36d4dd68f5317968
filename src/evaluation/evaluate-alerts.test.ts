import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { testApp } from '../../test/test-app.ts'
import { eventOf, NOON, validationInput, volumeInput, warehouseWith } from '../alerts/alert.fixture.ts'
import type { AlertInput } from '../alerts/alert.ts'
import { activeAlerts, createAlert, deleteAlert, setEnabled, updateAlert } from '../alerts/alert-store.ts'
import { addLateSpan, isLate, lateSpansBetween } from '../collectors/store.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { createDomain } from '../domains/store.ts'
import type { NotificationRequest } from '../issues/issue.ts'
import type { Gap } from '../signals/gap.ts'
import type { Query } from '../warehouse/query.ts'
import { addLateWindows } from './clock-step-windows.ts'
import { type EvaluateDeps, evaluate, WokenAlerts } from './evaluate-alerts.ts'

/** Creates alerts saved an hour before noon, and a warehouse with the events from that hour. The time is noon. */
async function setUp(
  inputs: readonly AlertInput[],
  eventsOf: (alertIds: string[], domainId: string, orgId: string) => Partial<StoredEvent>[] = () => [],
) {
  const db = memoryDb()
  const clock = testClock(NOON - HOUR_MS)
  const { orgId, mallory } = cast(db, clock)
  const domainId = createDomain(db, clock, orgId, { name: 'Shop' })
  const alerts = inputs.map((input) => createAlert(db, clock, orgId, input))
  const ids = alerts.map(({ id }) => id)
  const events = eventsOf(ids, domainId, orgId).map((event) => eventOf({ orgId, domainId, ...event }))
  const history = await warehouseWith(events)
  clock.set(NOON)
  const queries: Query[] = []
  const orders: NotificationRequest[] = []
  /** Replaced by tests that simulate failures. */
  const on = { query: () => {}, enqueue: (_order: NotificationRequest) => {}, gaps: [] as Gap[] }
  const parts: EvaluateDeps = {
    db,
    clock,
    warehouse: {
      async query<T>(query: Query): Promise<T[]> {
        queries.push(query)
        on.query()
        return history.query<T>(query)
      },
    },
    visible: { watermark: () => clock.now(), isVisible: () => true },
    woken: new WokenAlerts(),
    enqueue(order) {
      on.enqueue(order)
      orders.push(order)
    },
    gapsOf: (from, to) => on.gaps.filter(({ fromAt, toAt }) => fromAt < to && toAt > from),
    privacyOf: () => PLAIN_PRIVACY,
  }
  const occurrences = () =>
    db.prepare('SELECT alertId, sum(occurrences) AS count FROM issue GROUP BY alertId').all() as {
      alertId: string
      count: number
    }[]
  return {
    db,
    clock,
    orgId,
    mallory,
    domainId,
    ids,
    parts,
    queries,
    orders,
    on,
    run: () => evaluate(parts),
    /** Returns the number of violations counted on the issues of each alert. */
    counted: () => ids.map((id) => occurrences().find(({ alertId }) => alertId === id)?.count ?? 0),
    /** Returns the time up to which each alert has been evaluated. */
    through: () =>
      ids.map((id) => activeAlerts(db).find(({ alert }) => alert.id === id)?.cursor.evaluatedThrough ?? null),
    [Symbol.dispose]: () => history[Symbol.dispose](),
  }
}

const hourly = validationInput
const quarterly = { ...validationInput, period: '15m' }

describe('alerts that share a window', () => {
  test.each<[string, AlertInput[], number]>([
    ['two of the same type', [hourly, hourly], 1],
    ['ten of the same type', Array.from({ length: 10 }, () => hourly), 1],
    ['two of different types', [hourly, volumeInput], 2],
    ['five of two types', [hourly, volumeInput, hourly, volumeInput, volumeInput], 2],
    ['none, because their periods differ', [hourly, quarterly], 5],
    ['none, because there are no alerts', [], 0],
  ])('are measured together: %s', async (_what, inputs, expected) => {
    using world = await setUp(inputs)
    await world.run()
    expect(world.queries).toHaveLength(expected)
    await world.run()
    expect(world.queries).toHaveLength(expected)
  })

  test('share one query for samples', async () => {
    using world = await setUp([hourly, hourly], (ids) => [{ violations: ids }, { violations: ids.slice(1), seq: 7 }])
    await world.run()
    // One query each for violations, samples and totals.
    expect(world.queries).toHaveLength(3)
    expect(world.counted()).toEqual([1, 2])
  })

  test('of another organization are measured separately', async () => {
    using world = await setUp([volumeInput])
    createAlert(world.db, { now: () => NOON - HOUR_MS }, world.mallory.orgId, volumeInput)
    await world.run()
    expect(new Set(world.queries.map(({ orgId }) => orgId))).toEqual(new Set([world.orgId, world.mallory.orgId]))
  })
})

test('windows are evaluated in the order of their ends, across alerts', async () => {
  using world = await setUp([hourly, quarterly])
  await world.run()
  expect(world.queries.map(({ window }) => (window.to - NOON) / MINUTE_MS)).toEqual([-45, -30, -15, 0, 0])
})

describe('evaluation during a collection gap', () => {
  const lte: AlertInput = { ...volumeInput, volume: { op: 'lte', count: 5 } }
  const change: AlertInput = {
    ...volumeInput,
    alertType: 'tag_volume_change',
    volume: { direction: 'decrease', percent: 50 },
  }
  const gap = (from: number, to: number): Gap => {
    return { fromAt: NOON + from * MINUTE_MS, toAt: NOON + to * MINUTE_MS, cause: 'down' }
  }

  test.each<[string, Gap[], number[]]>([
    ['no gap', [], [1, 1]],
    ['3 minutes of the hour', [gap(-20, -17)], [0, 1]],
    ['less than 3 minutes of the hour', [gap(-20, -18)], [1, 1]],
    ['in the previous hour', [gap(-90, -70)], [1, 1]],
  ])('skips counts that the gap affects: %s', async (_, gaps, expected) => {
    using world = await setUp([lte, hourly, change], (ids) => [{ violations: ids.slice(1, 2) }])
    world.on.gaps = gaps
    await world.run()
    expect(world.counted()).toEqual([...expected, 0])
    expect(world.through()).toEqual([NOON, NOON, NOON])
  })

  test('resolves no open issue, and counts later findings', async () => {
    using world = await setUp([lte])
    await world.run()
    for (const [hour, status] of [
      [1, 'open'],
      [2, 'open'],
      [3, 'open'],
      [4, 'open'],
    ] as const) {
      world.on.gaps = [gap((hour - 1) * 60, hour * 60)]
      world.clock.set(NOON + hour * HOUR_MS)
      await world.run()
      expect(world.db.prepare('SELECT status FROM issue').pluck().all()).toEqual([status])
    }
    world.on.gaps = []
    world.clock.set(NOON + 5 * HOUR_MS)
    await world.run()
    expect(world.counted()).toEqual([2])
  })
})

/** Never yields, so that the test does not depend on the speed of the machine. */
function inOneTurn(): Disposable {
  const own = Object.getOwnPropertyDescriptor(Yielder.prototype, 'isDue') ?? {}
  Object.defineProperty(Yielder.prototype, 'isDue', { configurable: true, get: () => false })
  return { [Symbol.dispose]: () => void Object.defineProperty(Yielder.prototype, 'isDue', own) }
}

describe('a failing alert', () => {
  const broken: (ids: string[]) => Partial<StoredEvent>[] = (ids) => [{ violations: ids }]

  test('does not affect others or advance its cursor, and counts its violations once when it works again', async () => {
    using world = await setUp([hourly, hourly, quarterly], broken)
    const [first = ''] = world.ids
    let isFailing = true
    world.on.enqueue = (order) => {
      const alertId = world.db.prepare('SELECT alertId FROM issue WHERE id = ?').pluck().get(order.issueId)
      if (isFailing && alertId === first) throw new Error('disk full')
    }
    await expect(world.run()).rejects.toThrow(`1 evaluations failed: ${first}: disk full`)
    expect(world.counted()).toEqual([0, 1, 1])
    expect(world.through()).toEqual([NOON - HOUR_MS, NOON, NOON])
    await expect(world.run()).rejects.toThrow('disk full')
    isFailing = false
    await world.run()
    expect(world.counted()).toEqual([1, 1, 1])
    await world.run()
    expect(world.counted()).toEqual([1, 1, 1])
    expect(world.orders).toHaveLength(3)
  })

  test('that rolls back the transaction leaves its whole group for the next round', async () => {
    using _ = inOneTurn()
    using world = await setUp([hourly, hourly], broken)
    let calls = 0
    world.on.enqueue = () => {
      if (++calls !== 2) return
      world.db.exec('ROLLBACK')
      throw new Error('disk full')
    }
    await expect(world.run()).rejects.toThrow('2 evaluations failed')
    expect(world.counted()).toEqual([0, 0])
    expect(world.through()).toEqual([NOON - HOUR_MS, NOON - HOUR_MS])
    await world.run()
    expect(world.counted()).toEqual([1, 1])
  })

  test('is the only one that fails among hundreds, at any position', async () => {
    const many = Array.from({ length: 600 }, () => hourly)
    using world = await setUp(many, broken)
    const failing = world.ids[417]
    world.on.enqueue = (order) => {
      const alertId = world.db.prepare('SELECT alertId FROM issue WHERE id = ?').pluck().get(order.issueId)
      if (alertId === failing) throw new Error('disk full')
    }
    await expect(world.run()).rejects.toThrow(`1 evaluations failed: ${failing}: disk full`)
    expect(world.counted()).toEqual(many.map((_, index) => (index === 417 ? 0 : 1)))
    world.on.enqueue = () => {}
    await world.run()
    expect(world.counted()).toEqual(many.map(() => 1))
  })

  test('is retried after a warehouse failure, including the partial window that triggered it', async () => {
    using world = await setUp([hourly, hourly], (ids) => [{ violations: ids, receivedAt: NOON + 1 }])
    await world.run()
    world.parts.woken.add(world.ids.slice(0, 1), world.domainId, NOON + 1)
    world.clock.advance(2)
    world.on.query = () => {
      throw new Error('out of memory')
    }
    await expect(world.run()).rejects.toThrow('out of memory')
    expect(world.counted()).toEqual([0, 0])
    world.on.query = () => {}
    await world.run()
    expect(world.counted()).toEqual([1, 0])
    expect(world.through()).toEqual([NOON + 2, NOON])
  })
})

describe('an alert that changes during its evaluation', () => {
  const rename = { ...hourly, name: 'Other name' }
  const widen: AlertInput = { ...hourly, vendors: ['Shop'] }
  test.each<[string, (world: Awaited<ReturnType<typeof setUp>>, id: string) => void, number]>([
    ['renamed', ({ db, clock, orgId }, id) => updateAlert(db, clock, { orgId, id }, rename), 1],
    ['with a different rule', ({ db, clock, orgId }, id) => updateAlert(db, clock, { orgId, id }, widen), 0],
    ['disabled', ({ db, clock, orgId }, id) => setEnabled(db, clock, { orgId, id }, false), 0],
    ['deleted', ({ db, orgId }, id) => deleteAlert(db, { orgId, id }, () => {}), 0],
  ])('counts findings only while they still apply: %s', async (_what, change, expected) => {
    using world = await setUp([hourly], (ids) => [{ violations: ids }])
    world.on.query = () => {
      world.on.query = () => {}
      change(world, world.ids[0] ?? '')
    }
    await world.run()
    expect(world.counted()).toEqual([expected])
    expect(world.orders).toHaveLength(expected)
  })
})

describe('the early evaluation of an alert', () => {
  const issue = (status: string, firing: number) => ({ status, firing })
  test.each<[string, { status: string; firing: number } | null, boolean]>([
    ['no issue', null, true],
    ['an open issue', issue('open', 1), false],
    ['an open issue that is clear', issue('open', 0), false],
    ['a muted issue', issue('muted', 1), false],
    ['an acknowledged issue that fires', issue('acknowledged', 1), false],
    ['an acknowledged issue that is clear', issue('acknowledged', 0), true],
    ['a resolved issue', issue('resolved', 0), true],
  ])('after a violation depends on the state of the issue: %s', async (_what, state, expected) => {
    using world = await setUp([hourly], (ids) => [{ violations: ids }])
    const [id = ''] = world.ids
    await world.run()
    if (state) world.db.prepare('UPDATE issue SET status = ?, firing = ?').run(state.status, state.firing)
    else world.db.prepare('DELETE FROM issue').run()
    const { woken } = world.parts
    const take = () => woken.take(world.db, id, NOON + 1)
    expect(take()).toBe(false)
    woken.add([id], world.domainId, NOON)
    expect(take()).toBe(expected)
    expect(take()).toBe(false)
    woken.add([id], world.domainId, NOON)
    woken.add([id], 'dom_other', NOON)
    expect(take()).toBe(true)
  })

  test('runs each minute while the issue is open, counting events with totals of the window so far', async () => {
    const clean = (receivedAt: number) => ({ receivedAt, violations: [] })
    using world = await setUp([hourly], (violations) => [
      { violations, receivedAt: NOON + 1, params: {} },
      { violations, receivedAt: NOON + 2000, params: {} },
      ...[1, 2, 3].map((at) => clean(NOON + at * 1000)),
      { violations, receivedAt: NOON + MINUTE_MS + 1, params: {} },
    ])
    await world.run()
    const issue = () =>
      world.db.prepare('SELECT occurrences, evidence FROM issue').get() as { occurrences: number; evidence: string }
    const arriveAt = async (at: number) => {
      world.clock.set(at + 1)
      world.parts.woken.add(world.ids, world.domainId, at)
      await world.run()
      return issue().occurrences
    }
    expect(await arriveAt(NOON + 1)).toBe(1)
    expect(await arriveAt(NOON + 2000)).toBe(1)
    world.clock.set(NOON + MINUTE_MS)
    await world.run()
    expect(issue().occurrences).toBe(2)
    expect(await arriveAt(NOON + MINUTE_MS + 1)).toBe(2)
    world.clock.set(NOON + HOUR_MS)
    await world.run()
    expect(issue().occurrences).toBe(3)
    const { occurrences, observed, summary } = JSON.parse(issue().evidence)
    expect([occurrences, observed]).toEqual([3, 3])
    expect(summary).toMatch(/^3 of 6 /)
    expect(world.orders).toHaveLength(1)
  })

  test('waits for the next round when the event is not visible yet', async () => {
    using world = await setUp([hourly], (ids) => [{ violations: ids, receivedAt: NOON + 5 }])
    await world.run()
    const { woken } = world.parts
    world.clock.set(NOON + 5)
    woken.add(world.ids, world.domainId, NOON + 5)
    await world.run()
    expect(world.counted()).toEqual([0])
    world.clock.set(NOON + 6)
    await world.run()
    expect(world.counted()).toEqual([1])
  })

  test('is requested for a possible new issue, and again if a violation came too late for a round', () => {
    const db = memoryDb()
    const woken = new WokenAlerts()
    woken.candidates(NOON)
    woken.roundEnded()
    let rung = 0
    woken.emitter.subscribe(() => rung++)
    woken.add(['alr_a', 'alr_b'], 'dom_1', NOON)
    woken.add(['alr_a'], 'dom_1', NOON + 1)
    expect(rung).toBe(1)
    woken.add(['alr_a'], 'dom_2', NOON + 1)
    expect(rung).toBe(2)
    woken.take(db, 'alr_a', NOON + 1)
    woken.roundEnded()
    expect(rung).toBe(3)
    woken.take(db, 'alr_a', NOON + 2)
    woken.roundEnded()
    expect(rung).toBe(3)
    woken.add(['alr_a'], 'dom_1', NOON + 3)
    expect(rung).toBe(4)
  })

  test('includes alerts that are violated all the time if events can only be queried after some seconds', () => {
    const db = memoryDb()
    const woken = new WokenAlerts(NOON)
    woken.candidates(NOON)
    woken.roundEnded()
    let rung = 0
    woken.emitter.subscribe(() => rung++)
    const taken: boolean[] = []
    for (let second = 0; second < 12; second++) {
      woken.add(['alr_a'], 'dom_1', NOON + second)
      taken.push(woken.take(db, 'alr_a', NOON + second - 3))
      woken.roundEnded()
    }
    expect(taken.indexOf(true)).toBe(4)
    expect(taken.filter((one) => one).length).toBeGreaterThan(1)
    // A round would find nothing before the events can be queried.
    expect(rung).toBe(1)
    for (let second = 12; second < 20; second++) woken.take(db, 'alr_a', NOON + second)
    expect(woken.candidates(NOON + 20)).toEqual([])
  })

  test('also runs at startup, because recent violations are not in memory', async () => {
    using world = await setUp([hourly])
    const woken = new WokenAlerts()
    expect(woken.candidates(NOON)).toBeNull()
    expect(woken.take(world.db, 'alr_any', NOON)).toBe(true)
    woken.roundEnded()
    expect(woken.candidates(NOON)).toEqual([])
    expect(woken.take(world.db, 'alr_any', NOON)).toBe(false)
  })

  test('waits at startup until the events from before can be queried', () => {
    const db = memoryDb()
    const woken = new WokenAlerts(NOON)
    expect(woken.candidates(NOON - 1)).toEqual([])
    expect(woken.take(db, 'alr_any', NOON - 1)).toBe(false)
    woken.roundEnded()
    expect(woken.candidates(NOON)).toBeNull()
    expect(woken.take(db, 'alr_any', NOON)).toBe(true)
    woken.roundEnded()
    expect(woken.candidates(NOON)).toEqual([])
  })
})

/** Possible events, in any order. */
type Step =
  | { do: 'send'; missing: ('a' | 'b' | 'c')[]; domain: 0 | 1; count: number }
  | { do: 'race'; missing: ('a' | 'b' | 'c')[]; domain: 0 | 1; count: number }
  | { do: 'wait'; ms: number }
  | { do: 'run'; job: 'evaluate' | 'flush' | 'compact' | 'deliver' }
  | { do: 'restart' | 'crash' }
  | { do: 'patch'; status: 'open' | 'acknowledged' | 'resolved' | 'muted'; which: number }

const missing = fc.subarray(['a', 'b', 'c'] as const).map((keys) => [...keys])
const sent = { missing, domain: fc.constantFrom(0, 1), count: fc.integer({ min: 1, max: 3 }) }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send'), ...sent }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('race'), ...sent }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('wait'),
      ms: fc.constantFrom(1, 999, 5000, 7 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 26 * HOUR_MS, 8 * DAY_MS),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('run'),
      job: fc.constantFrom('evaluate', 'evaluate', 'flush', 'compact', 'deliver'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart', 'crash') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('patch'),
      status: fc.constantFrom('open', 'acknowledged', 'resolved', 'muted'),
      which: fc.nat({ max: 5 }),
    }),
  },
) as fc.Arbitrary<Step>

test('every violating event is counted exactly once on one issue, despite any failures', async () => {
  const script = async (steps: readonly Step[]) => {
    await using world = await testApp(
      {},
      { transport: { send: async () => ({ kind: 'status', status: 200, headers: {}, body: '' }) } },
    )
    const post = async (path: string, body: object) => (await world.call('POST', path, { body })).body
    const domains = [await post('/v1/domains', { name: 'One' }), await post('/v1/domains', { name: 'Two' })]
    const alerts = new Map<string, string>()
    for (const [key, period] of [
      ['a', '1h'],
      ['b', '1h'],
      ['c', '15m'],
    ] as const) {
      const conditions = { logic: 'all', items: [{ parameter: key, op: 'is_blank' }] }
      alerts.set(key, (await post('/v1/alerts', { ...validationInput, conditions, period })).id)
    }
    const violations = new Map<string, number>()
    const send = async ({ missing, domain, count }: Extract<Step, { do: 'send' | 'race' }>) => {
      const params = Object.fromEntries(['a', 'b', 'c'].map((key) => [key, missing.includes(key as 'a') ? '' : 'x']))
      const events = Array.from({ length: count }, () => ({ vendor: 'Shop', event: 'view', params }))
      const { body } = await world.collect(domains[domain].token, { events })
      expect(body.accepted).toBe(count)
      for (const key of missing) violations.set(key, (violations.get(key) ?? 0) + count)
    }
    const patch = async (status: string, which: number) => {
      const { body } = await world.call('GET', '/v1/issues')
      const issue = body.issues[which]
      if (issue) await world.call('PATCH', `/v1/issues/${issue.id}`, { body: { status } })
    }
    for (const one of steps) {
      if (one.do === 'send') await send(one)
      else if (one.do === 'race') await Promise.all([world.run('evaluate'), send(one), world.run('flush')])
      else if (one.do === 'wait') world.clock.advance(one.ms)
      else if (one.do === 'run') await world.run(one.job)
      else if (one.do === 'patch') await patch(one.status, one.which)
      else await world[one.do]()
    }
    world.clock.advance(HOUR_MS)
    await world.run('evaluate')
    for (const [key, alertId] of alerts) {
      const count = world.app.db.prepare('SELECT ifnull(sum(occurrences), 0) FROM issue WHERE alertId = ?')
      expect([key, count.pluck().get(alertId)]).toEqual([key, violations.get(key) ?? 0])
      const series = world.app.db.prepare(
        'SELECT ifnull(sum(count), 0) FROM issueOccurrence JOIN issue ON issue.id = issueId WHERE alertId = ?',
      )
      expect([key, series.pluck().get(alertId)]).toEqual([key, violations.get(key) ?? 0])
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), script), { numRuns: 15 })
})

describe('late events of a collector', () => {
  const SLOT = 5
  const seq = (index: number) => SLOT + 64 * index
  const span = {
    slot: SLOT,
    afterSeq: seq(10),
    lastSeq: seq(12),
    fromAt: NOON - 30 * MINUTE_MS,
    toAt: NOON - MINUTE_MS,
  }
  const late = (violations: string[]): Partial<StoredEvent>[] => [
    { violations, seq: seq(11), receivedAt: span.fromAt },
    { violations, seq: seq(12), receivedAt: span.toAt },
  ]
  const others = (violations: string[]): Partial<StoredEvent>[] => [
    { violations, seq: seq(10), receivedAt: span.fromAt },
    { violations, seq: seq(11) + 1, receivedAt: span.fromAt },
  ]

  test.each([
    ['alone', false],
    ['among others', true],
  ])('alert once, and are not in the windows of their time: %s', async (_, isAmong) => {
    using world = await setUp([hourly, { ...volumeInput, volume: { op: 'gte', count: 99 } }], ([id = '']) => [
      ...late([id]),
      ...(isAmong ? others([id]) : []),
    ])
    const [id = ''] = world.ids
    addLateSpan(world.db, span)
    await world.run()
    expect(world.counted()[0]).toBe(isAmong ? 2 : 0)
    addLateWindows(world.db, span, new Set(world.ids))
    addLateWindows(world.db, span, new Set(world.ids))
    world.parts.woken.add([id], world.domainId, span.toAt)
    await world.run()
    await world.run()
    expect(world.counted()[0]).toBe(isAmong ? 4 : 2)
    expect(world.orders).toHaveLength(1)
  })

  test('extend a span that they follow, once', () => {
    const db = memoryDb()
    const next = { ...span, afterSeq: span.lastSeq, lastSeq: seq(20), toAt: NOON }
    for (const one of [span, span, next, next]) addLateSpan(db, one)
    addLateSpan(db, { ...next, slot: 6 })
    expect(lateSpansBetween(db, span.fromAt, NOON)).toEqual([
      { ...span, lastSeq: seq(20), toAt: NOON },
      { ...next, slot: 6 },
    ])
    expect([isLate(db, span), isLate(db, next), isLate(db, { ...span, slot: 7 })]).toEqual([true, true, false])
    expect(lateSpansBetween(db, NOON + 1, NOON + 2)).toEqual([])
  })
})
