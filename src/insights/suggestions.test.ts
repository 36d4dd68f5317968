import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'

interface Suggestion {
  kind: string
  rule: { name: string; conditions: { items: { parameter: string }[] } }
  reason: string
  basis: { events: number; from: number; to: number }
  backtest: { days: number; fired: number; matched: number }
}

let world: TestApp
let shop: { id: string; token: string }

/** Nine days of shop traffic: three orders an hour, and twelve views, some of them without an item. */
beforeAll(async () => {
  world = await testApp()
  shop = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  for (let hour = 0; hour < 9 * 24; hour++) {
    world.clock.advance(HOUR_MS)
    const order = (n: number) => ({
      // One order in the last week has no id.
      order_id: hour === 150 && n === 0 ? '' : `o-${hour}-${n}`,
      total: (hour * 3.5 + n).toFixed(2),
      currency: n === 0 ? 'USD' : 'EUR',
      customer_mail: `ann${n}@example.com`,
      ...(hour < 8 * 24 ? { campaign: 'autumn' } : {}),
    })
    const events = [
      ...[0, 1, 2].map((n) => ({ vendor: 'Shop API', event: 'order', params: order(n) })),
      ...Array.from({ length: 12 }, (_, n) => ({
        vendor: 'Shop API',
        event: 'view',
        params: { page: `p${hour % 9}-${n}`, sku: n % 3 ? `S${n}` : '', v: 'two' },
      })),
    ]
    await world.collect(shop.token, { events })
    if (hour % 24 === 23) {
      await world.run('flush')
      if (hour < 8 * 24) await world.run('compact')
    }
  }
  world.clock.advance(MINUTE_MS)
  await world.run('flush')
})
afterAll(() => world[Symbol.asyncDispose]())

const suggestions = async (query = ''): Promise<{ suggestions: Suggestion[]; idleAlerts: object[] }> => {
  const { status, body } = await world.call('GET', `/v1/insights/suggestions${query}`)
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body
}

const named = ({ kind, rule }: Suggestion) => `${kind} ${rule.name}`

test('rules are suggested for stable parameters, but not for intermittent or personal ones', async () => {
  const { suggestions: found, idleAlerts } = await suggestions(`?domainId=${shop.id}`)
  expect(found.map(named)).toEqual([
    'key_values Shop API order: currency is one of the known values',
    'required_key Shop API order: order_id is present',
    'key_type Shop API order: total is a number',
    'required_key Shop API view: page is present',
    'key_values Shop API view: v is one of the known values',
  ])
  expect(idleAlerts).toEqual([])
})

test('each suggested rule can be saved unchanged, has the same backtest as from the backtest route, and is not suggested again', async () => {
  const { suggestions: found } = await suggestions()
  for (const { rule, backtest, basis } of found) {
    expect(basis.events).toBeGreaterThanOrEqual(200)
    const { body } = await world.call('POST', '/v1/alerts/backtest', { body: { rule, days: 7 } })
    const buckets: { matchCount: number; wouldFire: boolean }[] = body.buckets
    expect(backtest).toEqual({
      days: 7,
      fired: buckets.filter(({ wouldFire }) => wouldFire).length,
      matched: buckets.reduce((sum, { matchCount }) => sum + matchCount, 0),
    })
  }
  const { backtest, rule } = found.find((one) => one.rule.name.includes('order_id')) as Suggestion
  expect(backtest).toEqual({ days: 7, fired: 1, matched: 1 })
  expect((await world.call('POST', '/v1/alerts', { body: rule })).status).toBe(201)
  const left = await suggestions()
  expect(left.suggestions.map(named)).toEqual(found.filter((one) => one.rule.name !== rule.name).map(named))
})

test('alerts whose events have stopped are listed with the time of the last event', async () => {
  const { body: alert } = await world.call('POST', '/v1/alerts', {
    body: {
      name: 'Refunds',
      alertType: 'data_validation',
      period: '1h',
      vendors: ['Shop API'],
      filters: [{ parameter: '$event', op: 'equals', values: ['refund'] }],
      conditions: { logic: 'any', items: [{ parameter: 'reason', op: 'is_blank' }] },
      channels: [{ type: 'email', target: 'owners' }],
    },
  })
  expect((await suggestions()).idleAlerts).toEqual([{ alertId: alert.id, name: 'Refunds', lastEventAt: null }])
  const at = world.clock.now()
  await world.collect(shop.token, { events: [{ vendor: 'Shop API', event: 'refund' }] })
  world.clock.advance(MINUTE_MS)
  await world.run('flush')
  expect((await suggestions()).idleAlerts).toEqual([])
  world.clock.advance(2 * DAY_MS)
  expect((await suggestions('?days=1')).idleAlerts).toContainEqual({
    alertId: alert.id,
    name: 'Refunds',
    lastEventAt: Math.floor(at / MINUTE_MS) * MINUTE_MS,
  })
})

test('an unknown domain is rejected, and without events the list is empty', async () => {
  expect((await world.call('GET', '/v1/insights/suggestions?domainId=dom_none')).status).toBe(404)
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  const { body } = await world.call('GET', '/v1/insights/suggestions', { headers: { 'x-org-id': other.id } })
  expect(body).toEqual({ sampledEvents: 0, sampling: null, suggestions: [], idleAlerts: [] })
})
