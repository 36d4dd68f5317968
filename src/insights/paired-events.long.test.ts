import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { type EventFields, HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { originOf, pairNameOf, plainPairs } from './event-pair-queries.fixture.ts'
import { PAIRING_VENDORS } from './event-pair-queries.ts'
import { type PairedName, pairedNames } from './paired-events.ts'

interface Request {
  url: string
  body?: unknown
}

const json = JSON.stringify
const encoded = (value: unknown) => encodeURIComponent(json(value))

/**
 * A browser request and a server request about the same event, for each vendor. `id`: their event id; null for none.
 */
const REQUESTS: Record<string, { browser(id: string | null): Request; server(id: string | null): Request }> = {
  'Meta Pixel': {
    browser: (id) => ({ url: `https://www.facebook.com/tr/?id=1&ev=Purchase${id === null ? '' : `&eid=${id}`}` }),
    server: (id) => ({
      url: 'https://graph.facebook.com/v25.0/1/events',
      body: { data: [{ event_name: 'Purchase', action_source: 'website', ...(id !== null && { event_id: id }) }] },
    }),
  },
  'TikTok Pixel': {
    browser: (id) => ({
      url: 'https://analytics.tiktok.com/api/v2/pixel',
      body: { event: 'CompletePayment', context: { pixel: { code: 'C1' } }, ...(id !== null && { event_id: id }) },
    }),
    server: (id) => ({
      url: 'https://business-api.tiktok.com/open_api/v1.3/event/track/',
      body: {
        event_source: 'web',
        event_source_id: 'C1',
        data: [{ event: 'CompletePayment', ...(id !== null && { event_id: id }) }],
      },
    }),
  },
  'Pinterest Tag': {
    browser: (id) => ({
      url: `https://ct.pinterest.com/v3/?tid=26&event=addtocart&ed=${encoded({ value: 1, ...(id !== null && { event_id: id }) })}`,
    }),
    server: (id) => ({
      url: 'https://api.pinterest.com/v5/ad_accounts/549755885175/events',
      body: { data: [{ event_name: 'add_to_cart', action_source: 'web', ...(id !== null && { event_id: id }) }] },
    }),
  },
  'Snapchat Pixel': {
    browser: (id) => ({
      url: 'https://tr.snapchat.com/p',
      body: { req: [{ t: { pid: 'p1', ev: 'PURCHASE', ...(id !== null && { client_dedup_id: id }) } }] },
    }),
    server: (id) => ({
      url: 'https://tr.snapchat.com/v3/p1/events',
      body: { data: [{ event_name: 'PURCHASE', ...(id !== null && { event_id: id }) }] },
    }),
  },
  'Reddit Pixel': {
    browser: (id) => ({
      url: `https://alb.reddit.com/rp.gif?id=a2_abc&event=AddToCart${id === null ? '' : `&m.conversionId=${id}`}`,
    }),
    server: (id) => ({
      url: 'https://ads-api.reddit.com/api/v3/pixels/a2_abc/conversion_events',
      body: {
        data: {
          events: [{ type: { tracking_type: 'ADD_TO_CART' }, ...(id !== null && { metadata: { conversion_id: id } }) }],
        },
      },
    }),
  },
  'LinkedIn Insight': {
    browser: (id) => ({
      url: `https://px.ads.linkedin.com/collect/?pid=101&conversionId=202&fmt=gif${id === null ? '' : `&eventId=${id}`}`,
    }),
    server: (id) => ({
      url: 'https://api.linkedin.com/rest/conversionEvents',
      body: { conversion: 'urn:lla:llaPartnerConversion:203', ...(id !== null && { eventId: id }) },
    }),
  },
}

const hitOf = ({ url, body }: Request) => ({ url, ...(body !== undefined && { method: 'POST', body: json(body) }) })

test('every vendor has test requests', () => {
  expect(Object.keys(REQUESTS).sort()).toEqual(PAIRING_VENDORS.map(({ vendor }) => vendor).sort())
})

describe.each(PAIRING_VENDORS.map(({ vendor, windowMs }) => [vendor, windowMs] as const))(
  'pairing for %s',
  (vendor, windowMs) => {
    const requests = REQUESTS[vendor]
    if (!requests) return

    let world: TestApp
    let shops = 0
    beforeAll(async () => {
      world = await testApp()
    })
    afterAll(() => world[Symbol.asyncDispose]())

    /**
     * Sends these requests to a new domain, each at a time relative to the first, and returns the number of events that
     * have a partner.
     */
    const counted = async (sent: readonly { side: 'browser' | 'server'; id: string | null; after: number }[]) => {
      const { id: domainId, token } = (await world.call('POST', '/v1/domains', { body: { name: `Shop ${shops++}` } }))
        .body
      const start = world.clock.now()
      for (const { side, id, after } of sent) {
        world.clock.set(start + after)
        const answer = await world.collect(token, { hits: [hitOf(requests[side](id))] })
        expect(answer.body).toMatchObject({ accepted: 1, rejected: 0 })
      }
      const { status, body } = await world.call('GET', `/v1/insights/paired-events?domainId=${domainId}&days=30`)
      expect(status).toBe(200)
      const [row, ...others] = body.events
      expect(others).toEqual([])
      expect(row).toMatchObject({ domainId, vendor })
      return [row.matched, row.browserOnly, row.serverOnly, row.browserWithoutId, row.serverWithoutId, row.matchedPct]
    }

    test.each([
      ['the same id', 'e1', 'e1', 0, [1, 0, 0, 0, 0, 100]],
      ['the same id, exactly one window apart', 'e1', 'e1', windowMs, [1, 0, 0, 0, 0, 100]],
      ['the same id, more than one window apart', 'e1', 'e1', windowMs + 1, [0, 1, 1, 0, 0, 0]],
      ['different ids', 'e1', 'e2', 0, [0, 1, 1, 0, 0, 0]],
      ['no id from the server', 'e1', null, 0, [0, 1, 1, 0, 1, 0]],
      ['no id from the browser', null, 'e1', 0, [0, 1, 1, 1, 0, 0]],
      ['no id at all', null, null, 0, [0, 1, 1, 1, 1, 0]],
      ['ids that differ in case', 'e1', 'E1', 0, [0, 1, 1, 0, 0, 0]],
    ] as const)('counts events with %s', async (_, browser, server, after, expected) => {
      const of = (side: 'browser' | 'server', after: number) => ({
        side,
        after,
        id: side === 'browser' ? browser : server,
      })
      expect(await counted([of('browser', 0), of('server', after)])).toEqual([...expected])
      expect(await counted([of('server', 0), of('browser', after)])).toEqual([...expected])
    })
  },
)

test('an alert suggested for a match rate below 85 % can be saved, and is then no longer suggested', async () => {
  await using world = await testApp()
  const { id: domainId, token } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const requests = REQUESTS['Meta Pixel'] as (typeof REQUESTS)[string]
  const ids = Array.from({ length: 120 }, (_, n) => `e${n}`)
  const hits = [
    ...ids.map((id, n) => hitOf(requests.browser(n < 30 ? null : id))),
    ...ids.map((id) => hitOf(requests.server(id))),
  ]
  expect((await world.collect(token, { hits })).body).toMatchObject({ accepted: 240, rejected: 0 })
  world.clock.advance(HOUR_MS)
  await world.run('flush')
  const suggested = async () => {
    const { body } = await world.call('GET', `/v1/insights/suggestions?domainId=${domainId}`)
    return body.suggestions.filter(({ rule }: { rule: { name: string } }) => rule.name.includes('event id'))
  }
  const [{ kind, rule, reason, basis, backtest }, ...others] = await suggested()
  expect(others).toEqual([])
  expect({ kind, name: rule.name, events: basis.events }).toEqual({
    kind: 'required_key',
    name: 'Meta Pixel Purchase: event id is present',
    events: 240,
  })
  expect(reason).toContain('60 % of 150 Meta Pixel Purchase events in the last 7 days')
  expect(reason).toContain('30 browser and 0 server events had no event id')
  expect(backtest).toMatchObject({ fired: 1, matched: 30 })
  expect((await world.call('POST', '/v1/alerts', { body: rule })).status).toBe(201)
  expect(await suggested()).toEqual([])
})

test('unknown domains and invalid days are rejected, and another organization receives no data', async () => {
  await using world = await testApp()
  const { token } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const requests = REQUESTS['Meta Pixel'] as (typeof REQUESTS)[string]
  await world.collect(token, { hits: [hitOf(requests.browser('e1')), hitOf(requests.server('e1'))] })
  const ask = (query: string, headers = {}) => world.call('GET', `/v1/insights/paired-events${query}`, { headers })
  expect((await ask('')).body.events.length).toBe(1)
  expect((await ask('?domainId=dom_none')).status).toBe(404)
  for (const days of ['0', '31', 'x']) expect((await ask(`?days=${days}`)).status).toBe(400)
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  expect((await ask('', { 'x-org-id': other.id })).body).toEqual({ events: [] })
})

describe('pairing compared with a loop over all events', () => {
  let fixture: WarehouseFixture
  beforeAll(async () => {
    fixture = await WarehouseFixture.open()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const EDGE = 48 * HOUR_MS
  const aSent = fc.record({
    vendor: fc.constantFrom('Meta Pixel', 'Reddit Pixel', 'Google Analytics 4'),
    event: fc.constantFrom('Purchase', 'PURCHASE', 'Add_To_Cart', 'addtocart'),
    id: fc.constantFrom('e1', 'e1', 'e1', 'e1', 'e2', '', ' ', 'E1', "it's"),
    isServer: fc.boolean(),
    pause: fc.constantFrom(0, 0, 0, 0, 1, MINUTE_MS, HOUR_MS, EDGE / 2, EDGE / 2 + 1, EDGE - 1, EDGE, EDGE + 1),
  })

  test('finds the same partner for each event as a plain loop', async () => {
    const lists = fc.sample(fc.array(aSent, { minLength: 20, maxLength: 60 }), { numRuns: 40, seed: 9 })
    for (const [n, list] of lists.entries()) {
      for (const { vendor, event, id, isServer, pause } of list) {
        fixture.clock.advance(pause)
        const key = vendor === 'Reddit Pixel' ? 'm.conversionId' : 'eid'
        const server = vendor === 'Reddit Pixel' ? 'type.tracking_type' : 'event_name'
        const params = { [key]: id, ...(isServer ? { [server]: event } : {}) }
        await fixture.add([
          { orgId: 'org_1', domainId: `dom_${n}`, vendor, event, kind: 'event', params } satisfies EventFields,
        ])
      }
      if (n % 15 === 14) await fixture.flush()
    }
    const sources = { history: fixture.warehouse, privacy: () => PLAIN_PRIVACY }
    const asked = { orgId: 'org_1', domainIds: lists.map((_, n) => `dom_${n}`), now: fixture.clock.now() }
    const largest: number[] = []
    for (const first of [HOUR / DAY_MS, fixture.clock.now() / DAY_MS - 100].map(Math.floor)) {
      const found = await pairedNames(sources, { ...asked, first })
      expect(new Set(found.map(countsOf))).toEqual(new Set(plainNames(first)))
      largest.push(...found.map(({ matched }) => matched))
    }
    expect(Math.max(...largest)).toBeGreaterThan(2)
  })

  test('returns all days of the names with the most events when the limit is exceeded', async () => {
    const send = (event: string, count: number, isServer: boolean) =>
      fixture.add(
        Array.from({ length: count }, (_, n) => ({
          orgId: 'org_2',
          domainId: 'dom_many',
          vendor: 'Meta Pixel',
          event,
          kind: 'event' as const,
          params: { eid: `${event}${n}`, ...(isServer ? { event_name: event } : {}) },
        })),
      )
    for (const isServer of [false, true]) {
      await send('Purchase', 10, isServer)
      for (let n = 0; n < 6; n++) await send(`Other ${n}`, 2, isServer)
    }
    fixture.clock.advance(DAY_MS)
    await send('Purchase', 1, false)
    for (let n = 0; n < 6; n++) await send(`Other ${n}`, 2, false)
    const now = fixture.clock.now()
    const asked = { orgId: 'org_2', domainIds: ['dom_many'], first: Math.floor(now / DAY_MS) - 2, now }
    const [most] = await pairedNames({ history: fixture.warehouse }, { ...asked, maxRows: 5 })
    expect(most).toMatchObject({ event: 'Purchase', serverOnly: 0 })
    expect(most?.byDay.size).toBe(2)
  })

  const dayOf = ({ receivedAt }: { receivedAt: number }) => Math.floor(receivedAt / DAY_MS)

  function plainNames(first: number): string[] {
    const from = first * DAY_MS - EDGE
    const events = fixture.events.filter((event) => event.receivedAt >= from && originOf(event) !== null)
    const names = Map.groupBy(events, (event) => json([event.domainId, event.vendor, pairNameOf(event)]))
    return [...names].flatMap(([name, all]) => {
      const [domainId = '', vendor = ''] = JSON.parse(name)
      const pairs = plainPairs(all)
      const [event] = all
      const partners = new Set(pairs.flat())
      const own = all.filter((event) => dayOf(event) >= first)
      if (new Set(all.map(originOf)).size < 2) return []
      const alone = (origin: string) => own.filter((event) => originOf(event) === origin && !partners.has(event)).length
      const matched = pairs.filter(([earlier]) => dayOf(earlier) >= first).length
      if (matched + alone('browser') + alone('server') === 0) return []
      return [json([domainId, vendor, matched, alone('browser'), alone('server'), event && pairNameOf(event)])]
    })
  }

  const countsOf = ({ domainId, vendor, event, matched, browserOnly, serverOnly }: PairedName) => {
    const name = pairNameOf({ vendor, event, seq: 0, receivedAt: 0, params: {} })
    return json([domainId, vendor, matched, browserOnly, serverOnly, name])
  }
})
