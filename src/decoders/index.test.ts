import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { MAX_EVENTS_PER_HIT, MAX_NAME_LENGTH, MAX_PARAMS_PER_HIT } from './decoded-events.ts'
import { pathsFor } from './decoder-cases.ts'
import { DecoderLookup } from './decoder-lookup.ts'
import { decodeHit, decoders } from './index.ts'
import { CUT } from './params.ts'
import { VendorRequest } from './vendor-request.ts'

describe('the list of decoders', () => {
  test('names each vendor once, with a link to its format', () => {
    expect(new Set(decoders.map(({ vendor }) => vendor)).size).toBe(decoders.length)
    for (const { source } of decoders) expect(URL.canParse(source)).toBe(true)
  })

  test('has valid hosts, or routes for any host', () => {
    for (const { vendor, hosts, routes } of decoders) {
      for (const host of hosts) expect(new URL(`https://${host}/`).hostname).toBe(host)
      expect([vendor, hosts.length > 0 || routes.every(({ anyHost }) => anyHost)]).toEqual([vendor, true])
    }
  })
})

test('requests to unknown vendors are not recognised, and their parameters are not read', () => {
  const routing = new DecoderLookup(decoders)
  const read: string[] = []
  class Watched extends VendorRequest {
    override get query() {
      read.push('query')
      return super.query
    }
    override get fields() {
      read.push('fields')
      return super.fields
    }
  }
  for (const url of [
    '/',
    '/app.js?v=1',
    '/api/items?page=2&sort=name',
    '/img/logo.png',
    '/search/i?q=tv',
    '/a/b/c.html',
  ]) {
    for (const body of [null, 'name=value&other=2', '{"event":"click","properties":{}}', '[1, 2]', 'text']) {
      expect(routing.find(new Watched(new URL(url, 'https://shop.example'), body))).toBeUndefined()
    }
  }
  expect(read).toEqual([])
})

const nothing = { kind: null, account: null, events: [] }
const get = (url: string) => decodeHit({ url, method: 'GET', body: null })

describe('decodeHit', () => {
  test.each([
    'https://shop.example/app.js?v=1',
    'https://facebook.com.shop.example/tr?id=1&ev=Lead',
    'https://notfacebook.com/tr?id=1&ev=Lead',
    'data:text/html,x',
    'https://[::1]/',
  ])('finds no vendor for %s', (url) => {
    expect(get(url)).toEqual({ ...nothing, vendor: null, error: null })
  })

  test.each(['', 'tr?id=1', 'https://', 'https://exa mple/'])('rejects %j', (url) => {
    expect(get(url)).toEqual({ ...nothing, vendor: null, error: 'url: is not an absolute URL' })
  })

  test('matches hosts regardless of case and subdomains', () => {
    expect(get('HTTPS://De-DE.Facebook.COM/tr?id=1&ev=Lead')).toEqual({
      vendor: 'Meta Pixel',
      kind: 'event',
      account: '1',
      events: [{ event: 'Lead', account: '1', kind: 'event', params: { id: '1', ev: 'Lead' }, cut: [] }],
      error: null,
    })
  })

  test('returns an error when a decoder throws', () => {
    const hit = { url: 'https://api.segment.io/v1/t', method: 'POST', body: '{"secret":' }
    expect(decodeHit(hit)).toEqual({ ...nothing, vendor: 'Segment', error: 'Segment: the body is not JSON' })
  })

  test('returns no events for a preflight request', () => {
    const hit = { url: 'https://api.segment.io/v1/t', method: 'OPTIONS', body: null }
    expect(decodeHit(hit)).toEqual({ ...nothing, vendor: 'Segment', error: null })
  })

  test('limits a request to its first 1,000 events and reports the truncation', () => {
    const url = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1'
    const { events, error } = decodeHit({ url, method: 'POST', body: 'en=a\n'.repeat(200_000) })
    expect(events).toHaveLength(MAX_EVENTS_PER_HIT)
    expect(events.at(-1)?.cut).toEqual(['events: more than 1000 in one request; the rest was dropped'])
    expect(events.at(-2)?.cut).toEqual([])
    expect(error).toBeNull()
  })

  test('limits the total number of parameters in a batch whose shared values are repeated for each event', () => {
    const shared = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`key${index}`, 'x']))
    const batch = Array.from({ length: 900 }, () => ({ type: 'track', event: 'a' }))
    const body = JSON.stringify({ ...shared, batch })
    const { events } = decodeHit({ url: 'https://api.segment.io/v1/batch', method: 'POST', body })
    const [first, ...others] = events.map(({ params }) => Object.keys(params).length)
    expect(first).toBe(402)
    expect(others.reduce((sum, count) => sum + count, 0)).toBeLessThan(MAX_PARAMS_PER_HIT + 500)
    expect(events.at(-1)?.cut).toEqual(['events: more than 50000 parameters in one request; the rest was dropped'])
    expect(events.at(-2)?.cut).toEqual([])
  })

  test('truncates and sanitises names', () => {
    const { events } = get(`https://www.facebook.com/tr?id=%00&ev=${'x'.repeat(300)}&cd[a]=${'y'.repeat(5000)}`)
    expect(events[0]?.event).toHaveLength(MAX_NAME_LENGTH)
    expect(events[0]?.account).toBe('\ufffd')
    expect(events[0]?.cut).toEqual([CUT.value])
  })
})

describe('a shop’s own requests', () => {
  const paths = [
    '/collect',
    '/track',
    '/track/',
    '/event',
    '/events',
    '/p',
    '/i',
    '/t',
    '/s',
    '/e',
    '/a',
    '/c',
    '/g',
    '/id',
    '/api/event',
    '/api/events',
    '/api/track',
    '/api/collect',
    '/api/send',
    '/api/v1/event',
    '/api/v1/sessions',
    '/v1/p',
    '/v1/t',
    '/v1/track',
    '/v1/batch',
    '/v1/page',
    '/v1/events',
    '/v2/track',
    '/api/v2/rum',
    '/r/collect',
    '/batch',
    '/bulk',
    '/engage',
    '/capture',
    '/decide',
    '/flags',
    '/log',
    '/pixel',
    '/beacon',
    '/hit',
    '/count',
    '/rest/v1/delivery',
    '/v1/collect',
    '/api/v3/data',
    '/cart/event',
    '/shop/view',
    '/x/y/s',
    '/sst',
    '/tr',
    '/wa/',
    '/pixel.gif',
    '/i.gif',
    '/1/2/i.gif',
    '/index.php',
    '/search',
    '/graphql',
    '/js/Bootstrap.js',
    '/js/app.js',
    '/',
  ]
  const queries = [
    'v=1',
    'v=2&foo=bar',
    'id=7',
    'id=123&event=view',
    'e=pv&sku=1',
    'e=view&url=https%3A%2F%2Fshop.example%2F',
    's=1&p=home',
    't=pageview',
    'tid=42',
    'client=web&sessionId=abc',
    'configId=main',
    'uid=7&ver=2',
    'data=e30=',
    'ip=0&_=1&ver=1',
    'type=page&hostname=shop.example',
    'sid=ABCDEFGH',
    'pid=1&ev=Lead',
    'app_key=1',
    'account_id=1',
    'idsite=shop&rec=1',
    'v=2&tid=G-ABC123',
    'tid=G-ABC123&cid=1.2',
    'data=eyJldmVudCI6ImEifQ==',
    'tv=1&e=view&p=web',
  ]
  const bodies = [
    null,
    '{}',
    '[1]',
    '{"event":"add_to_cart","sku":"S1"}',
    '{"type":"click","payload":{"target":"buy"}}',
    '{"type":"track","payload":{"name":"purchase"}}',
    '{"type":"event","payload":{"site":"shop"}}',
    '{"name":"view","url":"https://shop.example/","domain":"shop.example","sku":"S1"}',
    '{"n":"x","u":"/cart"}',
    '{"events":[{"name":"a","ts":1}]}',
    '{"api_key":"x","events":[{"event_type":"y"}]}',
    '{"batch":[{"type":"track","event":"x"}]}',
    '{"writeKey":"k","type":"track","event":"x"}',
    '{"token":"abc","event":"x","properties":{"a":1}}',
    '{"commands":[{"name":"add","data":{}}]}',
    '{"eventType":"play","id":1}',
    'data=%7B%22event%22%3A%22x%22%7D',
    'event=view&id=7&t=event',
    '{"requests":["?idsite=x&url=x","/cart"]}',
    '{"settings":{"posthog":"phc_1","segment":{"writeKey":"k"}},"event":"saved"}',
    'data=eyJldmVudCI6ImEifQ==',
    'eyJldmVudCI6ImEiLCJwcm9wZXJ0aWVzIjp7InRva2VuIjoiYSJ9fQ==',
    '1~https://www.google-analytics.com/collect?v=1&tid=UA-1-1&cid=5&t=pageview&tid=UA-1-1&v=1',
    'url=https://stats.example/matomo.php%3Fidsite%3D1%26rec%3D1%26url%3Dx',
  ]

  test.each(paths)('to %s are not attributed to any vendor', (path) => {
    const urls = ['', ...queries].map((query) => `https://shop.example${path}${query && '?'}${query}`)
    const hits = urls.flatMap((url) => bodies.map((body) => ({ url, method: body === null ? 'GET' : 'POST', body })))
    expect(hits.filter((hit) => decodeHit(hit).vendor !== null)).toEqual([])
  })
})

describe('an event named like a built-in property', () => {
  const requests = (word: string) => [
    { url: `https://rudderstack.com/pixel/v1/${word}?writeKey=k`, event: word },
    { url: `https://events.attentivemobile.com/e?t=${word}`, event: word },
    { url: `https://logs.xiti.com/hit.xiti?s=7&click=${word}`, event: 'click' },
    { url: 'https://cloudflareinsights.com/cdn-cgi/rum', body: { siteToken: 't', eventType: word }, event: word },
    { url: `https://statse.webtrendslive.com/dcs1/dcs.gif?dcsuri=/&WT.dl=${word}`, event: word },
    { url: 'https://px.dynamicyield.com/batch?sec=7', body: { data: [{ type: word, name: 'Sale' }] }, event: 'Sale' },
    { url: `https://uct.service.usercentrics.eu/uct?t=${word}&sid=7`, event: word },
  ]
  test.each(Object.getOwnPropertyNames(Object.prototype).filter((word) => /^\w+$/.test(word)))(
    'is decoded like any other: %s',
    (word) => {
      for (const { url, body, event } of requests(word)) {
        const hit = { url, method: body ? 'POST' : 'GET', body: body ? JSON.stringify(body) : null }
        expect([url, decodeHit(hit).events.map(({ event }) => event)]).toEqual([url, [event]])
      }
    },
  )
})

describe('decoding of any request', () => {
  /** All words in the source of the decoders, so that generated requests often contain keys that decoders read. */
  const words = [
    ...new Set(
      readdirSync(import.meta.dir)
        .filter((file) => !file.endsWith('.test.ts'))
        .flatMap((file) => readFileSync(join(import.meta.dir, file), 'utf8').match(/[A-Za-z_$][\w$.]{0,24}/g) ?? []),
    ),
  ]
  const text = fc.string({ unit: 'binary', maxLength: 30 })
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...words) },
    fc.constantFrom('__proto__', 'constructor', '7'),
  )
  const scalar = fc.oneof(
    text,
    fc.constantFrom(...words, 'G-1', '7', '1', '%', '%E9', 'dj0yJnRpZD1H', 'H4sIAAAA', '{', '[{}]', '{"a":[null]}'),
    fc.constantFrom(null, true, 0, -1.5, 1e21),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value')),
    ),
  }))
  const pairs = fc.array(
    fc.tuple(key, scalar).map(([name, content]) => `${name}=${encodeURIComponent(String(content))}`),
  )
  const body = fc.oneof(
    fc.constant(null),
    text,
    pairs.map((all) => all.join('&')),
    pairs.map((all) => all.map((pair) => `--\r\nform-data; name="${pair}`).join('')),
    value.map((content) => JSON.stringify(content)),
    fc.array(value, { maxLength: 3 }).map((all) => all.map((content) => JSON.stringify(content)).join('\n')),
  )
  const known = fc.constantFrom(...decoders.flatMap(({ hosts, routes }) => routes.map((route) => ({ hosts, route }))))
  const address = known.chain(({ hosts, route }) =>
    fc.tuple(fc.constantFrom(...hosts, 'shop.example'), pathsFor(route.path), pairs),
  )
  const url = fc.oneof(
    { weight: 1, arbitrary: fc.webUrl({ withQueryParameters: true }) },
    { weight: 1, arbitrary: text },
    { weight: 8, arbitrary: address.map(([host, path, all]) => `https://${host}${path}?${all.join('&')}`) },
  )

  test('never throws, and returns either events or an error', () => {
    const met = new Set<string>()
    fc.assert(
      fc.property(url, fc.constantFrom('GET', 'POST'), body, (url, method, body) => {
        const { vendor, kind, events, error } = decodeHit({ url, method, body })
        if (vendor !== null) met.add(vendor)
        expect(kind === null).toBe(events.length === 0)
        if (error !== null || vendor === null) expect(events).toEqual([])
        if (error !== null) expect(error).toMatch(/^(?:url|request|[\w .-]+): [\w ,'/]+$/)
        for (const { event, account, params } of events) {
          const texts = [event, account ?? '', ...Object.entries(params).flat()]
          expect(texts.every((text) => text.isWellFormed() && !text.includes('\0'))).toBe(true)
        }
      }),
      { numRuns: 10_000 },
    )
    // No key in a request has been added to the prototype of all objects.
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(met.size).toBeGreaterThan(decoders.length * 0.9)
  })
})
