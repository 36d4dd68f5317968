import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Condition } from '../../../conditions/condition.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../../core/clock.ts'
import type { StoredEvent } from '../../../core/event.ts'
import { type EventFields, HOUR, inSql, WarehouseFixture } from '../../../warehouse/warehouse.fixture.ts'
import { alertOf, eventOf, HOUR_BEFORE_NOON, NOON, warehouseWith } from '../../alert.fixture.ts'
import type { Alert, AlertInput } from '../../alert.ts'
import type { Window } from '../../finding.ts'
import {
  arrived,
  aSession,
  aSpec,
  bad,
  equal,
  good,
  inOrder,
  journeyAlert,
  journeyInput,
  page,
  sessionOf,
  start,
  stepped,
  thanks,
  visits,
  walkAll,
  wants,
} from './journey.fixture.ts'
import { journey } from './journey.ts'
import { endedSessions, expectedOf } from './journey-reference.fixture.ts'
import { MAX_SESSION_EVENTS } from './journey-sql.ts'

describe('sessions', () => {
  const occurrencesIn = async (sessions: StoredEvent[][], values: Partial<AlertInput> = {}, window?: Window) => {
    using history = await warehouseWith(arrived(sessions))
    const { alr_1 = [] } = await walkAll(history, [journeyAlert(thanks, values)], window)
    return alr_1.reduce((sum, { occurrences }) => sum + occurrences, 0)
  }

  test.each<[string, Instant, number]>([
    ['just before the window begins', HOUR_BEFORE_NOON.from - HOUR_MS / 2 - 1, 0],
    ['as the window begins', HOUR_BEFORE_NOON.from - HOUR_MS / 2, 1],
    ['just before the window ends', NOON - HOUR_MS / 2 - 1, 1],
    ['as the window ends', NOON - HOUR_MS / 2, 0],
    ['not ended yet', NOON - 1, 0],
  ])('are counted in the window in which they end: %s', async (_, lastAt, count) => {
    expect(await occurrencesIn([sessionOf(`ga4.x@/ ${bad}`, {}, lastAt)])).toBe(count)
  })

  test.each<[string, string, number]>([
    ['a gap of 29 minutes joins events into one session', `${bad} +28 meta.Purchase`, 0],
    ['a gap of 30 minutes separates two sessions', `${bad} +29 meta.Purchase`, 1],
    ['each session is evaluated separately', `${bad} +29 ${bad} +29 ga4.x`, 2],
    ['a long chain of events without a gap is one session', `${bad} ${'+28 ga4.x '.repeat(40)} meta.Purchase`, 0],
  ])('are split and counted correctly: %s', async (_, text, count) => {
    const day = { from: NOON - DAY_MS, to: NOON, complete: true }
    expect(await occurrencesIn([sessionOf(text)], {}, day)).toBe(count)
  })

  test('longer than 23.5 hours are evaluated from 23.5 hours before their last event', async () => {
    const wait = (minutes: number) => 'ga4.x +19 '.repeat(minutes / 20)
    const day = `${bad} ${wait(23 * 60 + 20)} ga4.x`
    // The time from the first to the last event is 23:29, 23:30 and 23:31 hours.
    expect(await occurrencesIn([sessionOf(`${day} +7 ga4.y`)])).toBe(1)
    expect(await occurrencesIn([sessionOf(`${day} +8 ga4.y`)])).toBe(1)
    expect(await occurrencesIn([sessionOf(`${day} +9 ga4.y`)])).toBe(0)
  })

  test('with the same id on different domains are separate, and events without an id are ignored', async () => {
    const split = [sessionOf(bad, { domainId: 'dom_a' }), sessionOf('meta.Purchase', { domainId: 'dom_b' })]
    expect(await occurrencesIn(split)).toBe(1)
    expect(await occurrencesIn([sessionOf(bad, { sessionId: null }), sessionOf(bad, { sessionId: '' })])).toBe(0)
  })

  test('with the same events in another order have different shapes', async () => {
    const spec = stepped([start, ...['a.', 'b.', 'c.', 'd.'].map((name) => inOrder(name))])
    const permute = (left: readonly string[]): string[][] =>
      left.length < 2 ? [[...left]] : left.flatMap((one, at) => permute(left.toSpliced(at, 1)).map((o) => [one, ...o]))
    const orders = permute(['a.', 'b.', 'c.', 'd.'])
    const texts = orders.map((order) => order.map((name) => `${name}x`).join(' '))
    using history = await warehouseWith(arrived(visits([...texts, ...texts, ...texts])))
    const { alr_1 } = await walkAll(history, [journeyAlert(spec)])
    expect(alr_1).toMatchObject([{ occurrences: 69, summary: expect.stringContaining('69 of 72 sessions') }])
  })

  test('include events of every kind and environment', async () => {
    const kinds = (['event', 'hit', 'tag', 'library'] as const).map((kind) =>
      sessionOf(good, { kind, env: 'dev', sessionId: kind }),
    )
    expect(await occurrencesIn(kinds)).toBe(0)
    expect(await occurrencesIn([...kinds, sessionOf(bad, { kind: 'library' })])).toBe(1)
  })

  test('with too many events for a human are not evaluated', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, () => eventOf({ sessionId: 'bot', path: '/thanks', receivedAt: NOON - HOUR_MS }))
    expect(await occurrencesIn([many(MAX_SESSION_EVENTS)])).toBe(1)
    expect(await occurrencesIn([many(MAX_SESSION_EVENTS + 1)])).toBe(0)
  })

  test.each<[string, Partial<AlertInput>, number]>([
    ['no filter', {}, 3],
    ['a filter that one event matches', { filters: [equal('plan', 'pro')] }, 2],
    ['filters that one event matches', { filters: [equal('plan', 'pro'), equal('$event', 'login')] }, 1],
    ['filters that different events match', { filters: [equal('plan', 'pro'), equal('$event', 'page_view')] }, 0],
    ['a filter on any parameter', { filters: [equal('*', 'pro')] }, 2],
    ['a filter that matches a missing parameter', { filters: [{ parameter: 'plan', op: 'is_blank' }] }, 3],
    ['a filter that no event matches', { filters: [equal('plan', 'none')] }, 0],
    ['vendors, which restrict nothing', { vendors: ['meta'] }, 3],
  ])('are counted correctly with %s', async (_, values, count) => {
    const sessions = visits([bad, `ga4.login{plan=pro} ${bad}`, `ga4.page_view@/ ga4.x{plan=pro} ${bad}`, good])
    expect(await occurrencesIn(sessions, values)).toBe(count)
  })

  test('are queried with the required parameters, starting one day before the window', () => {
    const spec = stepped([start, wants('a.', equal('k', '1'), equal('$path', '/')), wants('b.', equal('K', '1'))])
    const measured = journey.measure([journeyAlert(spec, { filters: [equal('l', '1')] })], HOUR_BEFORE_NOON, [])
    const { keys = [], ...statement } = inSql(measured)
    expect({ ...measured, ...statement, keys: keys.toSorted() }).toMatchObject({
      keys: ['K', 'k', 'l'],
      anyTests: [],
      orgId: 'org_a',
      window: { from: HOUR_BEFORE_NOON.from - DAY_MS, to: NOON },
    })
    const any = journeyAlert(stepped([start, wants('a.', equal('*', '1'))]))
    expect(inSql(journey.measure([any], HOUR_BEFORE_NOON, []))).toMatchObject({
      keys: [],
      anyTests: [{ column: 'any0' }],
    })
    const elsewhere = alertOf(journeyInput(thanks), 'alr_2', 'org_b')
    expect(() => journey.measure([any, elsewhere], HOUR_BEFORE_NOON, [])).toThrow('one organization')
  })

  test('are not found in an empty history or on other domains', async () => {
    using history = await warehouseWith([])
    expect(await walkAll(history, [journeyAlert(thanks), journeyAlert(stepped([start]), {}, 'alr_2')])).toEqual({
      alr_1: [],
      alr_2: [],
    })
  })

  test('are evaluated correctly by rules with impossible or special strings', async () => {
    const spec = stepped(
      [page("it's $p0 ; -- %"), { vendor: 'a\0b', event: 'c\ud800', label: "o'" }],
      [{ kind: 'event', vendor: '\0' }],
    )
    using history = await warehouseWith(
      arrived([sessionOf(bad), sessionOf(bad, { path: "it's $p0 ; -- %", sessionId: 'q' })]),
    )
    const { alr_1 } = await walkAll(history, [journeyAlert(spec)])
    expect(alr_1).toMatchObject([{ occurrences: 1 }])
  })
})

describe('sessions across midnight and across files', () => {
  const midnight = HOUR + 12 * HOUR_MS
  const sent = (sessionId: string, vendor: string, event: string, path: string): EventFields => ({
    orgId: 'org_a',
    domainId: 'dom_shop',
    host: 'shop.example',
    sessionId,
    vendor,
    event,
    path,
  })
  const view = (id: string) => sent(id, 'ga4', 'page_view', '/thanks')
  const purchase = (id: string) => sent(id, 'meta', 'Purchase', '/thanks')
  const windows = Array.from({ length: 4 }, (_, index) => {
    const from = midnight - HOUR_MS + index * (HOUR_MS / 2)
    return { from, to: from + HOUR_MS / 2, complete: true }
  })
  const work = {
    flush: (fixture: WarehouseFixture) => fixture.flush(),
    merge: (fixture: WarehouseFixture) => fixture.flush().then(() => fixture.merge()),
    compact: (fixture: WarehouseFixture) => fixture.flush().then(() => fixture.compact()),
    nothing: async () => {},
  }

  test.each(Object.entries(work))('are evaluated correctly after this operation: %s', async (_, between) => {
    await using fixture = await WarehouseFixture.open()
    const at = async (minute: number, events: EventFields[]) => {
      fixture.clock.set(midnight + minute * MINUTE_MS)
      await fixture.add(events)
      await between(fixture)
    }
    await at(-55, [sent('whole', 'ga4', 'x', '/'), sent('short', 'ga4', 'x', '/'), sent('early', 'ga4', 'x', '/')])
    await at(-30, [sent('whole', 'ga4', 'x', '/cart'), view('short'), view('early')])
    await at(-3, [view('whole'), sent('short', 'ga4', 'y', '/')])
    await at(2, [purchase('whole'), sent('short', 'ga4', 'z', '/')])
    // A later session with the same id, which has the event that the first session missed.
    await at(33, [view('short'), purchase('short')])
    fixture.clock.set(midnight + 2 * HOUR_MS)
    const alerts: [Alert] = [journeyAlert(thanks)]
    const found: (number | undefined)[] = []
    for (const window of windows) {
      const { alr_1 } = await walkAll(fixture.warehouse, alerts, window)
      found.push(alr_1?.[0]?.occurrences)
    }
    // `early` ended at midnight, and the first session of `short` at 00:32. The second session of `short`, and `whole`,
    // have all events.
    expect(found).toEqual([undefined, undefined, 1, 1])
    const { alr_1 } = await walkAll(fixture.warehouse, alerts, {
      from: midnight - HOUR_MS,
      to: fixture.clock.now(),
      complete: true,
    })
    expect(alr_1).toMatchObject([
      { occurrences: 2, summary: '2 of 4 sessions missed meta Purchase after page /thanks' },
    ])
  })
})

test('the history query agrees with the reference for each ended session in every window', async () => {
  const anAlert = fc.record({
    spec: aSpec,
    filters: fc.constantFrom<Condition[]>([], [], [equal('k', '1')], [equal('*', '2'), equal('$vendor', 'a')]),
    scope: fc.constantFrom<Partial<AlertInput>>({}, { domainId: 'dom_a' }, { domainIds: ['dom_b', 'dom_c'] }),
  })
  const aVisit = fc.record({
    text: aSession,
    gap: fc.constantFrom('', '', '+29', '+40', '+24'),
    rest: aSession,
    endsAt: fc.integer({ min: -150, max: 0 }).map((minutes) => NOON + minutes * MINUTE_MS),
    values: fc.record({
      domainId: fc.constantFrom('dom_a', 'dom_b'),
      sessionId: fc.constantFrom('s', 't', 'u', 'v', null),
      host: fc.constantFrom('h.example', 'i.example'),
      weight: fc.constantFrom(1, 4, 1 / 0.3),
    }),
  })
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(anAlert, { minLength: 1, maxLength: 8 }),
      fc.array(aVisit, { minLength: 1, maxLength: 25 }),
      async (rules, visits) => {
        const events = arrived(
          visits.map(({ text, gap, rest, endsAt, values }) => sessionOf(`${text} ${gap} ${rest}`, values, endsAt)),
        )
        using history = await warehouseWith(events)
        const [first, ...others] = rules.map(({ spec, filters, scope }, index) =>
          journeyAlert(spec, { filters, ...scope }, `alr_${index}`),
        )
        if (!first) return
        const { from, to } = HOUR_BEFORE_NOON
        for (const window of [
          HOUR_BEFORE_NOON,
          { from: from - HOUR_MS, to: from, complete: true },
          { from, to: to - 7 * MINUTE_MS, complete: false },
        ]) {
          const findings = await walkAll(history, [first, ...others], window)
          for (const alert of [first, ...others]) {
            const expected = expectedOf(alert, endedSessions(events, window), ['dom_a', 'dom_b'], seen)
            const found = findings[alert.id]?.map((f) => ({
              domainId: f.domainId,
              count: f.occurrences,
              hosts: f.hosts.toSorted(),
              lastAt: f.lastAt,
              firstAt: f.firstAt,
            }))
            expect(found).toEqual(expected)
          }
        }
      },
    ),
    { numRuns: 40 },
  )
  expect(seen).toEqual(new Set(['unreached', 'fine', 'violated']))
})
