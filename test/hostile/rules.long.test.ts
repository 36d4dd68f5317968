import { expect, test } from 'bun:test'
import { MAX_ARRIVAL_COST } from '../../src/alerts/active-rules.ts'
import { type Condition, costOf } from '../../src/conditions/condition.ts'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { testApp } from '../test-app.ts'

/** An expensive pattern, which has many simultaneous states in text of the characters `A`, `B`, `1` and `2`. */
const DEAR = '[AB]{2,120}1?[B12]{3,90}[^d]{20,200}[h-z]$'

/** Returns pseudorandom letters from `AB12`; the same for the same seed. */
function letters(count: number, seed: number): string {
  let state = seed
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647
    return 'AAABBB12'[state % 8]
  }).join('')
}

const rule = (name: string, value: string) => ({
  name,
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: '*', op: 'regex', values: [value] }] },
  period: '1h',
  channels: [{ type: 'email', target: 'a@b.example' }],
})

/** Number of events in a batch. Evaluating one event takes 20 to 40 ms. */
const EVENTS = 6

const batchOf = (seed: number) => ({
  batchId: `dear-batch-${seed}`,
  events: Array.from({ length: EVENTS }, (_, n) => ({
    vendor: 'Own',
    event: n === 0 ? 'first' : 'view',
    params: { text: n === 0 ? `${letters(400, seed)}hhz` : letters(4000, seed * 1000 + n) },
  })),
})

test('slow patterns block no other requests: after a time slice, they are evaluated in the background, in order', async () => {
  await using world = await testApp()
  const { call, collect, app, clock } = world
  const victim = (await call('POST', '/v1/orgs', { body: { name: 'Victim' } })).body
  const as = { headers: { 'x-org-id': victim.id } }
  const theirs = (method: string, path: string, body?: unknown) => call(method, path, { body, ...as })
  const ours = (method: string, path: string, body?: unknown) =>
    call(method, path, { body, headers: { 'x-org-id': world.owner.orgId } })
  const shop = (await theirs('POST', '/v1/domains', { name: 'victim.example' })).body
  const bad = (await ours('POST', '/v1/domains', { name: 'hostile.example' })).body
  expect((await ours('POST', '/v1/alerts', rule('dear', DEAR))).status).toBe(201)
  await theirs('POST', '/v1/alerts', rule('plain', '^no such text$|^broken$'))

  // The first batch is evaluated in the event loop until its time slice ends. The rest of it and all later batches are
  // evaluated in the background.
  const batches = Array.from({ length: 4 }, (_, n) => batchOf(n + 1))
  const answers = await Promise.all(batches.map((batch) => collect(bad.token, batch)))
  expect(answers.map(({ status, body }) => [status, body.accepted])).toEqual(batches.map(() => [202, EVENTS]))
  expect(app.late.size).toBe(4)
  // A repeated batch gets the same response and is counted once.
  expect((await collect(bad.token, batches[3] ?? {})).body.accepted).toBe(EVENTS)
  expect(app.late.size).toBe(4)

  // In the meantime, another organization's violation opens an issue.
  await collect(shop.token, { events: [{ vendor: 'Own', event: 'view', params: { text: 'broken' } }] })
  await world.at(clock.now() + 1000)
  expect((await theirs('GET', '/v1/issues')).body.issues.length).toBe(1)
  expect((await call('GET', '/healthz', { as: null })).status).toBe(200)
  expect(app.late.size).toBeGreaterThan(0)
  expect((await ours('GET', '/v1/issues')).body.issues.length).toBe(0)

  // Nothing is lost: all events are evaluated and counted in the order in which they were received.
  await app.late.idle()
  await world.at(clock.now() + MINUTE_MS)
  const found = (await ours('GET', `/v1/events?domainId=${bad.id}&event=first`)).body.events
  expect(found.map(({ params }: { params: { text: string } }) => params.text)).toEqual(
    batches.toReversed().map(({ events }) => events[0]?.params.text),
  )
  const usage = (await ours('GET', '/v1/usage')).body
  expect(usage.totalEvents).toBe(4 * EVENTS)
  const [issue] = (await ours('GET', '/v1/issues')).body.issues
  expect(issue.occurrences).toBeGreaterThanOrEqual(4)
})

test('events waiting for evaluation survive a crash', async () => {
  await using world = await testApp()
  const { call, collect } = world
  const bad = (await call('POST', '/v1/domains', { body: { name: 'hostile.example' } })).body
  await call('POST', '/v1/alerts', { body: rule('dear', DEAR) })
  for (const seed of [1, 2]) expect((await collect(bad.token, batchOf(seed))).status).toBe(202)
  const waiting = world.app.late.size
  expect(waiting).toBeGreaterThan(0)
  await world.crash()
  expect(world.app.late.size).toBeLessThanOrEqual(waiting)
  expect((await collect(bad.token, batchOf(2))).body.accepted).toBe(EVENTS)
  await world.app.late.idle()
  await world.at(world.clock.now() + MINUTE_MS)
  expect((await call('GET', '/v1/usage')).body.totalEvents).toBe(2 * EVENTS)
})

/** Returns a rule with 50 conditions, each with 100 values of 1,000 characters. The last value is `needle`. */
const largest = (name: string, op: 'contains' | 'regex', textOf: (n: number) => string, needle = 'needle') => ({
  ...rule(name, ''),
  conditions: {
    logic: 'any',
    items: Array.from({ length: 50 }, (_, item) => ({
      parameter: 'text',
      op,
      values: Array.from({ length: 100 }, (_, at) => (item === 49 && at === 99 ? needle : textOf(item * 100 + at))),
    })),
  },
})
const filled = (n: number) => `${n} `.padEnd(1000, 'x')

test('the largest allowed rule is saved and evaluated late, and the alert shows its share of the evaluation cost', async () => {
  await using world = await testApp()
  const { call, collect } = world
  const { body: shop } = await call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  const { body: other } = await call('POST', '/v1/domains', { body: { name: 'other.example' } })
  const plain = await call('POST', '/v1/alerts', { body: rule('plain', '^broken$') })
  const large = await call('POST', '/v1/alerts', {
    body: { ...largest('large', 'contains', filled), domainIds: [shop.id] },
  })
  expect([plain.status, large.status]).toEqual([201, 201])
  const lateShareOf = async (id: string) => (await call('GET', `/v1/alerts/${id}`)).body.lateShare
  expect(await lateShareOf(large.body.id)).toBeGreaterThan(0.99)
  expect(await lateShareOf(plain.body.id)).toBeUndefined()

  const said = (text: string) => ({ events: [{ vendor: 'Own', event: 'view', params: { text } }] })
  // Events to which the rule does not apply are evaluated immediately when received.
  expect((await collect(other.token, said('broken'))).status).toBe(202)
  expect(world.app.late.size).toBe(0)
  for (const text of ['nothing', 'a needle', 'broken']) expect((await collect(shop.token, said(text))).status).toBe(202)
  expect(world.app.late.size).toBeGreaterThan(0)
  await world.app.late.idle()
  await world.at(world.clock.now() + MINUTE_MS)
  const { issues } = (await call('GET', '/v1/issues')).body
  const alertIds = issues.map(({ alertId }: { alertId: string }) => alertId)
  expect(alertIds.toSorted()).toEqual([large.body.id, plain.body.id, plain.body.id].toSorted())
  const own = issues.find(({ alertId }: { alertId: string }) => alertId === large.body.id)
  expect((await call('GET', `/v1/issues/${own.id}/evidence`)).status).toBe(200)

  await call('PUT', `/v1/alerts/${large.body.id}/enabled`, { body: { enabled: false } })
  expect(await lateShareOf(large.body.id)).toBeUndefined()
  await collect(shop.token, said('a needle'))
  expect(world.app.late.size).toBe(0)
})

test('patterns of a large rule are compiled in steps, and other requests are answered in between', async () => {
  await using world = await testApp()
  let [turns, isMade] = [0, false]
  const turn = () => {
    turns++
    if (!isMade) setImmediate(turn)
  }
  turn()
  const patterns = largest('patterns', 'regex', (n) => (n < 400 ? `[a-z]{1,${100 + n}}${n}` : `^${n}$`))
  const made = await world.call('POST', '/v1/alerts', { body: patterns })
  isMade = true
  expect(made.status).toBe(201)
  // Each of the 400 patterns takes at least 1 ms, and a step ends once 5 ms have passed.
  expect(turns).toBeGreaterThan(20)
  const wrong = await world.call('POST', '/v1/alerts', { body: largest('wrong', 'regex', (n) => `^${n}$`, '(') })
  expect([wrong.status, wrong.body.error]).toEqual([
    400,
    expect.stringContaining('conditions.items[49].values[99]: the pattern does not compile'),
  ])
})

test("once an organization's rules exceed the cost limit together, its further rules are evaluated late", async () => {
  await using world = await testApp()
  const items: Condition[] = [0, 1, 2, 3].map((n) => ({ parameter: '*', op: 'regex', values: [`^${n}[a-z]{1,999}$`] }))
  const alerts = Array.from({ length: 30 }, (_, n) => ({
    ...rule(`costly ${n}`, ''),
    conditions: { logic: 'any', items },
  }))
  const made = (await world.call('POST', '/v1/alerts/bulk', { body: { alerts } })).body
  expect(made).toMatchObject({ created: 30, failed: 0 })
  const listed = (await world.call('GET', '/v1/alerts')).body.alerts
  const onArrival = Math.floor(MAX_ARRIVAL_COST / costOf({ filters: items }))
  expect(listed.filter(({ lateShare }: { lateShare?: number }) => lateShare === undefined).length).toBe(onArrival)
})
