import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, MINUTE_MS } from '../core/clock.ts'

let world: TestApp
let domainId: string

beforeAll(async () => {
  world = await testApp()
  domainId = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body.id
})
afterAll(() => world[Symbol.asyncDispose]())

const post = (orders: unknown, to = domainId) => world.call('POST', '/v1/orders', { body: { domainId: to, orders } })
const stored = () => world.app.db.prepare('SELECT id, at, value, currency, status FROM shopOrder ORDER BY id').all()

test('orders are stored, and replaced when they are sent again, even within one list', async () => {
  const at = world.clock.now()
  expect((await post([{ id: 'a', at, value: 1.5, currency: 'EUR' }])).body).toEqual({ accepted: 1, replaced: 0 })
  const again = [
    { id: 'a', at: at - 1, status: 'cancelled' },
    { id: 'b', at },
    { id: 'b', at, value: 0 },
  ]
  expect((await post(again)).body).toEqual({ accepted: 3, replaced: 2 })
  expect(stored()).toEqual([
    { id: 'a', at: at - 1, value: null, currency: null, status: 'cancelled' },
    { id: 'b', at, value: 0, currency: null, status: 'paid' },
  ])
})

test('the domain list shows the time of the most recent order', async () => {
  const at = world.clock.now()
  const add = async (name: string) => (await world.call('POST', '/v1/domains', { body: { name } })).body.id
  const [other, without] = [await add('Other'), await add('Without orders')]
  const orders = [
    { id: 'c', at: at - 1 },
    { id: 'd', at: at + 1, status: 'cancelled' },
  ]
  await post(orders, other)
  const { body } = await world.call('GET', '/v1/domains')
  expect(body.domains).toHaveLength(3)
  expect(body.lastOrderAt).toEqual({ [domainId]: at, [other]: at + 1 })
  for (const id of [other, without]) await world.call('DELETE', `/v1/domains/${id}`)
})

test('a list with an invalid order is rejected as a whole, with the position of that order', async () => {
  const at = world.clock.now()
  const before = stored()
  const good = { id: 'good', at }
  const cases: [unknown, string][] = [
    [[good, { id: '', at }], 'orders[1].id: must not be empty'],
    [[good, { at }], 'orders[1].id: is missing'],
    [[good, { id: 'x'.repeat(201), at }], 'orders[1].id: must have at most 200 characters'],
    [[good, { id: 'x', at: 1.5 }], 'orders[1].at: must be a whole number'],
    [[good, { id: 'x', at, value: '1' }], 'orders[1].value: must be a number'],
    [[good, { id: 'x', at, status: 'open' }], 'orders[1].status: must be one of paid, cancelled'],
    [[good, { id: 'x', at, sum: 1 }], 'orders[1].sum: there is no such field'],
    [
      [good, { id: 'x', at: at - 400 * DAY_MS - 1 }],
      'orders[1].at: must be within the last 400 days, the retention period of orders',
    ],
    [[good, { id: 'x', at: at + 5 * MINUTE_MS + 1 }], 'orders[1].at: must not be in the future'],
    [[], 'orders: must have at least one item'],
    [Array.from({ length: 1001 }, () => good), 'orders: must have at most 1000 items'],
  ]
  for (const [orders, error] of cases) expect(await post(orders)).toMatchObject({ status: 400, body: { error } })
  expect(await post([good], 'dom_none')).toMatchObject({ status: 404 })
  expect(stored()).toEqual(before)
})

test('orders are deleted after 400 days or with their domain', async () => {
  const at = world.clock.now()
  await post([{ id: 'old', at: at - 399 * DAY_MS }])
  world.clock.set(at + 2 * DAY_MS)
  await world.run('retain')
  expect(stored()).toHaveLength(2)
  await world.call('DELETE', `/v1/domains/${domainId}`)
  expect(stored()).toEqual([])
})
