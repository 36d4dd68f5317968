import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb } from '../../test/fixtures.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { eventOf, NOON, warehouseWith } from '../alerts/alert.fixture.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { StoredEvent } from '../core/event.ts'
import { madeSeries, randomOf } from '../detector/series.fixture.ts'
import type { Principal } from '../http/principal.ts'
import { createKey } from '../org/api-key-store.ts'
import { addMember, createOrg, createUser } from '../org/store.ts'
import { SeriesMonitor } from '../signals/series-monitor.ts'
import type { Query } from '../warehouse/query.ts'
import { HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Charted, Sources } from './insight.ts'
import { volumeSeries } from './volume-series.ts'

const NOW = NOON + 90_001
const principal: Principal = {
  via: 'key',
  userId: 'usr_1',
  orgId: 'org_a',
  role: 'viewer',
  readOnly: true,
  keyId: null,
  sessionId: null,
}

type Input = Parameters<typeof volumeSeries.answer>[1]

/** Two domains, one of which was created an hour before noon. */
const DOMAINS = [
  { id: 'dom_shop', createdAt: 0 },
  { id: 'dom_new', createdAt: NOON - HOUR_MS },
]

/** Returns the insight for this history, together with the queries that it runs. */
function standFor(history: History, domains = DOMAINS, now = NOW) {
  const queries: Query[] = []
  const charted: Charted[] = []
  const query: History['query'] = (one) => {
    queries.push(one)
    return history.query(one)
  }
  const seriesMonitor = new SeriesMonitor({ warehouse: { query }, gapsOf: () => [], settingsOf: () => [] })
  const sources: Sources = {
    db: memoryDb(),
    seriesMonitor,
    watermark: () => now,
    retentionMs: 90 * DAY_MS,
    maxEventsRead: Number.POSITIVE_INFINITY,
    history: { query },
    domains: () => domains,
    privacy: () => PLAIN_PRIVACY,
    chart(series, range) {
      charted.push(series)
      return seriesMonitor.chart({ ...series, orgId: 'org_a', sensitivity: 5, timezone: 'UTC' }, range, now)
    },
  }
  return { queries, charted, answer: (input: Input) => volumeSeries.answer(sources, input, { principal, now }) }
}

const STEPS = { minute: MINUTE_MS, five_minutes: 5 * MINUTE_MS, hour: HOUR_MS, day: DAY_MS }

test('for any query, buckets are adjacent and have the same counts as in a plain loop', async () => {
  const anEvent = fc.record({
    ago: fc.oneof(fc.nat(2 * HOUR_MS), fc.nat(3 * DAY_MS), fc.nat(35 * DAY_MS)),
    weight: fc.constantFrom(1, 2.5, 1 / 0.3),
    vendor: fc.constantFrom('ga4', 'meta'),
    event: fc.constantFrom('purchase', 'Page_View', ''),
    domainId: fc.constantFrom('dom_shop', 'dom_new'),
    orgId: fc.constantFrom('org_a', 'org_a', 'org_b'),
    kind: fc.constantFrom('event', 'hit', 'library'),
    env: fc.constantFrom('prod', 'dev'),
  })
  const input = fc.record(
    {
      domainId: fc.constantFrom('dom_shop', 'dom_new'),
      vendor: fc.constantFrom('ga4', 'meta', 'none', ''),
      event: fc.constantFrom('purchase', 'Page_View', ''),
      hours: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 900 })),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(anEvent, { maxLength: 40 }), input, async (all, input) => {
      const events = all.map(({ ago, ...values }, index) =>
        eventOf({ ...values, receivedAt: NOW - ago, seq: index + 1 }),
      )
      using history = await warehouseWith(events)
      const { answer } = standFor(history)
      const { grain, series } = await answer(input)
      const { hours = 72, domainId, vendor, event } = input
      const stepMs = STEPS[grain]
      const from = Math.floor((NOW - hours * HOUR_MS) / stepMs) * stepMs
      const madeAt = domainId === 'dom_new' ? NOON - HOUR_MS : 0
      const starts = Array.from({ length: Math.ceil((NOW - from) / stepMs) }, (_, index) => from + index * stepMs)
      expect(series.map(({ start }) => start)).toEqual(starts.filter((start) => start + stepMs > madeAt))
      for (const { start, observed, pageViews, partial } of series) {
        const counted = events.filter(
          (one) =>
            one.receivedAt >= start &&
            one.receivedAt < start + stepMs &&
            one.orgId === 'org_a' &&
            one.kind !== 'library' &&
            (domainId === undefined || one.domainId === domainId) &&
            (vendor === undefined || one.vendor === vendor) &&
            (event === undefined || one.event === event),
        )
        const sum = (some: StoredEvent[]) => Math.round(some.reduce((sum, { weight }) => sum + weight, 0))
        expect({ observed, pageViews, partial }).toEqual({
          observed: sum(counted),
          pageViews: sum(counted.filter((one) => one.event === 'Page_View')),
          partial: start + stepMs > NOW,
        })
      }
    }),
    { numRuns: 60 },
  )
})

/** Three weeks of shop traffic with about 80 events an hour. Three hours before noon, it drops to a tenth. */
const shop = madeSeries(80, 3, randomOf(5)).flatMap((count, hour): StoredEvent[] => {
  const start = NOON - (21 * 24 - hour) * HOUR_MS
  const left = start >= NOON - 3 * HOUR_MS ? Math.round(count / 10) : count
  return Array.from({ length: left }, (_, index) => {
    const event = index % 3 === 0 ? 'purchase' : 'page_view'
    return eventOf({ seq: hour * 1000 + index, event, receivedAt: start + Math.floor((index * HOUR_MS) / left) })
  })
})

/** Traffic of an outlet: an eighth of the shop's events. */
const outlet = shop
  .filter(({ seq }) => seq % 8 === 0)
  .map((event) => ({ ...event, domainId: 'dom_outlet', seq: event.seq + 1_000_000 }))

describe('the baseline', () => {
  let history: Awaited<ReturnType<typeof warehouseWith>>
  beforeAll(async () => {
    history = await warehouseWith([...shop, ...outlet])
  })
  afterAll(() => history[Symbol.dispose]())

  test('is returned with the actual counts and the current state', async () => {
    const { answer } = standFor(history)
    const { series, state, learningUntil } = await answer({ domainId: 'dom_shop' })
    expect(series).toHaveLength(73)
    expect({ state, learningUntil }).toEqual({ state: 'low', learningUntil: null })
    const usual = series.slice(0, -4)
    for (const { observed, expected, low, high, partial } of usual) {
      expect(partial).toBe(false)
      expect(expected ?? Number.NaN).toBeGreaterThan(0)
      expect(observed).toBeGreaterThanOrEqual(low ?? Number.NaN)
      expect(observed).toBeLessThanOrEqual(high ?? Number.NaN)
    }
    const [fallen, , , running] = series.slice(-4)
    expect(fallen?.observed).toBeLessThan(fallen?.low ?? Number.NaN)
    expect(running).toMatchObject({ start: NOON, observed: 0, low: null, high: null, partial: true })
    expect(running?.expected ?? Number.NaN).toBeGreaterThan(5)
  })

  test.each<[Input, Partial<Charted>, 'followed' | 'not followed']>([
    [{ domainId: 'dom_shop' }, { vendor: null, event: null, stepMs: HOUR_MS }, 'followed'],
    [{ domainId: 'dom_shop', vendor: 'ga4' }, { vendor: 'ga4', event: null }, 'followed'],
    [{ domainId: 'dom_shop', vendor: 'ga4', event: 'purchase' }, { vendor: 'ga4', event: 'purchase' }, 'followed'],
    [{ domainId: 'dom_shop', vendor: 'ga4', event: '' }, { vendor: 'ga4', event: '' }, 'followed'],
    [{ domainId: 'dom_shop', hours: 2 }, { stepMs: MINUTE_MS }, 'followed'],
    [{ domainId: 'dom_shop', hours: 24 }, { stepMs: 5 * MINUTE_MS }, 'followed'],
    [{ domainId: 'dom_shop', hours: 744 }, { stepMs: HOUR_MS }, 'followed'],
    [{ domainId: 'dom_shop', event: 'purchase' }, {}, 'not followed'],
  ])('for %j uses the series %j', async (input, series, how) => {
    const { answer, charted } = standFor(history)
    const found = await answer(input)
    if (how === 'followed') {
      expect(charted).toMatchObject([{ domainId: 'dom_shop', ...series }])
      expect(found.state).not.toBeNull()
    } else {
      expect(charted).toEqual([])
      expect(found).toMatchObject({ state: null, learningUntil: null })
      for (const point of found.series) expect(point).toMatchObject({ expected: null, low: null, high: null })
    }
  })

  test('is a sum without bounds or state for several domains, and ignores domains without events', async () => {
    const domains = ['dom_shop', 'dom_outlet', 'dom_silent'].map((id) => ({ id, createdAt: 0 }))
    const { answer, charted } = standFor(history, domains)
    for (const asked of [{}, { hours: 2, vendor: 'ga4', event: 'purchase' }]) {
      const together = await answer(asked)
      expect(charted).toEqual([])
      const shop = await answer({ ...asked, domainId: 'dom_shop' })
      const outlet = await answer({ ...asked, domainId: 'dom_outlet' })
      expect(together).toMatchObject({ grain: shop.grain, state: null, learningUntil: null })
      const sums = shop.series.map(({ start, observed, expected }, index) => {
        const other = outlet.series[index]
        const isKnown = expected !== null && other?.expected !== null
        return {
          start,
          observed: observed + (other?.observed ?? 0),
          low: null,
          high: null,
          expected: isKnown ? expect.closeTo(expected + (other?.expected ?? 0), 1) : null,
        }
      })
      expect(together.series).toMatchObject(sums)
      expect(together.series.filter(({ expected }) => expected !== null).length).toBeGreaterThan(50)
      charted.length = 0
    }
    // Events without a vendor have no expectation, and neither do daily rows.
    for (const asked of [{ event: 'purchase' }, { hours: 745 }]) {
      for (const { expected } of (await answer(asked)).series) expect(expected).toBeNull()
    }
  })

  test('does not require a domain filter when there is only one domain', async () => {
    const { answer } = standFor(history, DOMAINS.slice(0, 1))
    expect(await answer({ hours: 30 })).toEqual(await answer({ hours: 30, domainId: 'dom_shop' }))
  })

  test('is null for daily buckets, while the state covers the last hours', async () => {
    const { answer, charted } = standFor(history)
    const { grain, series, state } = await answer({ domainId: 'dom_shop', hours: 745 })
    expect({ grain, state, length: series.length }).toEqual({ grain: 'day', state: 'low', length: 32 })
    expect(charted).toMatchObject([{ stepMs: HOUR_MS }])
    for (const point of series) expect(point).toMatchObject({ expected: null, low: null, high: null })
  })

  test('is not known until the learning period ends', async () => {
    using young = await warehouseWith(shop.filter(({ receivedAt }) => receivedAt > NOON - 2 * DAY_MS))
    const { answer } = standFor(young)
    const { state, learningUntil } = await answer({ domainId: 'dom_shop' })
    expect(state).toBe('learning')
    expect(learningUntil ?? 0).toBeGreaterThan(NOON)
  })
})

test('a series of 400 days, mostly stored as 15-minute counts, needs one query and reads no events', async () => {
  await using fixture = await WarehouseFixture.open()
  const days = Array.from({ length: 20 }, (_, index) => 20 * index)
  for (const day of days) {
    fixture.clock.set(HOUR + day * DAY_MS)
    await fixture.add([{ weight: day + 1 }, { orgId: 'org_a', domainId: 'dom_shop', weight: day + 1 }])
    await fixture.flush()
  }
  const now = HOUR + 399 * DAY_MS
  for (const _ of ['by the day', 'by the quarter']) await fixture.compactCounts(now)
  const levels = Map.groupBy(fixture.manifest.rollups(), ({ level }) => level)
  expect(levels.get('quarters')?.length).toBeGreaterThan(30)
  const { answer, queries } = standFor(fixture.warehouse, DOMAINS, now)
  const { grain, series } = await answer({ hours: 9600 })
  expect({ grain, length: series.length }).toEqual({ grain: 'day', length: 401 })
  const shown = series.flatMap(({ observed }, index) => (observed > 0 ? [[index - 1, observed]] : []))
  expect(shown).toEqual(days.map((day) => [day, day + 1]))
  expect(queries.map(({ over }) => over)).toEqual(['counts'])
})

test('the series is empty without domains', async () => {
  const { answer, queries } = standFor({ query: () => Promise.reject(new Error('unexpected query')) }, [])
  expect(await answer({})).toEqual({
    grain: 'hour',
    series: [],
    state: null,
    learningUntil: null,
    changes: [],
    specialPeriods: [],
  })
  expect(queries).toEqual([])
})

test('a domain of another organization is rejected', async () => {
  const { answer } = standFor({ query: () => Promise.reject(new Error('unexpected query')) })
  await expect(answer({ domainId: 'dom_other' })).rejects.toEqual(
    new AppError('notFound', 'query.domainId: no such domain'),
  )
})

/** Returns an API key of the owner of a different organization. */
function strangersKey({ app: { db, box }, clock }: TestApp): string {
  const { id: orgId } = createOrg(db, box, clock, { name: 'Other' })
  const { id: userId } = createUser(db, clock, { email: 'mallory@example.com' })
  addMember(db, clock, { orgId, userId, role: 'owner' })
  return createKey(db, clock, { userId, orgId, name: 'key', expiresInDays: null }).secret
}

describe('the series over HTTP', () => {
  test("is limited to the caller's organization, and invalid parameters are rejected", async () => {
    await using world = await testApp()
    const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    await world.collect(domain.token, { events: [{ vendor: 'Shop', event: 'page_view' }, { vendor: 'Shop' }] })
    const path = `/v1/insights/volume?domainId=${domain.id}`
    const { status, body } = await world.call('GET', path)
    expect(status).toBe(200)
    expect(body).toMatchObject({ grain: 'hour', state: 'learning' })
    expect(body.series).toMatchObject([{ observed: 2, pageViews: 1, partial: true }])

    const other = strangersKey(world)
    expect((await world.call('GET', path, { as: other })).status).toBe(404)
    expect(await world.call('GET', '/v1/insights/volume', { as: other })).toMatchObject({
      status: 200,
      body: { series: [] },
    })
    for (const query of [
      'hours=0',
      'hours=9601',
      'hours=1.5',
      'hours=x',
      'hours=',
      'domainId=',
      'vendor=a&vendor=b',
      'x=1',
    ]) {
      const { status } = await world.call('GET', `/v1/insights/volume?${query}`)
      expect({ query, status }).toEqual({ query, status: query === 'domainId=' ? 404 : 400 })
    }
    const odd = encodeURIComponent(`'; DROP TABLE counts; --"\\%_\u2028😀`)
    for (const hours of [1, 24, 744, 9600]) {
      const answer = await world.call('GET', `/v1/insights/volume?vendor=${odd}&event=${odd}&hours=${hours}`)
      expect(answer).toMatchObject({ status: 200, body: { state: 'learning' } })
      for (const { observed } of answer.body.series) expect(observed).toBe(0)
    }
  })
})
