import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cast } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import type { EventFields } from '../core/event.fixture.ts'
import { createDomain } from '../domains/store.ts'
import { HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { beforeConsent } from './before-consent.ts'
import type { Caller, Sources } from './insight.ts'

const AT = HOUR + 10 * HOUR_MS
const META = 'Meta Pixel'
const GA4 = 'Google Analytics 4'

let fixture: WarehouseFixture
let orgId: string
let shop: string
let foreign: string

beforeAll(async () => {
  fixture = await WarehouseFixture.open()
  const { db, clock } = fixture
  const { alice, mallory } = cast(db, clock)
  orgId = alice.orgId
  shop = createDomain(db, clock, orgId, { name: 'Shop' })
  foreign = createDomain(db, clock, mallory.orgId, { name: 'Other' })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

let sessions = 0
let at = AT

/** Adds a session. Each request is one second after the previous one. */
async function visit(requests: readonly EventFields[], fields: EventFields = {}): Promise<void> {
  sessions++
  for (const request of requests) {
    at += 1000
    fixture.clock.set(at)
    const own = { orgId, domainId: shop, sessionId: `session${sessions}`, host: 'shop.example', path: '/', ts: at }
    await fixture.add([{ ...own, ...fields, ...request }])
  }
}

async function ask(domainId = shop, hours = 1) {
  const { db, warehouse: history } = fixture
  const domains = () => [{ id: shop, createdAt: 0 }]
  const sources = { db, history, domains, privacy: () => ({ regions: [], patterns: [] }) } as unknown as Sources
  const caller = { principal: { orgId }, now: at } as unknown as Caller
  return (await beforeConsent.answer(sources, { domainId, hours }, caller)).vendors
}

/** Returns before, afterRefusal and afterAcceptance of Meta Pixel after one more session, an hour after all others. */
async function countsAfter(requests: readonly EventFields[], fields: EventFields = {}): Promise<number[]> {
  at += 6 * HOUR_MS
  await visit(requests, fields)
  const found = (await ask()).filter(({ vendor }) => vendor === META)
  return (['before', 'afterRefusal', 'afterAcceptance'] as const).map((of) =>
    found.reduce((sum, row) => sum + row[of], 0),
  )
}

const meta: EventFields = { vendor: META, event: 'PageView' }
const google = (params: Record<string, string>): EventFields => ({ vendor: GA4, event: 'page_view', params })
const denied = { 'consent.ad_storage': 'denied' }
const granted = { 'consent.ad_storage': 'granted' }

test.each<[string, EventFields[], number[]]>([
  ['without any choice', [meta], [1, 0, 0]],
  ['denied by default', [google({ gcd: '13p3p3p2p5l1', ...denied }), meta], [1, 0, 0]],
  ['granted by default', [google({ gcd: '13t3t3t2t5l1', ...granted }), meta], [1, 0, 0]],
  ['not set', [google({ gcd: '13l3l3l2l1l1' }), meta], [1, 0, 0]],
  ['refused', [google({ gcd: '13p3p3p2p5l1', ...denied }), meta, google({ gcd: '13q3q3q2q5l1' }), meta], [1, 1, 0]],
  ['accepted', [meta, google({ gcd: '13r3r3r2r5l1' }), meta, meta], [1, 0, 2]],
  ['withdrawn', [google({ gcd: '13r3r3r2r5l1' }), meta, google({ gcd: '13u3u3u2u5l1' }), meta], [0, 1, 1]],
  ['refused, without a default', [google({ gcd: '13m3m3m2m5l1' }), meta], [0, 1, 0]],
  ['accepted, without a default', [google({ gcd: '13n3n3n2n5l1' }), meta], [0, 0, 1]],
  ['words', [google(denied), meta, google(granted), meta], [0, 1, 1]],
  ['gcs', [google({ gcs: 'G100' }), meta, google({ gcs: 'G111' }), meta], [0, 1, 1]],
  ['Microsoft', [{ ...google({ asc: 'D' }) }, meta, { ...google({ asc: 'G' }) }, meta], [0, 1, 1]],
  [
    'TCF',
    [google({ 'consent.tcf.purposes': '2,10' }), meta, google({ 'consent.tcf.purposes': '1,2' }), meta],
    [0, 1, 1],
  ],
  [
    'the request itself states it',
    [
      { ...meta, params: granted },
      { ...meta, params: denied },
    ],
    [0, 1, 1],
  ],
])('%s', async (_, requests, counts) => {
  expect(await countsAfter(requests)).toEqual(counts)
})

test('the consent of a batch counts only if no event of the session mentions consent', async () => {
  const segments = { consent: 'denied' }
  expect(await countsAfter([{ ...meta, segments }])).toEqual([0, 1, 0])
  expect(await countsAfter([google({ gcd: '13p3p3p2p5l1', ...denied }), { ...meta, segments }])).toEqual([1, 0, 0])
})

test('a choice applies to its own session only, in the order of the visitor’s clock', async () => {
  at += 6 * HOUR_MS
  await visit([google(granted)])
  await visit([meta])
  await visit([
    { ...google(granted), ts: at + 10_000 },
    { ...meta, ts: at },
  ])
  await visit([{ ...meta, sessionId: null }])
  const [found] = (await ask()).filter(({ vendor }) => vendor === META)
  expect(found).toMatchObject({ before: 3, afterRefusal: 0, afterAcceptance: 0 })
})

test('tests, library loads and tag manager reports are not requests of visitors', async () => {
  expect(
    await countsAfter([
      { ...meta, env: 'dev' },
      { ...meta, kind: 'library' },
      { ...meta, kind: 'tag' },
    ]),
  ).toEqual([0, 0, 0])
})

test('counts by page, the first time, and cookies', async () => {
  at += 6 * HOUR_MS
  const fbp = { ...meta, params: { fbp: 'fb.1.2' } }
  await visit([
    fbp,
    { ...meta, path: '/cart', weight: 4 },
    { ...google(denied), path: '/cart' },
    { ...fbp, path: '/cart' },
    google(granted),
    { ...meta, path: '/thanks' },
  ])
  const first = fixture.events.findLast(({ path, vendor }) => path === '/' && vendor === META)
  const [found] = (await ask()).filter(({ vendor }) => vendor === META)
  expect(found).toEqual({
    vendor: META,
    host: 'shop.example',
    before: 5,
    afterRefusal: 1,
    afterAcceptance: 1,
    pages: [
      { path: '/cart', count: 5, before: 4, afterRefusal: 1, afterAcceptance: 0 },
      { path: '/', count: 1, before: 1, afterRefusal: 0, afterAcceptance: 0 },
      { path: '/thanks', count: 1, before: 0, afterRefusal: 0, afterAcceptance: 1 },
    ],
    firstSeenAt: first?.receivedAt ?? 0,
    requestHosts: [],
    cookies: [{ name: '_fbp', before: 1, afterRefusal: 1, afterAcceptance: 0 }],
  })
})

test('sums include pages that are not listed, and personal data is masked', async () => {
  at += 6 * HOUR_MS
  await visit(Array.from({ length: 30 }, (_, n) => ({ ...meta, path: `/p${n}` })))
  await visit([{ ...meta, path: '/jane@example.com', host: 'm.shop.example' }])
  const found = (await ask()).filter(({ vendor }) => vendor === META)
  expect(found.map(({ host, before, pages }) => [host, before, pages.length])).toEqual([
    ['shop.example', 30, 20],
    ['m.shop.example', 1, 1],
  ])
  expect(JSON.stringify(found)).not.toContain('jane')
})

test('another organization’s domain is not found', () => {
  expect(ask(foreign)).rejects.toThrow('query.domainId: no such domain')
})
