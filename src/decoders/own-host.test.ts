import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { onOwnHost } from '../../test/decoders/first-party-requests.ts'
import { decodeHit } from './index.ts'
import { type CapturedBody, readBody } from './request-body.ts'

const URL = 'https://console.shop.example/api/m'
const PAGE = 'https://shop.example/'

type Fields = Record<string, string>
const form = (fields: Fields) => new URLSearchParams(fields).toString()
const without = (fields: Fields, key: string) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key))

type Sent = CapturedBody & { query?: string }

/**
 * Decodes a request. Expects that the browser script captures the request if it is recognised, and ignores it
 * otherwise.
 */
function decoded({ query, ...sent }: Sent) {
  const { text } = readBody(sent)
  const { isCaptured, vendor } = onOwnHost(query === undefined ? URL : `${URL}?${query}`, text ?? '')
  expect([query, text, isCaptured]).toEqual([query, text, vendor !== null])
  return decodedFromServer({ query, ...sent })
}

/** Decodes a request that only servers send. */
function decodedFromServer({ query, ...sent }: CapturedBody & { query: string | undefined }) {
  const { text } = readBody(sent)
  const { vendor, account, events } = decodeHit({
    url: query === undefined ? URL : `${URL}?${query}`,
    method: text === null ? 'GET' : 'POST',
    body: text,
  })
  return { vendor, account, events: events.map(({ event }) => event) }
}

const nobody = { vendor: null, account: null, events: [] }
const gzip = (text: string) => gzipSync(text).toString('base64')

/**
 * Requests whose parameters are in the query or in a form. If one of the required parameters is missing, no vendor is
 * recognised.
 */
const FORMS: { vendor: string; account: string; event: string; fields: Fields; required: string[] }[] = [
  {
    vendor: 'Matomo',
    account: '2',
    event: 'pageview',
    required: ['idsite', 'rec', 'url'],
    fields: { action_name: 'Home', idsite: '2', rec: '1', url: PAGE, send_image: '0' },
  },
  {
    vendor: 'Piwik PRO',
    account: '11111111-2222-3333-4444-555555555555',
    event: 'pageview',
    required: ['idsite', 'rec', 'url'],
    fields: { idsite: '11111111-2222-3333-4444-555555555555', rec: '1', url: PAGE },
  },
  {
    vendor: 'Google Analytics 4',
    account: 'G-ABCDE12345',
    event: 'page_view',
    required: ['v', 'tid', 'cid'],
    fields: { v: '2', tid: 'G-ABCDE12345', cid: '1.2', en: 'page_view' },
  },
  {
    vendor: 'Google Universal Analytics',
    account: 'UA-12345-1',
    event: 'pageview',
    required: ['v', 'tid', 'cid', 't'],
    fields: { v: '1', tid: 'UA-12345-1', cid: '1.2', t: 'pageview' },
  },
  {
    vendor: 'Countly',
    account: 'a'.repeat(40),
    event: 'begin_session',
    required: ['app_key', 'sdk_name'],
    fields: { app_key: 'a'.repeat(40), device_id: 'd', sdk_name: 'javascript_native_web', begin_session: '1' },
  },
]

describe.each(FORMS)('$vendor under a renamed path', ({ vendor, account, event, fields, required }) => {
  const expected = { vendor, account, events: [event] }

  test('is recognised in a GET request and in a plain or compressed POST request', () => {
    const text = form(fields)
    expect(decoded({ query: text })).toEqual(expected)
    expect(decoded({ body: text })).toEqual(expected)
    expect(decoded({ query: 'ver=7', body: text })).toEqual(expected)
    expect(decoded({ bodyBase64: btoa(text) })).toEqual(expected)
    expect(decoded({ bodyBase64: gzip(text) })).toEqual(expected)
  })

  test('is not recognised without one of its required parameters', () => {
    for (const key of required) {
      expect([key, decoded({ query: form(without(fields, key)) })]).toEqual([key, nobody])
      expect([key, decoded({ body: form(without(fields, key)) })]).toEqual([key, nobody])
    }
  })

  test('is not recognised when another body merely contains its URL', () => {
    const address = `https://stats.example/x?a=1&${form(fields)}&b=1`
    expect(decoded({ body: address })).toEqual(nobody)
    expect(decoded({ body: `0~GET ${address}` })).toEqual(nobody)
    expect(decoded({ body: JSON.stringify({ urls: [address] }) })).toEqual(nobody)
    expect(decoded({ body: form({ report: address }) })).toEqual(nobody)
  })
})

const KEY = 'phc_Abcdef1234567890'
const POSTHOG = { event: 'Order', properties: { token: KEY, distinct_id: 'd1' } }
const MIXPANEL = { event: 'Order', properties: { token: 'abc', mp_lib: 'web', distinct_id: 'd1' } }

describe.each([
  { vendor: 'PostHog', account: KEY, one: POSTHOG },
  { vendor: 'Mixpanel', account: 'abc', one: MIXPANEL },
])('$vendor under a renamed path', ({ vendor, account, one }) => {
  const json = JSON.stringify(one)
  const list = JSON.stringify([one, one])
  test.each<[string, Sent, number]>([
    ['JSON', { body: json }, 1],
    ['a list', { body: list }, 2],
    ['base64', { body: btoa(list) }, 2],
    ['a form', { body: form({ data: json }) }, 1],
    ['a form in base64', { body: form({ data: btoa(json) }) }, 1],
    [
      'a form in base64 with another field',
      { body: form({ verbose: '1', data: btoa(list) }), query: 'compression=base64' },
      2,
    ],
    ['a form in unescaped base64', { body: `data=${btoa(JSON.stringify({ ...one, x: '>>>???' }))}` }, 1],
    ['the query in base64', { query: form({ data: btoa(json) }) }, 1],
    ['gzip', { bodyBase64: gzip(list) }, 2],
  ])('is recognised in the format: %s', (_, sent, count) => {
    expect(decoded(sent)).toEqual({ vendor, account, events: Array(count).fill('Order') })
  })

  test.each<[string, unknown]>([
    ['without a key', { ...one, properties: { distinct_id: 'd1' } }],
    ['without an event', { properties: one.properties }],
    ['with a key in an unrelated field', { settings: { analytics: account, lib: 'web' }, event: 'saved' }],
  ])('is not recognised %s', (_, sent) => {
    const text = JSON.stringify(sent)
    for (const body of [text, btoa(text), form({ data: text }), form({ data: btoa(text) })]) {
      expect(decoded({ body })).toEqual(nobody)
    }
  })
})

describe('batched requests under a renamed path', () => {
  const hit = form({ idsite: '2', rec: '1', url: PAGE })
  const order = form({ idsite: '2', rec: '1', idgoal: '0', ec_id: 'T1', revenue: '59.9', url: PAGE })
  test.each<[string, unknown]>([
    ['strings', { requests: [`?${hit}`, `?${order}`] }],
    ['strings with a path', { requests: [`matomo.php?${hit}`, `matomo.php?${order}`], token_auth: 'x' }],
  ])('are recognised as Matomo in the format: %s', (_, body) => {
    const expected = { vendor: 'Matomo', account: '2', events: ['pageview', 'ecommerceOrder'] }
    expect(decoded({ body: JSON.stringify(body) })).toEqual(expected)
  })

  test.each<[string, unknown, string | undefined]>([
    ['objects', { requests: [hit, order].map((text) => Object.fromEntries(new URLSearchParams(text))) }, undefined],
    ['strings, with common parameters in the query', { requests: [form({ url: PAGE }), order] }, 'idsite=2&rec=1'],
  ])('are recognised as Matomo when sent by a server in the format: %s', (_, body, query) => {
    const expected = { vendor: 'Matomo', account: '2', events: ['pageview', 'ecommerceOrder'] }
    expect(decodedFromServer({ body: JSON.stringify(body), query })).toEqual(expected)
  })

  test.each([
    '{"requests":[]}',
    '{"requests":["?idsite=2"]}',
    '{"requests":["?idsite=2&rec=1"]}',
    '{"requests":["?idsite=x&rec=1&url=x"]}',
    '{"requests":{"idsite":"2","rec":"1","url":"x"}}',
    '{"idsite":"2","rec":"1","url":"x"}',
  ])('are not recognised in %s', (body) => {
    expect(decoded({ body })).toEqual(nobody)
  })

  test('are recognised as Google Analytics 4, one per line, with shared values in the query or first line', () => {
    const expected = { vendor: 'Google Analytics 4', account: 'G-ABCDE12345', events: ['scroll', 'purchase'] }
    const common = 'v=2&tid=G-ABCDE12345&_p=1'
    expect(decoded({ query: common, body: 'en=scroll\r\nen=purchase&epn.value=5' })).toEqual(expected)
    expect(decoded({ body: `${common}&en=scroll` })).toMatchObject({ ...expected, events: ['scroll'] })
  })

  test('are recognised as Google Analytics 4 when the query is base64', () => {
    const hidden = btoa('v=2&tid=G-ABCDE12345&cid=1.2&en=page_view')
    const whole = btoa('/g/collect?v=2&tid=G-ABCDE12345&cid=1.2&en=page_view')
    const expected = { vendor: 'Google Analytics 4', account: 'G-ABCDE12345', events: ['page_view'] }
    for (const text of [hidden, whole]) {
      expect(decoded({ query: form({ x: text }) })).toEqual(expected)
      expect(decoded({ body: form({ x: text }) })).toEqual(expected)
      expect(decoded({ body: text })).toEqual(expected)
    }
  })
})

describe('a request that identifies its library, under a renamed path', () => {
  const call = { type: 'track', event: 'Order', messageId: 'm1' }
  const sentBy = (name: string) => ({ context: { library: { name } } })
  const snowplow = { e: 'pv', p: 'web', aid: 'web', tv: 'js-4.1.0', eid: '11111111-2222-3333-4444-555555555555' }
  const amplitude = { device_id: 'd', event_type: 'Order', library: 'amplitude-ts/2.1.0' }
  test.each<[string, string | null, string, Sent]>([
    ['Segment', 'k1', 'Order', { body: JSON.stringify({ ...call, writeKey: 'k1', ...sentBy('analytics.js') }) }],
    ['RudderStack', null, 'Order', { body: JSON.stringify({ ...call, ...sentBy('RudderLabs JavaScript SDK') }) }],
    ['Amplitude', 'k1', 'Order', { body: JSON.stringify({ events: [amplitude], api_key: 'k1' }) }],
    [
      'Amplitude',
      'k1',
      'Order',
      { body: form({ client: 'k1', e: JSON.stringify([{ event_type: 'Order' }]), v: '2', checksum: 'a'.repeat(32) }) },
    ],
    ['Snowplow', 'web', 'page_view', { query: form(snowplow) }],
    [
      'Snowplow',
      'web',
      'page_view',
      {
        body: JSON.stringify({
          schema: 'iglu:com.snowplowanalytics.snowplow/payload_data/jsonschema/1-0-4',
          data: [snowplow],
        }),
      },
    ],
  ])('is recognised as %s', (vendor, account, event, sent) => {
    const expected = { vendor, account, events: [event] }
    expect(decoded(sent)).toEqual(expected)
    if (sent.body) expect(decoded({ bodyBase64: gzip(sent.body) })).toEqual(expected)
  })

  test('is recognised as Segment when the pixel contains the call in base64', () => {
    const data = btoa(JSON.stringify({ writeKey: 'k1', event: 'Order', userId: 'u1' }))
    const url = `https://t.shop.example/v1/pixel/track?${form({ data })}`
    expect(decodeHit({ url, method: 'GET', body: null })).toMatchObject({ vendor: 'Segment', account: 'k1' })
  })
})
