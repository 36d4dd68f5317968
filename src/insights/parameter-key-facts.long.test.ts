import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { NUMBER_PATTERN } from '../core/value-type.ts'
import { capturedEvents, capturesFolder } from '../warehouse/captures.fixture.ts'
import type { Query } from '../warehouse/query.ts'
import type { EventFields } from '../warehouse/warehouse.fixture.ts'
import { type HistoryFixture, openHistory } from './history.fixture.ts'
import { keyFacts } from './parameter-key-facts.ts'
import { byMoney, isSteady, type KeyFacts, MAX_VALUES } from './suggest-rules.ts'

const isNumber = (value: string) => new RegExp(NUMBER_PATTERN).test(value)

/**
 * Generated traffic. Every event has an id, a number and one of three currencies. Some events have a coupon. The note
 * is missing for a day.
 */
const PLANNED: EventFields[] = Array.from({ length: 700 }, (_, n) => ({
  vendor: 'Shop API',
  event: n % 7 === 0 ? 'refund' : 'order',
  kind: 'event' as const,
  weight: n % 5 === 0 ? 2 : 1,
  params: {
    order_id: `o-${n}`,
    total: String(n / 4),
    currency: ['EUR', 'USD', 'CHF'][n % 3] ?? '',
    v: '2',
    ...(n % 50 === 0 ? {} : { coupon: 'none' }),
    ...(n % 300 === 0 ? { total: 'NaN' } : {}),
  },
}))

let world: HistoryFixture
beforeAll(async () => {
  world = await openHistory({ more: PLANNED })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Returns a parameter. Inherited properties such as `constructor` do not count as parameters. */
const textOf = (params: StoredEvent['params'], key: string) => (Object.hasOwn(params, key) ? (params[key] ?? '') : '')

/** Returns the expected facts, computed with a loop over all events. */
function plainly(
  events: readonly StoredEvent[],
  domainIds: readonly string[],
  { from, to }: Query['window'],
): KeyFacts[] {
  const own = events.filter(
    ({ domainId, kind, receivedAt }) =>
      domainIds.includes(domainId) && kind !== 'library' && receivedAt >= from && receivedAt < to,
  )
  const sum = (some: readonly StoredEvent[]) => some.reduce((sum, { weight }) => sum + weight, 0)
  const facts = [
    ...Map.groupBy(own, ({ domainId, vendor, event }) => `${domainId}\0${vendor}\0${event}`).values(),
  ].flatMap((all) => {
    const keys = new Set(all.flatMap(({ params }) => Object.keys(params)))
    return [...keys].flatMap((key): KeyFacts[] => {
      const having = (some: readonly StoredEvent[]) => some.filter(({ params }) => textOf(params, key).trim() !== '')
      const there = having(all)
      const days = [...Map.groupBy(all, ({ receivedAt }) => Math.floor(receivedAt / DAY_MS)).values()]
      const shares = days.filter((day) => sum(day) >= 20).map((day) => sum(having(day)) / sum(day))
      const values = [...Map.groupBy(there, ({ params }) => textOf(params, key))].map(([value, some]) => ({
        value,
        events: sum(some),
      }))
      const [{ domainId, vendor, event } = { domainId: '', vendor: '', event: '' }] = all
      return [
        {
          domainId,
          vendor,
          event,
          key,
          events: sum(all),
          present: sum(there),
          values,
          isConstant: false,
          numbers: sum(there.filter(({ params }) => isNumber(textOf(params, key)))),
          leastDailyShare: Math.min(1, ...shares),
        },
      ]
    })
  })
  return facts.filter(isSteady).sort(byMoney).slice(0, 200)
}

/**
 * Returns the facts as comparable strings. Sums of weights are rounded, because they depend on the order of addition.
 */
const rounded = (facts: readonly KeyFacts[]) =>
  facts
    .map(({ domainId, vendor, event, key, events, present, numbers, leastDailyShare, values }) => {
      const few =
        values.length > MAX_VALUES ? ['many'] : values.map(({ value, events }) => `${value} ${events.toFixed(6)}`)
      // The query does not count numbers for keys that rarely contain them.
      const known = numbers >= present * 0.9 ? numbers : 0
      const sums = [events, present, known, leastDailyShare].map((sum) => sum.toFixed(6))
      return [domainId, vendor, event, key, ...sums, ...few.toSorted()].join(' | ')
    })
    .sort()

test('the facts match a plain loop, in files of all levels and in the spool', async () => {
  const { orgId, domains, events, now } = world
  const ids = domains.slice(0, 2).map(({ id }) => id)
  for (const days of [1, 3, 30]) {
    const window = { from: now + 1 - days * DAY_MS, to: now + 1 }
    const { facts: found } = await keyFacts(world.sources(), orgId, ids, window)
    expect(rounded(found)).toEqual(rounded(plainly(events, ids, window)))
    expect(found.length).toBeGreaterThan(3)
  }
})

test('a key with the same value in every event of its vendor is a constant', async () => {
  const { orgId, domains, now } = world
  const { facts: found } = await keyFacts(world.sources(), orgId, [domains[0]?.id ?? ''], {
    from: now - DAY_MS,
    to: now + 1,
  })
  const own = found.filter(({ vendor, event }) => vendor === 'Shop API' && event === 'order')
  const constants = own.filter(({ isConstant }) => isConstant).map(({ key }) => key)
  expect(own.map(({ key }) => key).toSorted()).toEqual(['currency', 'order_id', 'total', 'v'])
  // `refund` has fewer than 200 events, so `v` is only examined for one event name.
  expect(constants).toEqual([])
})

describe.skipIf(capturesFolder === null)('real captures', () => {
  test('have the same keys as a plain loop finds when they are repeated over a week', async () => {
    const place = { id: 'dom_1', orgId: 'org_1' }
    const captured = capturedEvents(capturesFolder ?? '', place).slice(0, 150)
    const more: EventFields[] = Array.from({ length: 30 }, () => captured).flat()
    await using history = await openHistory({
      events: 500,
      more: more.map(({ orgId: _, domainId: __, ...said }) => said),
    })
    const { orgId, domains, events, now } = history
    const ids = [domains[0]?.id ?? '']
    const window = { from: now - 7 * DAY_MS, to: now + 1 }
    const { facts: found } = await keyFacts(history.sources(), orgId, ids, window)
    expect(found.length).toBeGreaterThan(0)
    expect(rounded(found)).toEqual(rounded(plainly(events, ids, window)))
  })
})
