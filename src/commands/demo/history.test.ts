import { expect, test } from 'bun:test'
import { TEST_START } from '../../../test/fakes.ts'
import { DAY_MS } from '../../core/clock.ts'
import { HISTORY_DAYS, NEW_VERSION, pastOfShop } from './history.ts'

const NOW = TEST_START
const past = pastOfShop(NOW)
const { events, orders, release } = past

test('the past of the shop is the same for the same time, and another for another', () => {
  expect(Bun.hash(JSON.stringify(pastOfShop(NOW)))).toBe(Bun.hash(JSON.stringify(past)))
  expect(pastOfShop(NOW, 2).orders).not.toEqual(orders)
})

test('is a month in order, which ends before now', () => {
  expect(events.length).toBeGreaterThan(150_000)
  expect(events.length).toBeLessThan(250_000)
  const times = events.map(({ receivedAt }) => receivedAt)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times[0]).toBeGreaterThanOrEqual(NOW - HISTORY_DAYS * DAY_MS)
  expect(times.at(-1)).toBeLessThan(NOW)
})

test('has a release after which one event of one vendor lacks one key', () => {
  const { vendor, event, key } = release.lost
  const own = events.filter((one) => one.vendor === vendor && one.event === event)
  const [before, after] = [
    own.filter(({ version }) => version < NEW_VERSION),
    own.filter(({ version }) => version === NEW_VERSION),
  ]
  expect(before.length).toBeGreaterThan(100)
  expect(after.length).toBeGreaterThan(100)
  expect(before.every(({ params }) => key in params)).toBe(true)
  expect(after.some(({ params }) => key in params)).toBe(false)
  for (const { version, receivedAt } of events)
    expect(version === NEW_VERSION).toBe(receivedAt >= release.at || version > 40)
})

test('has one address in one parameter, and advertising for nobody who did not agree', () => {
  const leaking = events.filter(({ params }) => JSON.stringify(params).includes('@'))
  expect(
    new Set(leaking.flatMap(({ params }) => Object.keys(params).filter((key) => params[key]?.includes('@')))),
  ).toEqual(new Set(['ep.form_field']))
  expect(leaking.length).toBeGreaterThan(0)
  const bySession = Map.groupBy(events, ({ sessionId }) => sessionId)
  const refused = [...bySession.values()].filter((own) => own.some(({ params }) => params.gcd?.includes('q')))
  expect(refused.length).toBeGreaterThan(100)
  expect(refused.flat().filter(({ vendor }) => vendor === 'Meta Pixel' || vendor === 'TikTok Pixel')).toEqual([])
})

test('has orders of which most were told to vendors, some to none and some twice', () => {
  const told = events.filter(({ vendor, event }) => vendor === 'Google Analytics 4' && event === 'purchase')
  const ids = told.map(({ params }) => params['ep.transaction_id'])
  const missing = orders.filter(({ id }) => !ids.includes(id)).length
  expect(missing).toBeGreaterThan(5)
  expect(missing).toBeLessThan(orders.length / 10)
  expect(ids.length).toBeGreaterThan(new Set(ids).size)
  const values = new Map(orders.map(({ id, value }) => [id, value]))
  for (const { params } of told)
    expect(Number(params['epn.value'])).toBe(values.get(params['ep.transaction_id'] ?? '') ?? Number.NaN)
})
