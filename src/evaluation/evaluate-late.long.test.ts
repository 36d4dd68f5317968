import { expect, test } from 'bun:test'
import { TEST_START } from '../../test/fixtures.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { MAX_LATE_WINDOWS } from '../alerts/due-windows.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/** Usual number of events per hour, and the number per hour while nothing is evaluated. */
const [USUAL, MANY] = [30, 150]
/** Long enough to learn the usual traffic. */
const HISTORY_MS = 8 * DAY_MS
const SAVED_AT = TEST_START + HISTORY_MS
const at = (hours: number): Instant => SAVED_AT + hours * HOUR_MS

const RULES = {
  data_validation: { conditions: { logic: 'any', items: [{ parameter: 'value', op: 'equals', values: ['bad'] }] } },
  tag_volume_change: { volume: { direction: 'increase', percent: 100 } },
  volume_threshold: { volume: { op: 'gte', count: 100 } },
  volume_anomaly: { volume: { vendor: 'Shop' } },
  journey: {
    journey: {
      steps: [
        { vendor: 'Shop', event: 'view' },
        { vendor: 'Shop', event: 'buy' },
      ],
    },
  },
}

type Kind = keyof typeof RULES
const KINDS = Object.keys(RULES) as Kind[]

interface Shop {
  world: TestApp
  token: string
  /** Alert ids by type. */
  ids: Record<Kind, string>
  /** Sent messages. */
  sent: string[]
}

/** Sends usual traffic for this long, then creates hourly alerts of every type. Records each stored evaluation. */
async function setUp(historyMs = HISTORY_MS): Promise<Shop & AsyncDisposable> {
  const sent: string[] = []
  const received = { kind: 'status', status: 200, headers: {}, body: '' } as const
  const world = await testApp(
    {},
    {
      transport: {
        async send(outbound) {
          if (outbound.kind === 'http') sent.push(JSON.parse(outbound.body).type)
          return received
        },
      },
    },
  )
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const shop = { world, token: domain.token as string, sent, ids: {} as Shop['ids'] }
  for (let hour = -historyMs / HOUR_MS; hour < 0; hour++) await send(shop, at(hour) + 20 * MINUTE_MS, USUAL)
  world.clock.set(SAVED_AT)
  await alive(world)
  await world.run('flush')
  for (const alertType of KINDS) {
    const channels = [{ type: 'webhook', target: 'https://hooks.example.com/a' }]
    const body = { name: alertType, alertType, period: '1h', channels, ...RULES[alertType] }
    const saved = await world.call('POST', '/v1/alerts', { body })
    expect(saved.status).toBe(201)
    shop.ids[alertType] = saved.body.id
  }
  world.app.db.exec(`
    CREATE TABLE evaluation (alertId TEXT, through INTEGER);
    CREATE TRIGGER noteEvaluation AFTER UPDATE OF evaluatedThrough ON alert
      BEGIN INSERT INTO evaluation VALUES (NEW.id, NEW.evaluatedThrough); END`)
  return { ...shop, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

/** Records heartbeats as if the program had been running until now. */
async function alive(world: TestApp) {
  await world.run('heartbeat')
  world.app.db.exec('DELETE FROM pipelineGap')
}

/** Sends plain events, and a session with a purchase but no product view. */
async function send({ world, token }: Pick<Shop, 'world' | 'token'>, now: Instant, count: number, bad = 0) {
  world.clock.set(now)
  const events = Array.from({ length: count }, (_, n) => {
    const params = { value: n < bad ? 'bad' : 'good' }
    return { vendor: 'Shop', event: n === 0 && bad > 0 ? 'buy' : 'scroll', params }
  })
  const { body } = await world.collect(token, { sessionId: `s${now}`, events })
  expect(body.accepted).toBe(count)
}

const evaluate = ({ world }: Shop) => world.run('flush', 'evaluate', 'evaluate series', 'deliver')

/**
 * Returns the end of each evaluation of an alert, in hours since the alert was saved, in the order in which they were
 * stored.
 */
function evaluations({ world, ids }: Shop, kind: Kind): number[] {
  const log = world.app.db.prepare<[string], number>('SELECT through FROM evaluation WHERE alertId = ? ORDER BY rowid')
  return log
    .pluck()
    .all(ids[kind])
    .map((through) => (through - SAVED_AT) / HOUR_MS)
}

/** Returns the number of findings for each alert, and the number of sent messages. */
function state({ world, ids, sent }: Shop) {
  const count = world.app.db.prepare('SELECT ifnull(sum(occurrences), 0) FROM issue WHERE alertId = ?').pluck()
  const found = Object.fromEntries(KINDS.map((kind) => [kind, count.get(ids[kind])]))
  return { found, sent: sent.length }
}

test('three missed hours are each evaluated once, window by window and in order', async () => {
  await using shop = await setUp()
  const { world } = shop
  for (const hour of [0, 1, 2]) await send(shop, at(hour) + 10 * MINUTE_MS, MANY, 2 + hour)
  world.clock.set(at(3))
  await alive(world)
  await evaluate(shop)
  for (const kind of KINDS) expect([kind, evaluations(shop, kind)]).toEqual([kind, [1, 2, 3]])
  const { found } = state(shop)
  expect(found).toMatchObject({
    data_validation: 2 + 3 + 4,
    // The count rises from 30 to 150 in the first window and does not change afterwards.
    tag_volume_change: 1,
    volume_threshold: 3,
    journey: 3,
  })
  expect(found.volume_anomaly).toBeGreaterThan(0)
  const ends = world.app.db
    .prepare<[string], number>('SELECT through FROM evaluation WHERE alertId <> ? ORDER BY rowid')
    .pluck()
    .all(shop.ids.volume_anomaly)
  expect(ends).toEqual(ends.toSorted((a, b) => a - b))

  const before = state(shop)
  for (const again of [() => world.restart(), () => world.crash(), async () => {}]) {
    await again()
    await evaluate(shop)
    expect(state(shop)).toEqual(before)
    for (const kind of KINDS) expect([kind, evaluations(shop, kind)]).toEqual([kind, [1, 2, 3]])
  }
})

test('after three hours of downtime, earlier events are evaluated and the gap is not', async () => {
  await using shop = await setUp()
  const { world } = shop
  await send(shop, at(0) + 10 * MINUTE_MS, USUAL)
  world.clock.set(at(1))
  await alive(world)
  await evaluate(shop)
  await send(shop, at(1) + 10 * MINUTE_MS, 20, 2)
  world.clock.set(at(1.5))
  await alive(world)
  // The program is killed, and restarted from disk three hours later.
  world.clock.set(at(4.5))
  await world.crash()
  await evaluate(shop)
  for (const kind of KINDS) {
    const through = evaluations(shop, kind)
    // Types that evaluate partial windows have also evaluated the current window.
    const isPartial = !['tag_volume_change', 'volume_threshold'].includes(kind)
    expect([kind, through]).toEqual([kind, isPartial ? [1, 2, 3, 4, 4.5] : [1, 2, 3, 4]])
  }
  expect(state(shop).found).toEqual({
    data_validation: 2,
    journey: 1,
    tag_volume_change: 0,
    volume_threshold: 0,
    volume_anomaly: 0,
  })
  const before = state(shop)
  await world.restart()
  await evaluate(shop)
  expect(state(shop)).toEqual(before)
})

test('after three days, the last 24 windows are evaluated and earlier violations count towards the first', async () => {
  await using shop = await setUp(0)
  const { world } = shop
  await send(shop, at(0) + 10 * MINUTE_MS, MANY, 5)
  world.clock.set(at(0.5))
  await alive(world)
  world.clock.set(at(72))
  await world.crash()
  await evaluate(shop)
  const last = Array.from({ length: MAX_LATE_WINDOWS }, (_, n) => 72 - MAX_LATE_WINDOWS + 1 + n)
  for (const kind of KINDS) expect([kind, evaluations(shop, kind)]).toEqual([kind, last])
  expect(state(shop).found).toMatchObject({ data_validation: 5, journey: 1, volume_threshold: 0 })
  await world.restart()
  await evaluate(shop)
  for (const kind of KINDS) expect([kind, evaluations(shop, kind)]).toEqual([kind, last])
})
