import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { NO_SEGMENTS, type StoredEvent } from '../core/event.ts'
import { capturedEvents, capturesFolder } from '../warehouse/captures.fixture.ts'
import { type EventFields, HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { bytesFirst, plainKeys, sumOf } from './dictionary.fixture.ts'
import { documentedOf, eventDictionary } from './event-dictionary.ts'
import { flatDictionary } from './flat-dictionary.ts'
import { type HistoryFixture, openHistory } from './history.fixture.ts'
import { maskFor } from './response-mask.ts'

type Input = Parameters<typeof eventDictionary.answer>[1]
type Dictionary = Awaited<ReturnType<typeof eventDictionary.answer>>

let history: HistoryFixture
beforeAll(async () => {
  history = await openHistory()
})
afterAll(() => history?.[Symbol.asyncDispose]())

const ask = (input: Input) => eventDictionary.answer(history.sources(), input, history.caller)

function inScope({ hours = 24, domainId, vendor, event, env, segment = '' }: Input): StoredEvent[] {
  const from = history.now - hours * HOUR_MS
  return history.events.filter(
    (one) =>
      one.orgId === history.orgId &&
      one.receivedAt > from &&
      (domainId === undefined || one.domainId === domainId) &&
      (vendor === undefined || one.vendor === vendor) &&
      (event === undefined || one.event === event) &&
      (env === undefined || one.env === env) &&
      segment
        .split(';')
        .filter(Boolean)
        .every((part) => {
          const [field = '', value] = part.split('=')
          return (one.segments[field.slice(1) as keyof StoredEvent['segments']] ?? '') === value
        }),
  )
}

/** Returns the expected dictionary, computed with simple loops. Distinct values are counted exactly. */
function plainDictionary(events: readonly StoredEvent[], windowHours: number): Dictionary {
  const counted = events.filter(({ kind }) => kind !== 'library')
  const mask = maskFor(history.sources())
  const vendors = [...Map.groupBy(counted, ({ vendor }) => mask(vendor, '$vendor'))].map(([vendor, own]) => {
    const all = sumOf(own)
    const keys = plainKeys(own, history.sources().privacy()).map(({ key, weight, lastSeen, values, type }) => ({
      key,
      type,
      presencePct: Math.min(100, Math.round((weight / all) * 1000) / 10),
      lastSeen,
      examples: values.slice(0, 5).map(({ value }) => [...value].slice(0, 100).join('')),
      cardinality: values.length,
      ...documentedOf(vendor, key),
    }))
    keys.sort((a, b) => b.presencePct - a.presencePct || bytesFirst(a.key, b.key))
    return { vendor, events: Math.round(Number(all.toFixed(6))), keys: keys.slice(0, 500) }
  })
  vendors.sort((a, b) => b.events - a.events || bytesFirst(a.vendor, b.vendor))
  return { sampledEvents: counted.length, sampling: null, windowHours, vendors: vendors as Dictionary['vendors'] }
}

/** Expects both dictionaries to be equal, except for estimates, which may differ by 5 %. */
function expectSame(answer: Dictionary, plain: Dictionary): void {
  const estimates = new Map(
    answer.vendors.flatMap(({ vendor, keys }) =>
      keys.map(({ key, cardinality }) => [`${vendor}\n${key}`, cardinality]),
    ),
  )
  for (const { vendor, keys } of plain.vendors) {
    for (const one of keys.filter(({ cardinality }) => cardinality > 1000)) {
      const estimate = estimates.get(`${vendor}\n${one.key}`) ?? 0
      expect(Math.abs(estimate - one.cardinality)).toBeLessThanOrEqual(one.cardinality * 0.05)
      one.cardinality = estimate
    }
  }
  expect(answer).toEqual(plain)
}

test.each<Input>([
  {},
  { hours: 168 },
  { hours: 168, env: 'dev' },
  { hours: 168, env: 'prod', vendor: 'Google Analytics 4' },
  { hours: 168, vendor: 'Google Analytics 4', event: 'purchase' },
  { hours: 60, vendor: `o'neill "x" \\` },
  { hours: 1 },
  { hours: 168, segment: '$browser=' },
  { hours: 168, segment: '$browser=;$pageGroup=/', vendor: 'Google Analytics 4' },
  { hours: 168, segment: '$pageGroup=/' },
  { hours: 168, segment: '$release=' },
])('%j: the dictionary matches a plain loop', async (input) => {
  const events = inScope(input)
  expect(events.length).toBeGreaterThan(0)
  expectSame(await ask(input), plainDictionary(events, input.hours ?? 24))
})

test('only the keys of a segment are listed, in both dictionaries', async () => {
  const said = (browser: string, device: string, key: string): EventFields => ({
    vendor: 'Many',
    event: 'e',
    segments: { ...NO_SEGMENTS, browser, device },
    params: { [key]: '1' },
  })
  const more = [said('Safari', 'phone', 'a'), said('Safari', 'desktop', 'b'), said('Chrome', 'phone', 'c')]
  await using own = await openHistory({ events: 40, more })
  const listed = async (segment: string) => {
    const input = { vendor: 'Many', segment }
    const { vendors, sampledEvents } = await eventDictionary.answer(own.sources(), input, own.caller)
    const { rows } = await flatDictionary.answer(own.sources(), input, own.caller)
    const keys = vendors.flatMap(({ keys }) => keys.map(({ key }) => key))
    expect(rows.map(({ key }) => key)).toEqual(keys)
    expect(sampledEvents).toBe(keys.length)
    return keys
  }
  expect(await listed('$browser=Safari')).toEqual(['a', 'b'])
  expect(await listed('$browser=Safari; $device=phone')).toEqual(['a'])
  expect(await listed('$device=phone')).toEqual(['a', 'c'])
  expect(await listed('$browser=Opera')).toEqual([])
})

test.each([
  ['browser=Safari', 'query.segment: must be $field=value with a segment, such as $browser=Safari'],
  ['$browser', 'query.segment: must be $field=value with a segment, such as $browser=Safari'],
  ['$browser=Safari;', 'query.segment: must be $field=value with a segment, such as $browser=Safari'],
  ['$path=/cart', 'query.segment: must be $field=value with a segment, such as $browser=Safari'],
  ['$label=Checkout', 'query.segment: must be $field=value with a segment, such as $browser=Safari'],
  ['', 'query.segment: must be $field=value with a segment, such as $browser=Safari'],
])('the segment %j is rejected', (segment, message) => {
  const refusal = { code: 'invalid', message }
  expect(ask({ segment })).rejects.toMatchObject(refusal)
  expect(flatDictionary.answer(history.sources(), { segment }, history.caller)).rejects.toMatchObject(refusal)
})

test('a segment does not show whether a hidden value exists', async () => {
  const sources = {
    ...history.sources(),
    privacy: () => ({ regions: [], patterns: [{ name: 'Browser', pattern: 'Safari' }] }) as never,
  }
  const answer = await eventDictionary.answer(sources, { hours: 168, segment: '$browser=Safari' }, history.caller)
  expect(answer).toEqual({ sampledEvents: 0, sampling: null, windowHours: 168, vendors: [] })
})

test('the dictionary can be filtered by domain, but not by a domain of another organization', async () => {
  const [shop = '', blog = '', other = ''] = history.domains.map(({ id }) => id)
  for (const domainId of [shop, blog]) {
    const input = { domainId, hours: 168 }
    expectSame(await ask(input), plainDictionary(inScope(input), 168))
  }
  for (const domainId of [other, 'dom_none']) {
    expect(ask({ domainId })).rejects.toMatchObject({ code: 'notFound', message: 'query.domainId: no such domain' })
  }
})

test('ten thousand domains without events do not change the dictionary', async () => {
  const sources = history.sources()
  const [shop] = sources.domains()
  const quiet = Array.from({ length: 10_000 }, (_, n) => ({ ...shop, id: `dom_quiet${n}` }) as NonNullable<typeof shop>)
  const all = { ...sources, domains: () => [...quiet, ...sources.domains()] }
  expect(await eventDictionary.answer(all, { hours: 48 }, history.caller)).toEqual(await ask({ hours: 48 }))
  const flat = (of: typeof sources) => flatDictionary.answer(of, { hours: 48 }, history.caller)
  expect(await flat(all)).toEqual(await flat(sources))
})

test('without events the dictionary is empty', async () => {
  const empty = { sampledEvents: 0, sampling: null, windowHours: 24, vendors: [] }
  const long = { principal: history.caller.principal, now: history.now + 30 * DAY_MS }
  expect(await eventDictionary.answer(history.sources(), {}, long)).toEqual(empty)
  expect(await ask({ vendor: 'Nobody' })).toEqual(empty)
  const none = { ...history.sources(), domains: () => [] }
  expect(await eventDictionary.answer(none, {}, history.caller)).toEqual(empty)
})

describe('a key with many distinct values', () => {
  const many = (count: number, said: (n: number) => EventFields): EventFields[] =>
    Array.from({ length: count }, (_, n) => said(n))
  /**
   * Adds events that are an hour old, queries their vendor, which has no other events, and returns the entry for the
   * key `k`.
   */
  async function keyOf(events: readonly EventFields[]) {
    await using own = await openHistory({ events: 40, more: events.map((said) => ({ vendor: 'Many', ...said })) })
    const { vendors } = await eventDictionary.answer(own.sources(), { vendor: 'Many' }, own.caller)
    return vendors[0]?.keys.find(({ key }) => key === 'k')
  }

  test.each([1, 999, 1000])('has an exact count for %i values', async (count) => {
    const key = await keyOf(many(2000, (n) => ({ params: { k: `v${n % count}` } })))
    expect(key?.cardinality).toBe(count)
  })

  test.each([1001, 3000, 9000])(
    'has an estimated count for %i values, and lists the most frequent ones',
    async (count) => {
      const events = many(count + 40, (n) => ({
        params: { k: n < count ? `v${n}` : (['v7', 'v8', 'v8'][n % 3] ?? '') },
      }))
      const key = await keyOf(events)
      expect(Math.abs((key?.cardinality ?? 0) - count)).toBeLessThan(count * 0.05)
      expect(key).toMatchObject({ presencePct: 100, type: 'text' })
      expect(key?.examples.slice(0, 2)).toEqual(['v8', 'v7'])
    },
  )

  test('has the same result when the window ends with hours without events', async () => {
    const events = many(3000, (n) => ({ vendor: 'Many', params: { k: `v${n}` } }))
    await using own = await openHistory({ events: 40, more: events })
    const { principal, now } = own.caller
    const [soon, late] = [now, now + 9 * HOUR_MS].map((now) => ({ principal, now }))
    for (const dictionary of [eventDictionary, flatDictionary]) {
      const ask = (caller = own.caller) => dictionary.answer(own.sources(), { vendor: 'Many' }, caller)
      expect(await ask(late)).toEqual(await ask(soon))
    }
  })

  test('counts personal values as one if they are equal after masking', async () => {
    const key = await keyOf(many(3000, (n) => ({ params: { k: `jo${n}@example.com` } })))
    expect(key).toMatchObject({ cardinality: 1, examples: ['j***@e***.com'] })
  })

  test('is counted exactly for a vendor with few values, despite another vendor with many', async () => {
    const events = many(3000, (n) => ({ vendor: n % 2 ? 'Many' : 'Few', params: { k: n % 2 ? `v${n}` : `w${n % 8}` } }))
    await using own = await openHistory({ events: 40, more: events })
    const { vendors } = await eventDictionary.answer(own.sources(), {}, own.caller)
    const few = vendors.find(({ vendor }) => vendor === 'Few')
    expect(few?.keys).toMatchObject([{ key: 'k', cardinality: 4, examples: ['w0', 'w2', 'w4', 'w6'] }])
    const flat = await flatDictionary.answer(own.sources(), { vendor: 'Few' }, own.caller)
    expect(flat.rows[0]).toMatchObject({
      count: 1500,
      values: ['w0', 'w2', 'w4', 'w6'].map((value) => ({ value, count: 375 })),
    })
  })
})

test('names and values that are equal after masking are counted as one', async () => {
  const more = ['ann@shop.example', 'all@some.example'].map((mail) => ({ vendor: 'Mail', params: { [mail]: mail } }))
  await using own = await openHistory({ events: 40, more })
  const { vendors } = await eventDictionary.answer(own.sources(), { vendor: 'Mail' }, own.caller)
  const masked = maskPersonal('ann@shop.example')
  expect(vendors[0]?.keys).toMatchObject([{ key: masked, presencePct: 100, examples: [masked], cardinality: 1 }])
})

test('the dictionary is the same before and after files are merged and compacted', async () => {
  await using fixture = await WarehouseFixture.open()
  await using made = await openHistory({ events: 1500, seed: 7 })
  fixture.clock.set(HOUR)
  await fixture.add(made.events.map(({ seq, receivedAt, ...said }) => said))
  const sources = made.sources(fixture.warehouse)
  const caller = { principal: made.caller.principal, now: HOUR + 2 * HOUR_MS }
  const both = async () => [
    await eventDictionary.answer(sources, {}, caller),
    await flatDictionary.answer(sources, {}, caller),
  ]
  const spooled = await both()
  expect(spooled[0]).toMatchObject({ sampledEvents: expect.any(Number) })
  for (const work of [() => fixture.flush(), () => fixture.merge(), () => fixture.compact()]) {
    await work()
    expect(await both()).toEqual(spooled)
  }
  expect(fixture.levels().every((level) => level === 'compacted')).toBe(true)
})

test.skipIf(capturesFolder === null)('real captures have the same keys as a plain loop finds', async () => {
  const [shop] = history.domains
  const more = capturedEvents(capturesFolder ?? '', { id: shop?.id ?? '', orgId: history.orgId })
  await using own = await openHistory({ events: 40, more })
  const input = { hours: 1, domainId: own.domains[0]?.id ?? '' }
  const events = own.events.filter(
    ({ receivedAt, domainId }) => domainId === input.domainId && receivedAt >= own.now - HOUR_MS,
  )
  expect(events.length).toBeGreaterThan(more.length - 1)
  expectSame(await eventDictionary.answer(own.sources(), input, own.caller), plainDictionary(events, 1))
})
