import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeHit, decoders, MAX_EVENTS_PER_HIT, MAX_NAME_LENGTH } from './index.ts'
import { CUT } from './params.ts'

describe('the list of decoders', () => {
  test('names each vendor once and says where its format is described', () => {
    expect(new Set(decoders.map(({ vendor }) => vendor)).size).toBe(decoders.length)
    for (const { source } of decoders) expect(URL.canParse(source)).toBe(true)
  })

  test('has hosts that can be met, or routes for any host', () => {
    for (const { vendor, hosts, routes } of decoders) {
      for (const host of hosts) expect(new URL(`https://${host}/`).hostname).toBe(host)
      expect([vendor, hosts.length > 0 || routes.every(({ anyHost }) => anyHost)]).toEqual([vendor, true])
    }
  })
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
  ])('knows nobody for %s', (url) => {
    expect(get(url)).toEqual({ ...nothing, vendor: null, error: null })
  })

  test.each(['', 'tr?id=1', 'https://', 'https://exa mple/'])('refuses %j', (url) => {
    expect(get(url)).toEqual({ ...nothing, vendor: null, error: 'url: is not an absolute address' })
  })

  test('reads by host, its case and subdomains aside', () => {
    expect(get('HTTPS://De-DE.Facebook.COM/tr?id=1&ev=Lead')).toEqual({
      vendor: 'Meta Pixel',
      kind: 'event',
      account: '1',
      events: [{ event: 'Lead', account: '1', kind: 'event', params: { id: '1', ev: 'Lead' }, cut: [] }],
      error: null,
    })
  })

  test('a decoder that throws costs only its request', () => {
    const hit = { url: 'https://api.segment.io/v1/t', method: 'POST', body: '{"secret":' }
    expect(decodeHit(hit)).toEqual({ ...nothing, vendor: 'Segment', error: 'Segment: the body is not JSON' })
  })

  test('a preflight carries nothing', () => {
    const hit = { url: 'https://api.segment.io/v1/t', method: 'OPTIONS', body: null }
    expect(decodeHit(hit)).toEqual({ ...nothing, vendor: 'Segment', error: null })
  })

  test('keeps the first 1,000 events of a request and says so', () => {
    const url = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1'
    const { events, error } = decodeHit({ url, method: 'POST', body: 'en=a\n'.repeat(200_000) })
    expect(events).toHaveLength(MAX_EVENTS_PER_HIT)
    expect(events.at(-1)?.cut).toEqual(['events: more than 1000 in one request, the rest was dropped'])
    expect(events.at(-2)?.cut).toEqual([])
    expect(error).toBeNull()
  })

  test('cuts and cleans names', () => {
    const { events } = get(`https://www.facebook.com/tr?id=%00&ev=${'x'.repeat(300)}&cd[a]=${'y'.repeat(5000)}`)
    expect(events[0]?.event).toHaveLength(MAX_NAME_LENGTH)
    expect(events[0]?.account).toBe('\ufffd')
    expect(events[0]?.cut).toEqual([CUT.value])
  })
})

describe('whatever comes', () => {
  const hosts = [...decoders.flatMap((decoder) => decoder.hosts), 'shop.example', '127.0.0.1']
  const paths = [
    '/g/collect',
    '/mp/collect',
    '/tr/',
    '/action/0',
    '/api/v2/pixel',
    '/collect',
    '/wa/',
    '/v1/batch',
    '/v1/t',
    '/v1/pixel/track',
    '/matomo.php',
    '/gtag/js',
    '/x',
  ]
  const keys = ['tid', 'en', 'ev', 'id', 'idsite', 'rec', 'url', 'data', 'pr1', 'gcd', 'requests', 'batch', '__proto__']
  const text = fc.string({ unit: 'binary', maxLength: 30 })
  const word = fc.oneof(text, fc.constantFrom('G-1', '7', '1', '%', '%E9', 'dj0yJnRpZD1H', 'custom'))
  const query = fc.array(fc.tuple(fc.constantFrom(...keys), word).map(([key, value]) => `${key}=${value}`))
  const json = fc.jsonValue({ maxDepth: 4 })
  const object = fc.record({ batch: json, requests: json, context: json, pids: json, events: json, event: json })
  const body = fc.oneof(
    fc.constant(null),
    text,
    query.map((pairs) => pairs.join('&')),
    query.map((pairs) => pairs.map((pair) => `--\r\nform-data; name="${pair}`).join('')),
    fc.oneof(json, object).map((value) => JSON.stringify(value)),
  )
  const url = fc.oneof(
    fc.webUrl({ withQueryParameters: true }),
    text,
    fc
      .tuple(fc.constantFrom(...hosts), fc.constantFrom(...paths), query)
      .map(([host, path, pairs]) => `https://${host}${path}?${pairs.join('&')}`),
  )

  test('never throws, and says either what was read or why not', () => {
    fc.assert(
      fc.property(url, fc.constantFrom('GET', 'POST'), body, (url, method, body) => {
        const { vendor, kind, events, error } = decodeHit({ url, method, body })
        expect(kind === null).toBe(events.length === 0)
        if (error !== null || vendor === null) expect(events).toEqual([])
        for (const { event, account, params } of events) {
          const texts = [event, account ?? '', ...Object.entries(params).flat()]
          expect(texts.every((text) => text.isWellFormed() && !text.includes('\0'))).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
