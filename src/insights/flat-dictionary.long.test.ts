import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { bytesFirst, plainKeys } from './dictionary.fixture.ts'
import { flatDictionary } from './flat-dictionary.ts'
import { type HistoryFixture, openHistory } from './history.fixture.ts'
import { maskFor } from './response-mask.ts'

type Input = Parameters<typeof flatDictionary.answer>[1]
type Flat = Awaited<ReturnType<typeof flatDictionary.answer>>

let history: HistoryFixture
beforeAll(async () => {
  history = await openHistory()
})
afterAll(() => history?.[Symbol.asyncDispose]())

const ask = (input: Input) => flatDictionary.answer(history.sources(), input, history.caller)
const whole = (weight: number) => Math.round(Number(weight.toFixed(6)))

function inScope({ hours = 24, domainId, vendor, event }: Input): StoredEvent[] {
  return history.events.filter(
    (one) =>
      one.orgId === history.orgId &&
      one.kind !== 'library' &&
      one.receivedAt > history.now - hours * HOUR_MS &&
      [undefined, one.domainId].includes(domainId) &&
      [undefined, one.vendor].includes(vendor) &&
      [undefined, one.event].includes(event),
  )
}

/** Returns the expected rows, computed with simple loops. */
function plainRows(events: readonly StoredEvent[]): Flat['rows'] {
  const mask = maskFor(history.sources())
  const nameOf = (id: string) => history.domains.find((domain) => domain.id === id)?.name ?? ''
  const groups = Map.groupBy(events, ({ domainId, vendor, event }) =>
    JSON.stringify([nameOf(domainId), mask(vendor, '$vendor'), mask(event, '$event')]),
  )
  const rows = [...groups].flatMap(([place, own]) => {
    const [domain = '', vendor = '', event = ''] = JSON.parse(place) as string[]
    return plainKeys(own, history.sources().privacy()).map(({ key, weight, lastSeen, values }) => ({
      domain,
      vendor,
      event,
      key,
      count: whole(weight),
      lastSeen,
      values: values
        .slice(0, 10)
        .map(({ value, weight }) => ({ value: [...value].slice(0, 200).join(''), count: whole(weight) })),
    }))
  })
  return rows.sort(
    (a, b) =>
      bytesFirst(a.domain, b.domain) ||
      bytesFirst(a.vendor, b.vendor) ||
      bytesFirst(a.event, b.event) ||
      b.count - a.count ||
      bytesFirst(a.key, b.key),
  )
}

test.each<Input>([
  {},
  { hours: 1 },
  { hours: 48, vendor: 'Google Analytics 4', event: 'purchase' },
  { hours: 60, vendor: 'Grün & Söhne' },
])('%j: the rows match a plain loop', async (input) => {
  const events = inScope(input)
  const rows = plainRows(events)
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.length).toBeLessThanOrEqual(5000)
  const expected = {
    sampledEvents: events.length,
    sampling: null,
    windowHours: input.hours ?? 24,
    truncated: false,
    rows,
  }
  expect(await ask(input)).toEqual(expected)
})

test('the rows can be filtered by domain, but not by a domain of another organization', async () => {
  const [, blog = '', other = ''] = history.domains.map(({ id }) => id)
  const input = { domainId: blog, hours: 12 }
  expect((await ask(input)).rows).toEqual(plainRows(inScope(input)))
  for (const domainId of [other, 'dom_none']) expect(ask({ domainId })).rejects.toMatchObject({ code: 'notFound' })
})

test('only the 5,000 rows with the largest counts are returned', async () => {
  const more = Array.from({ length: 5200 }, (_, n) => ({
    vendor: 'Many',
    event: `e${n}`,
    weight: n < 100 ? 1 : 2,
    params: { k: 'v' },
  }))
  await using own = await openHistory({ events: 40, more })
  const { rows, truncated } = await flatDictionary.answer(own.sources(), { vendor: 'Many' }, own.caller)
  expect([rows.length, truncated]).toEqual([5000, true])
  expect(rows.every(({ count }) => count === 2)).toBe(true)
})

test('the most frequent values are counted over the whole window, even when there are many other values', async () => {
  const more = Array.from({ length: 4000 }, (_, n) => ({
    vendor: 'Many',
    event: 'e',
    weight: 2,
    params: { k: n % 4 === 0 ? `often${n % 12}` : `v${n}` },
  }))
  await using own = await openHistory({ events: 40, more })
  const { rows } = await flatDictionary.answer(own.sources(), { vendor: 'Many' }, own.caller)
  expect(rows).toMatchObject([{ count: 8000 }])
  const often = ['often0', 'often4', 'often8'].map((value) => {
    const count = 2 * more.filter(({ params }) => params.k === value).length
    return { value, count }
  })
  expect(rows[0]?.values.slice(0, 3)).toEqual(often.sort((a, b) => b.count - a.count || bytesFirst(a.value, b.value)))
})

test('the ten most frequent values are listed, including values that are no longer frequent', async () => {
  await using own = await openHistory({ events: 40 })
  const from = own.fixture.clock.now()
  const hourly = Array.from({ length: 20 }, (_, hour) =>
    Array.from({ length: 3000 }, (_, n) => {
      const often = hour < 5 ? `early${n % 6}` : `late${n % 60}`
      return { vendor: 'Many', event: 'e', params: { k: n % 5 === 0 ? often : `v${hour}-${n}` } }
    }),
  )
  for (const [hour, events] of hourly.entries()) {
    own.fixture.clock.set(from + hour * HOUR_MS)
    await own.fixture.add(events.map((said) => ({ ...said, orgId: own.orgId, domainId: own.domains[0]?.id ?? '' })))
  }
  const counts = Map.groupBy(hourly.flat(), ({ params }) => params.k)
  const most = [...counts]
    .map(([value, { length: count }]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || bytesFirst(a.value, b.value))
  const caller = { ...own.caller, now: own.fixture.clock.now() + 1 }
  const { rows } = await flatDictionary.answer(own.sources(), { vendor: 'Many' }, caller)
  expect(rows[0]?.values).toEqual(most.slice(0, 10))
})

test('without events there are no rows', async () => {
  const empty = { sampledEvents: 0, sampling: null, windowHours: 24, truncated: false, rows: [] }
  const later = { principal: history.caller.principal, now: history.now + 30 * DAY_MS }
  expect(await flatDictionary.answer(history.sources(), {}, later)).toEqual(empty)
  expect(await flatDictionary.answer({ ...history.sources(), domains: () => [] }, {}, history.caller)).toEqual(empty)
})
