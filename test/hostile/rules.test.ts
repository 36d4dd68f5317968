import { expect, setDefaultTimeout, test } from 'bun:test'
import { MAX_ORGANIZATION_COST } from '../../src/alerts/store.ts'
import { type Condition, costOf, MAX_RULE_COST } from '../../src/conditions/condition.ts'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { testApp } from '../app.ts'

// Another process judges what takes long, on machines that do other things too.
setDefaultTimeout(120_000)

/** Many states at once for each letter that is `A`, `B`, `1` or `2`. */
const DEAR = '[AB]{2,120}1?[B12]{3,90}[^d]{20,200}[h-z]$'

/** Letters of `AB12` by chance, always the same. */
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

/** Events of one batch: each takes 20 to 40 ms. */
const EVENTS = 6

const batchOf = (seed: number) => ({
  batchId: `dear-batch-${seed}`,
  events: Array.from({ length: EVENTS }, (_, n) => ({
    vendor: 'Own',
    event: n === 0 ? 'first' : 'view',
    params: { text: n === 0 ? `${letters(400, seed)}hhz` : letters(4000, seed * 1000 + n) },
  })),
})

test('patterns that take long hold up nobody: bound to a slice of the event loop, then judged elsewhere, in order', async () => {
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

  // The first takes its slice of the event loop, and what it can't do in it goes elsewhere, as does what follows.
  const batches = Array.from({ length: 4 }, (_, n) => batchOf(n + 1))
  const answers = await Promise.all(batches.map((batch) => collect(bad.token, batch)))
  expect(answers.map(({ status, body }) => [status, body.accepted])).toEqual(batches.map(() => [202, EVENTS]))
  expect(app.late.size).toBe(4)
  // The same again is answered alike, and counted once.
  expect((await collect(bad.token, batches[3] ?? {})).body.accepted).toBe(EVENTS)
  expect(app.late.size).toBe(4)

  // Meanwhile another organization's violation opens its issue.
  await collect(shop.token, { events: [{ vendor: 'Own', event: 'view', params: { text: 'broken' } }] })
  await world.at(clock.now() + 1000)
  expect((await theirs('GET', '/v1/issues')).body.issues.length).toBe(1)
  expect((await call('GET', '/healthz', { as: null })).status).toBe(200)
  expect(app.late.size).toBeGreaterThan(0)
  expect((await ours('GET', '/v1/issues')).body.issues.length).toBe(0)

  // Nothing is lost: all of them are judged and counted, in the order in which they came.
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

test('what waits to be judged survives a kill', async () => {
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

test('a rule costs at most so much, and its refusal names the sum', async () => {
  await using world = await testApp()
  const values = Array.from({ length: 100 }, (_, n) => `${'x'.repeat(900)}${n}`)
  const items = Array.from({ length: 5 }, () => ({ parameter: '*', op: 'contains', values }))
  const plain = { ...rule('large', ''), conditions: { logic: 'any', items } }
  const large = await world.call('POST', '/v1/alerts', { body: plain })
  expect([large.status, large.body.error]).toEqual([
    400,
    'conditions.items[2].values[22]: up to here the conditions cost 20070, and a rule may cost 20000: ' +
      'a pattern its size, a label 50, another value a tenth of its letters',
  ])
  const patterns = Array.from({ length: 100 }, (_, n) => `[a-z]{1,${200 + n}}x`)
  const dear = {
    ...rule('dear', ''),
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'regex', values: patterns }] },
  }
  const refused = await world.call('POST', '/v1/alerts', { body: dear })
  expect(refused.status).toBe(400)
  expect(refused.body.error).toContain(`a rule may cost ${MAX_RULE_COST}`)
})

test('the rules of an organization cost at most so much together: at save, replaced and switched on', async () => {
  await using world = await testApp()
  const items: Condition[] = [0, 1, 2, 3].map((n) => ({ parameter: '*', op: 'regex', values: [`^${n}[a-z]{1,999}$`] }))
  const dear = (name: string) => ({ ...rule(name, ''), conditions: { logic: 'any', items } })
  const many = Array.from({ length: 30 }, (_, n) => dear(`dear ${n}`))
  let [turns, isMade] = [0, false]
  const turn = () => {
    turns++
    if (!isMade) setImmediate(turn)
  }
  turn()
  const made = (await world.call('POST', '/v1/alerts/bulk', { body: { alerts: many } })).body
  isMade = true
  // Others get their turn after each.
  expect(turns).toBeGreaterThanOrEqual(many.length)
  expect(made.created).toBe(Math.floor(MAX_ORGANIZATION_COST / costOf({ filters: items })))
  expect(made.errors[0].error).toContain(`those of an organization may cost ${MAX_ORGANIZATION_COST}`)
  const off = await world.call('POST', '/v1/alerts', { body: { ...dear('off'), enabled: false } })
  expect(off.status).toBe(201)
  const on = await world.call('PUT', `/v1/alerts/${off.body.id}/enabled`, { body: { enabled: true } })
  expect([on.status, on.body.error]).toEqual([409, expect.stringContaining('would cost')])
  expect((await world.call('GET', `/v1/alerts/${off.body.id}`)).body.enabled).toBe(false)
})
