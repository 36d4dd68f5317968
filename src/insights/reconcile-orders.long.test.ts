import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cast, TEST_START } from '../../test/fixtures.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { type Random, randomOf } from '../detector/series.fixture.ts'
import { createDomain } from '../domains/store.ts'
import type { Principal } from '../http/principal.ts'
import type { Order } from '../orders/order.ts'
import { saveOrders } from '../orders/store.ts'
import { SeriesMonitor } from '../signals/series-monitor.ts'
import { type EventFields, NASTY_KEYS, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { originOf, pairNameOf, plainPairs } from './event-pair-queries.fixture.ts'
import type { Sources } from './insight.ts'
import { reconcileOrders } from './reconcile-orders.ts'

type Answer = Awaited<ReturnType<typeof reconcileOrders.answer>>

const VENDORS = ['Google Analytics 4', 'Meta Pixel', "o'neill", '', 'x 😀', 'ann@mail.example.com']
const ID_KEYS = [
  'ep.transaction_id',
  'cd[order_id]',
  'transaction_id',
  'a.b.orderId',
  'orderID[]',
  'X.order_id',
  'x.order_id',
]
/** Keys that do not count as an order id. */
const NO_ID_KEYS = ['order_id.1', 'my_order_id', 'ORDER_ID', 'order_id_', 'orderid', 'cd[order_id', 'ti']
const VALUE_KEYS = ['value', 'epn.value', 'cd[value]', 'revenue', 'items.0.value', 'ecommerce.revenue']
const VALUES = [
  '',
  ' ',
  '12',
  '12.0',
  '12.01',
  '12.011',
  '1e400',
  '12,00',
  'undefined',
  '-5',
  ' 12 ',
  '0.30000000000000004',
]
const ODD_IDS = [
  "it's",
  '😀',
  '"',
  '\\',
  ' 7 ',
  '7',
  '',
  ' ',
  'NULL',
  '__proto__',
  'constructor',
  '1e3',
  'é',
  'e\u0301',
  '$p0',
]

/** Returns the expected result, computed with a loop over all events. */
function expected(events: readonly StoredEvent[], orders: Map<string, Order>, days: number, now: Instant) {
  const today = Math.floor(now / DAY_MS)
  const first = today - days + 1
  const counted = events
    .filter(({ domainId, env, kind }) => domainId === 'dom' && env === 'prod' && kind !== 'library')
    .filter(({ receivedAt }) => receivedAt >= (first - 1) * DAY_MS)
    .map((event) => ({
      ...event,
      day: Math.floor(event.receivedAt / DAY_MS),
      ids: idsOf(event),
      value: amountOf(event),
    }))
  const told = counted.filter(({ ids }) => ids.size > 0)
  const ofAllTime = events.filter(
    ({ domainId, env, kind }) => domainId === 'dom' && env === 'prod' && kind !== 'library',
  )
  const connected = new Set(
    ofAllTime.filter((event) => [...idsOf(event)].some((id) => orders.has(id))).map(({ vendor }) => vendor),
  )
  const vendors = [...new Set(told.map(({ vendor }) => vendor))].sort()
  const paid = [...orders.values()].filter(({ status = 'paid', at }) => status === 'paid' && at < now - 15 * MINUTE_MS)
  const rows = Array.from({ length: days }, (_, at) => {
    const day = first + at
    const own = paid.filter((order) => Math.floor(order.at / DAY_MS) === day)
    return {
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
      orders: own.length,
      value: cents(own.reduce((sum, { value = 0 }) => sum + value, 0)),
      vendors: vendors.map((vendor) => tallyOf(vendor, day, own)),
    }
  })
  return rows

  function tallyOf(vendor: string, day: number, own: Order[]) {
    const its = told.filter((one) => one.vendor === vendor)
    const about = (id: string) => its.filter(({ ids }) => ids.has(id))
    const captured = own.filter(({ id }) => about(id).length > 0)
    const missing = own.filter(({ id }) => about(id).length === 0)
    const extra = new Set(its.filter((one) => one.day === day).flatMap(({ ids }) => [...ids]))
    const seen = new Set(its.filter((one) => one.day < day).flatMap(({ ids }) => [...ids]))
    const seconds = (id: string) => new Set(plainPairs(about(id)).map(([, { seq }]) => seq))
    let duplicates = 0
    for (const { seq, ids } of its.filter((one) => one.day === day)) {
      for (const id of ids) {
        if (seen.has(id) && !seconds(id).has(seq)) duplicates++
        seen.add(id)
      }
    }
    return {
      vendor: vendor.includes('@') ? 'a***@m***.com' : vendor,
      connected: connected.has(vendor),
      orders: own.length,
      captured: captured.length,
      extra: [...extra].filter((id) => !orders.has(id)).length,
      duplicates,
      valueMismatches: captured.filter(
        ({ id, value }) =>
          value !== undefined && about(id).some((one) => one.value !== null && Math.abs(one.value - value) > 0.010001),
      ).length,
      missing: missing.length,
      missingValue: cents(missing.reduce((sum, { value = 0 }) => sum + value, 0)),
      capturePct: own.length === 0 ? 0 : Number(((captured.length / own.length) * 100).toFixed(1)),
      ...partnersOf(vendor, day, its),
    }
  }

  function partnersOf(vendor: string, day: number, its: typeof told) {
    const names = new Set(its.map(pairNameOf))
    const candidates = counted.filter((one) => one.vendor === vendor && names.has(pairNameOf(one)))
    const pairs = plainPairs(candidates)
    const partners = new Set(pairs.flat())
    const alone = (origin: string) =>
      its.filter((one) => one.day === day && originOf(one) === origin && !partners.has(one)).length
    const matched = pairs.filter((pair) => pair[0].day === day && pair.some(({ ids }) => ids.size > 0)).length
    const [browserOnly, serverOnly] = [alone('browser'), alone('server')]
    const all = matched + browserOnly + serverOnly
    const matchedPct = all === 0 ? null : Math.round((matched / all) * 1000) / 10
    return { matched, browserOnly, serverOnly, matchedPct }
  }
}

const cents = (sum: number) => Number(sum.toFixed(4))

const lastName = (key: string) =>
  key
    .replace(/(?:\]|\[\])+$/, '')
    .split(/[.[]/)
    .at(-1) ?? ''

function idsOf({ params }: StoredEvent): Set<string> {
  const names = ['transaction_id', 'order_id', 'orderId', 'orderID']
  const ids = Object.entries(params).filter(([key, value]) => names.includes(lastName(key)) && value.trim() !== '')
  return new Set(ids.map(([, value]) => value))
}

function amountOf({ params }: StoredEvent): number | null {
  for (const name of ['value', 'revenue']) {
    const keys = Object.keys(params)
      .filter((key) => lastName(key) === name)
      .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    for (const key of keys) {
      const text = params[key] ?? ''
      if (text === '') continue
      return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : null
    }
  }
  return null
}

const oneOf = <T>(list: readonly T[], random: Random) => list[Math.floor(random() * list.length)] as T

/** Returns an event about one order, several orders or none. */
function anEvent(random: Random, ids: readonly string[]): EventFields {
  const params: Record<string, string> = { [oneOf(NASTY_KEYS, random)]: 'x' }
  const id = random() < 0.9 ? oneOf(ids, random) : oneOf(ODD_IDS, random)
  if (random() < 0.75) params[oneOf(ID_KEYS, random)] = id
  if (random() < 0.15) params[oneOf(ID_KEYS, random)] = random() < 0.5 ? id : oneOf(ids, random)
  if (random() < 0.2) params[oneOf(NO_ID_KEYS, random)] = oneOf(ids, random)
  while (random() < 0.6) params[oneOf(VALUE_KEYS, random)] = oneOf(VALUES, random)
  if (random() < 0.5) params[oneOf(['eid', 'event_id'], random)] = oneOf([id, id, '', ' '], random)
  if (random() < 0.3) params.event_name = 'x'
  return {
    orgId: random() < 0.95 ? 'org' : 'other',
    domainId: random() < 0.9 ? 'dom' : 'blog',
    env: random() < 0.9 ? 'prod' : 'dev',
    kind: oneOf(['event', 'event', 'hit', 'tag', 'library'], random),
    vendor: oneOf(VENDORS, random),
    event: oneOf(['purchase', 'refund', ''], random),
    weight: oneOf([1, 1, 2.5], random),
    path: oneOf([null, '/thanks'], random),
    params,
  }
}

describe('reconciliation compared with a loop over all events', () => {
  let fixture: WarehouseFixture
  const orders = new Map<string, Order>()
  let now: Instant
  let sources: Sources
  let orgId: string
  let domainId: string
  const random = randomOf(7)
  /** Names of the queries that were run. */
  const asked: string[] = []

  const ask = async (days?: number, period: { from?: number; to?: number } = {}) => {
    const principal = { orgId } as Principal
    const input = { domainId, ...(days === undefined ? {} : { days }), ...period }
    return reconcileOrders.answer(sources, input, { principal, now })
  }

  beforeAll(async () => {
    fixture = await WarehouseFixture.open()
    const { alice } = cast(fixture.db, fixture.clock)
    orgId = alice.orgId
    domainId = createDomain(fixture.db, fixture.clock, orgId, { name: 'Shop' })
    const ids = Array.from({ length: 4000 }, (_, n) => `T-${n}`)
    const start = fixture.clock.now()
    for (let n = 0; n < 500; n++) {
      // The events cover ten days and end shortly before the current time.
      fixture.clock.set(start + n * 29 * MINUTE_MS)
      const window = ids.slice(Math.floor((n / 500) * 3600), Math.floor((n / 500) * 3600) + 400)
      const said = Array.from({ length: 41 }, () => anEvent(random, window))
      await fixture.add(
        said.map((one) => ({
          ...one,
          orgId: one.orgId === 'org' ? orgId : 'other',
          domainId: one.domainId === 'dom' ? domainId : 'blog',
        })),
      )
      if (n % 25 === 24 && n < 490) await fixture.flush()
      if (n === 400) await fixture.compact(fixture.clock.now())
    }
    now = fixture.clock.now() + 7
    for (const [n, id] of [...ids, ...ODD_IDS.slice(0, 5)].entries()) {
      if (n % 10 === 0 || id.trim() === '') continue
      orders.set(id, {
        id,
        at: now - Math.floor(random() * 11 * DAY_MS),
        ...(random() < 0.9 ? { value: oneOf([12, 12.5, 0.3, 1999.99, 0], random) } : {}),
        ...(random() < 0.1 ? { status: 'cancelled' as const } : {}),
      })
    }
    saveOrders(fixture.db, { domainId, orders: [...orders.values()], now: TEST_START })
    const seriesMonitor = new SeriesMonitor({ warehouse: fixture.warehouse, gapsOf: () => [], settingsOf: () => [] })
    sources = {
      db: fixture.db,
      seriesMonitor,
      watermark: () => now,
      retentionMs: 90 * DAY_MS,
      maxEventsRead: Number.POSITIVE_INFINITY,
      history: {
        async query(query) {
          const rows = await fixture.warehouse.query<never>(query)
          asked.push(query.name)
          return rows
        },
      },
      domains: () => [{ id: domainId, createdAt: 0 }],
      privacy: () => PLAIN_PRIVACY,
      chart: () => Promise.reject(new Error('no series is followed')),
    }
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const plainEvents = () =>
    fixture.events
      .filter((event) => event.orgId === orgId)
      .map((event) => ({ ...event, domainId: event.domainId === domainId ? 'dom' : 'blog' }))

  const check = ({ days }: Answer, count: number) => {
    const plain = expected(plainEvents(), orders, count, now)
    expect(days.map((row) => ({ ...row, value: cents(row.value) }))).toEqual(
      plain.map((row) => ({ ...row, vendors: row.vendors.map((one) => expect.objectContaining(one)) })) as never,
    )
  }

  test('is based on at least 20,000 events in files of every kind, and on orders of every kind', () => {
    expect(fixture.events.length).toBeGreaterThanOrEqual(20_000)
    expect(new Set(fixture.levels())).toEqual(new Set(['compacted', 'fresh']))
    expect(fixture.spool.files().length).toBeGreaterThan(0)
    const all = expected(plainEvents(), orders, 11, now).flatMap(({ vendors }) => vendors)
    const fields = ['captured', 'missing', 'extra', 'duplicates', 'valueMismatches', 'missingValue'] as const
    for (const field of [...fields, 'matched', 'browserOnly', 'serverOnly'] as const) {
      expect(all.some((one) => one[field] > 0)).toBe(true)
    }
  })

  test.each([undefined, 1, 2, 3, 9, 30, 90])('has the same result for the last %p days', async (days) => {
    check(await ask(days), days ?? 7)
  })

  test('has the same days for a period as for the days up to now', async () => {
    for (const [from, to] of [
      [now - 5 * DAY_MS, now - 3 * DAY_MS],
      [now - 2 * DAY_MS - 1, now - 2 * DAY_MS],
      [now - 4 * DAY_MS, undefined],
    ] as const) {
      const all = await ask(Math.floor(now / DAY_MS) - Math.floor(from / DAY_MS) + 1)
      const named = all.days.filter(({ day }) => Date.parse(day) > from - DAY_MS && Date.parse(day) < (to ?? now))
      const { days } = await ask(undefined, { from, ...(to === undefined ? {} : { to }) })
      const counts = (rows: Answer['days']) =>
        rows.map(({ day, orders, vendors }) => ({
          day,
          orders,
          vendors: vendors
            .filter((one) => one.captured + one.extra > 0)
            .map(({ vendor, captured, missing, extra }) => ({ vendor, captured, missing, extra })),
        }))
      expect(counts(days)).toEqual(counts(named))
    }
  })

  test('looks up unknown ids when there are too many orders to compare with events', async () => {
    const times = async (days: number) => {
      asked.length = 0
      const answer = await ask(days)
      return { answer, told: asked.filter((name) => name === 'orders.told').length }
    }
    const before = [await times(1), await times(9)]
    expect(before.map(({ told }) => told)).toEqual([1, 1])
    const old = Array.from({ length: 50_000 }, (_, n) => ({ id: `old-${n}`, at: now - 300 * DAY_MS }))
    saveOrders(fixture.db, { domainId, orders: old, now: TEST_START })
    const after = [await times(1), await times(9)]
    fixture.db.exec(`DELETE FROM shopOrder WHERE id LIKE 'old-%'`)
    expect(after.map(({ answer }) => answer)).toEqual(before.map(({ answer }) => answer))
    // At least one of the requests needed a second query. Only very few orders are older than the last nine days.
    expect(after.map(({ told }) => told)).toContain(2)
  })

  test('has totals that are the sums over the days', async () => {
    const { days, vendors } = await ask(10)
    for (const { vendor, ...total } of vendors) {
      const own = days.map((day) => day.vendors.find((one) => one.vendor === vendor))
      const sum = (field: 'orders' | 'captured' | 'missing' | 'extra' | 'duplicates' | 'valueMismatches') =>
        own.reduce((sum, one) => sum + (one?.[field] ?? 0), 0)
      for (const field of ['orders', 'captured', 'missing', 'extra', 'duplicates', 'valueMismatches'] as const) {
        expect(total[field]).toBe(sum(field))
      }
      expect(total.capturePct).toBeCloseTo((total.captured / total.orders) * 100, 0)
    }
  })

  test('has the same result before and after compaction', async () => {
    const before = await ask(90)
    await fixture.flush()
    expect(await ask(90)).toEqual(before)
    await fixture.compact()
    expect(new Set(fixture.levels())).toEqual(new Set(['compacted']))
    expect(await ask(90)).toEqual(before)
  })
})

describe('reconciliation over HTTP', () => {
  let world: TestApp
  let domain: { id: string; token: string }
  const now = TEST_START + 10 * DAY_MS

  beforeAll(async () => {
    world = await testApp()
    world.clock.set(now)
    domain = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const post = (orders: object[], domainId = domain.id) =>
    world.call('POST', '/v1/orders', { body: { domainId, orders } })
  const reconcile = async (query: object) =>
    world.call('GET', `/v1/insights/reconcile?${new URLSearchParams(query as Record<string, string>)}`)

  test('returns zeros when there are no events or orders', async () => {
    const { status, body } = await reconcile({ domainId: domain.id, days: 2 })
    expect(status).toBe(200)
    expect(body).toEqual({
      days: ['2026-01-14', '2026-01-15'].map((day) => ({ day, orders: 0, value: 0, vendors: [] })),
      vendors: [],
      withoutIds: [],
    })
  })

  test('rejects unknown domains and invalid days', async () => {
    expect((await reconcile({ domainId: 'dom_none' })).status).toBe(404)
    for (const query of [{}, { domainId: domain.id, days: 0 }, { domainId: domain.id, days: 91 }]) {
      expect((await reconcile(query)).status).toBe(400)
    }
  })

  test('excludes the orders of a domain outside the requested project', async () => {
    const shop = (await world.call('POST', '/v1/domains', { body: { name: 'Other shop' } })).body
    await post([{ id: 'one', at: now - DAY_MS, value: 5 }], shop.id)
    const make = async (name: string, domainIds: string[]) =>
      (await world.call('POST', '/v1/projects', { body: { name, domainIds } })).body.id
    const [its, others] = [await make('Its', [shop.id]), await make('Others', [])]
    const ordersIn = async (projectId: string) => {
      const { status, body } = await reconcile({ domainId: shop.id, projectId, days: 2 })
      return { status, orders: body.days?.map(({ orders }: { orders: number }) => orders) }
    }
    expect(await ordersIn(its)).toEqual({ status: 200, orders: [1, 0] })
    expect(await ordersIn(others)).toEqual({ status: 200, orders: [0, 0] })
    expect((await ordersIn('prj_none')).status).toBe(404)
  })

  test('handles requests in the format sent by browsers', async () => {
    const at = now - HOUR_MS
    const sold = ['A-1', 'A-2', 'A-3', 'A-4'].map((id) => ({ id, at, value: 42.5, currency: 'EUR' }))
    expect((await post([...sold, { id: 'A-5', at, value: 10, status: 'cancelled' }])).body).toEqual({
      accepted: 5,
      replaced: 0,
    })
    expect((await post([{ id: 'A-6', at: now - 14 * MINUTE_MS, value: 10 }])).status).toBe(200)
    const ga4 = (id: string, value: number) =>
      `https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=purchase&ep.transaction_id=${id}&epn.value=${value}`
    const meta = (id: string) => `https://www.facebook.com/tr/?id=1&ev=Purchase&cd[order_id]=${id}&cd[value]=42.5`
    // A repeated report of an order from before the requested days does not count as extra.
    expect((await post([{ id: 'A-0', at: now - 5 * DAY_MS, value: 1 }])).status).toBe(200)
    const urls = [
      ga4('A-0', 1),
      ga4('A-1', 42.5),
      ga4('A-1', 42.5),
      ga4('A-2', 41),
      ga4('A-5', 10),
      ga4('B-1', 7),
      meta('A-3'),
    ]
    await world.collect(domain.token, { hits: urls.map((url) => ({ url })) })
    await world.collect(domain.token, { env: 'dev', hits: [{ url: ga4('A-4', 42.5) }] })
    const { body } = await reconcile({ domainId: domain.id, days: 1 })
    const unpaired = { matched: 0, browserOnly: 0, serverOnly: 0, matchedPct: null }
    const GA4 = {
      orders: 4,
      captured: 2,
      missing: 2,
      extra: 1,
      duplicates: 1,
      valueMismatches: 1,
      missingValue: 85,
      ...unpaired,
    }
    const META = {
      ...unpaired,
      browserOnly: 1,
      matchedPct: 0,
      orders: 4,
      captured: 1,
      missing: 3,
      extra: 0,
      duplicates: 0,
      valueMismatches: 0,
      missingValue: 127.5,
    }
    const vendors = [
      { vendor: 'Google Analytics 4', connected: true, ...GA4, capturePct: 50 },
      { vendor: 'Meta Pixel', connected: true, ...META, capturePct: 25 },
    ]
    expect(body).toEqual({
      days: [{ day: '2026-01-15', orders: 4, value: 170, vendors }],
      vendors,
      withoutIds: [],
    })
  })

  test('a vendor that has never received an order is not connected, and one that once did is', async () => {
    const shop = (await world.call('POST', '/v1/domains', { body: { name: 'Third shop' } })).body
    expect((await post([{ id: 'old', at: now - HOUR_MS, value: 5 }], shop.id)).status).toBe(200)
    const sent = (vendor: string, id: string) => ({ vendor, event: 'purchase', params: { transaction_id: id } })
    await world.collect(shop.token, { events: [sent('Once', 'old'), sent('Never', 'x-1')] })
    const later = now + 3 * DAY_MS
    world.clock.set(later + HOUR_MS)
    expect((await post([{ id: 'new', at: later, value: 5 }], shop.id)).status).toBe(200)
    await world.collect(shop.token, { events: [sent('Once', 'x-2'), sent('Never', 'x-3'), sent('Now', 'new')] })
    const { body } = await reconcile({ domainId: shop.id, days: 1 })
    expect(
      body.vendors.map(({ vendor, connected, captured }: object & Record<string, unknown>) => [
        vendor,
        connected,
        captured,
      ]),
    ).toEqual([
      ['Never', false, 0],
      ['Now', true, 1],
      ['Once', true, 0],
    ])
  })
})
