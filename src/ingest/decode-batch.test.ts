import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { TEST_START } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { NO_SEGMENTS, type StoredEvent } from '../core/event.ts'
import type { CollectorDomain } from '../domains/domain-directory.ts'
import type { Batch } from './batch.ts'
import { TestCollector } from './collector.fixture.ts'
import { type BatchContext, type DecodedBatch, decodeBatch } from './decode-batch.ts'

const NOW = TEST_START
const DOMAIN: CollectorDomain = {
  id: 'dom_1',
  orgId: 'org_1',
  customerSalt: 'salt',
  vendors: [],
  nameVendor: () => null,
  pageViewRate: { dev: 1, prod: 1 },
  capture: { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' },
}
const GA4 = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=purchase&epn.value=9.5'

function arrival(parts: Partial<BatchContext> = {}): BatchContext {
  let seq = 100
  return {
    domain: DOMAIN,
    receivedAt: NOW,
    nextSeq: () => ++seq,
    isDenied: () => false,
    judge: () => [],
    ...parts,
  }
}

const read = (batch: Batch, parts: Partial<BatchContext> = {}): DecodedBatch => decodeBatch(batch, arrival(parts))

/** Returns the only event in the batch. */
function only({ events, answer }: DecodedBatch): StoredEvent {
  const [first, ...more] = events
  if (!first || more.length > 0) throw new Error(`expected one event, not ${JSON.stringify({ events, answer })}`)
  return first
}

const readEvent = (event: object, frame: Batch = {}) =>
  only(read({ ...frame, events: [{ vendor: 'Shop API', event: 'order', ...event }] }))
const readHit = (hit: object, frame: Batch = {}) => read({ ...frame, hits: [hit] })

test('an event is stored unchanged, with the shared values of its batch', () => {
  const frame: Batch = {
    env: 'dev',
    sessionId: 's-1',
    version: 12,
    sampleRate: 0.25,
    page: { url: 'https://shop.example/cart?step=2#pay', referrer: 'https://x.example/?q=secret', title: 'Cart' },
  }
  const item = { id: 'e-1', ts: NOW - 5, account: 'A-1', status: 'failure', execMs: 3, durMs: 250.5 }
  expect(readEvent({ ...item, params: { value: 9.5, currency: 'EUR' } }, frame)).toEqual({
    seq: 101,
    id: 'e-1',
    ts: NOW - 5,
    receivedAt: NOW,
    orgId: 'org_1',
    domainId: 'dom_1',
    env: 'dev',
    vendor: 'Shop API',
    event: 'order',
    account: 'A-1',
    kind: 'event',
    host: 'shop.example',
    path: '/cart',
    title: 'Cart',
    sessionId: 's-1',
    customerId: null,
    status: 'failure',
    execMs: 3,
    durMs: 250.5,
    bytes: null,
    version: 12,
    segments: { ...NO_SEGMENTS, release: '12', pageGroup: '/cart' },
    weight: 4,
    violations: null,
    params: { value: '9.5', currency: 'EUR' },
  })
})

test('omitted values are null, and an ID is generated', () => {
  const event = readEvent({ event: undefined })
  expect(event).toMatchObject({ id: '', ts: NOW, env: 'prod', event: '', weight: 1, params: {} })
  const { account, host, path, title, sessionId, customerId, status, execMs, durMs, bytes, version } = event
  expect([account, host, path, title, sessionId, customerId, status, execMs, durMs, bytes, version]).toEqual(
    Array(11).fill(null),
  )
})

describe('a vendor request', () => {
  test('is decoded into its event', () => {
    const hit = { id: 'h-1', ts: NOW - 9, url: GA4, status: 204, durMs: 80, bytes: 43 }
    const event = only(readHit(hit, { page: { url: 'https://shop.example/' } }))
    expect(event).toMatchObject({
      id: 'h-1',
      ts: NOW - 9,
      vendor: 'Google Analytics 4',
      event: 'purchase',
      account: 'G-1',
      kind: 'event',
      host: 'shop.example',
      status: 'ok',
      durMs: 80,
      bytes: 43,
      execMs: null,
    })
    expect(event.params['epn.value']).toBe('9.5')
  })

  test('with several events is decoded into all of them, each with its own ID', () => {
    const url = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1'
    const hit = { url, method: 'POST', body: 'en=view_item\r\nen=add_to_cart\r\nen=purchase' }
    const named = readHit({ ...hit, id: 'h' })
    expect(named.events.map(({ id, event }) => [id, event])).toEqual([
      ['h', 'view_item'],
      ['h.1', 'add_to_cart'],
      ['h.2', 'purchase'],
    ])
    expect(named.answer).toEqual({ accepted: 1, rejected: 0, errors: [] })
    // If the hit has no id, each event gets its own id, derived from its `seq`, when it is stored.
    expect(readHit(hit).events.map(({ id }) => id)).toEqual(['', '', ''])
    expect(named.events.map(({ seq }) => seq)).toEqual([101, 102, 103])
  })

  test('is read from its body, compressed or not', () => {
    const url = 'https://api.segment.io/v1/t'
    const call = JSON.stringify({ type: 'track', event: 'Order Completed', writeKey: 'wk' })
    const bodies = [
      { body: call },
      { bodyBase64: Buffer.from(call).toString('base64') },
      { bodyBase64: gzipSync(call).toString('base64'), contentEncoding: 'gzip' },
    ]
    for (const body of bodies) {
      expect(only(readHit({ url, method: 'POST', ...body }))).toMatchObject({
        vendor: 'Segment',
        event: 'Order Completed',
        account: 'wk',
      })
    }
  })

  test('that loads a library is stored with the kind `library`', () => {
    const urls = [
      ['https://www.googletagmanager.com/gtag/js?id=G-1', 'Google Analytics 4', 'G-1'],
      ['https://cdn.segment.com/analytics.js/v1/wk/analytics.min.js', 'Segment', 'wk'],
      ['https://stats.shop.example/matomo.js', 'Matomo', null],
    ] as const
    for (const [url, vendor, account] of urls) {
      expect(only(readHit({ url, status: 200 }))).toMatchObject({
        vendor,
        account,
        kind: 'library',
        event: '',
        status: 'ok',
      })
    }
  })

  test('without an event is accepted, and stores no event', () => {
    expect(readHit({ url: GA4, method: 'options' })).toMatchObject({ events: [], answer: { accepted: 1, rejected: 0 } })
    expect(readHit({ url: 'https://api.segment.io/v1/m', method: 'POST', body: '{}' })).toMatchObject({
      events: [],
      answer: { accepted: 1, rejected: 0 },
    })
  })

  test.each([
    ['https://metrics.shop.example/c?v=1', 'Own metrics'],
    ['https://ajax.googleapis.com/ajax/libs/x.js', 'Google CDN'],
    ['https://nobody.example/x', 'nobody.example'],
    [GA4, 'Google Analytics 4'],
  ])('%s belongs to %s', (url, vendor) => {
    const nameVendor = (asked: string) => (asked.includes('/c?v=') || asked === GA4 ? 'Own metrics' : null)
    expect(only(read({ hits: [{ url }] }, { domain: { ...DOMAIN, nameVendor } })).vendor).toBe(vendor)
  })

  test('to an unknown vendor is stored as received', () => {
    const url = 'https://collect.unknown.example:8443/track/%C3%BC?uid=7&a.b=1&uid=8&empty#frag'
    const event = only(readHit({ url, method: 'POST', body: 'left alone', status: 500, durMs: 3, bytes: 9 }))
    expect(event).toMatchObject({
      vendor: 'collect.unknown.example',
      event: '',
      kind: 'hit',
      status: 'failure',
      bytes: 9,
    })
    expect({ ...event.params }).toEqual({
      url: 'https://collect.unknown.example:8443/track/%C3%BC',
      uid: '7',
      'uid.1': '8',
      'a.b': '1',
      empty: '',
    })
  })

  test('to an unknown vendor keeps its own URL, even if its query has a parameter `url`', () => {
    const { params } = only(readHit({ url: 'https://unknown.example/p?url=https%3A%2F%2Fshop.example%2F&url=b&x=1' }))
    expect({ ...params }).toEqual({
      url: 'https://unknown.example/p',
      'url.1': 'https://shop.example/',
      'url.2': 'b',
      x: '1',
    })
  })

  test.each<[number | string | undefined, string | null]>([
    [undefined, null],
    [0, 'failure'],
    [101, 'ok'],
    [200, 'ok'],
    [204, 'ok'],
    [302, 'ok'],
    [399, 'ok'],
    [400, 'failure'],
    [404, 'failure'],
    [500, 'failure'],
    [999, 'failure'],
    ['ok', 'ok'],
    ['failure', 'failure'],
    ['exception', 'exception'],
    ['timeout', 'timeout'],
    ['blocked', 'blocked'],
  ])('with the outcome %p has the status %p', (status, expected) => {
    expect(only(readHit({ url: GA4, ...(status === undefined ? {} : { status }) })).status).toBe(expected as null)
  })
})

test('a tag manager report is stored as such', () => {
  const tag = {
    id: 't',
    ts: NOW - 1,
    container: 'GTM-1',
    tagId: 7,
    name: 'GA4 purchase',
    event: 'buy',
    status: 'timeout',
    execMs: 12,
  }
  expect(only(read({ tags: [tag] }))).toMatchObject({
    id: 't',
    ts: NOW - 1,
    vendor: 'Google Tag Manager',
    event: 'buy',
    account: 'GTM-1',
    kind: 'tag',
    status: 'timeout',
    execMs: 12,
    durMs: null,
    params: { tagId: '7', name: 'GA4 purchase' },
  })
})

describe('a request whose body the browser could not read in time', () => {
  test.each<[name: string, url: string, vendor: string, params: Record<string, string>]>([
    ['decoding requires the body', 'https://api.segment.io/v1/t?a=1', 'Segment', { a: '1' }],
    [
      'the host belongs to the site',
      'https://data.shop.example/ee/v1/interact?configId=aaaabbbb-1111-2222-3333-444455556666',
      'Adobe Experience Platform Web SDK',
      { configId: 'aaaabbbb-1111-2222-3333-444455556666' },
    ],
    ['the event name is in the body', 'https://www.facebook.com/tr/?id=1', 'Meta Pixel', { id: '1' }],
  ])('is stored as a hit of its vendor instead of being rejected: %s', (_name, url, vendor, params) => {
    const { events, answer, ledger } = readHit({ id: 'h', url, method: 'POST', status: 204 })
    const [place = ''] = url.split('?')
    expect(answer).toEqual({ accepted: 1, rejected: 0, errors: [] })
    expect(events).toMatchObject([{ id: 'h', kind: 'hit', vendor, event: '', status: 'ok' }])
    expect(events[0]?.params).toEqual({ url: place, ...params })
    expect(ledger).toEqual([{ reason: 'hits: the body is missing; stored as kind hit', count: 1, sample: place }])
  })

  test.each([
    ['the query contains an event', 'POST', 'event'],
    ['a GET request has no body', 'GET', 'event'],
  ])('is stored as an event: %s', (_name, method, kind) => {
    expect(only(readHit({ url: GA4, method })).kind).toBe(kind as 'event')
  })

  test("is rejected if it is a GET request that can't be decoded", () => {
    expect(readHit({ url: 'https://api.segment.io/v1/t' }).answer.rejected).toBe(1)
  })
})

describe("an item that can't be decoded", () => {
  const segment = 'https://api.segment.io/v1/t'
  const bomb = gzipSync(Buffer.alloc(2 * 1024 * 1024, 0x20)).toString('base64')
  test.each<[object, string, string]>([
    [{ url: 'no URL' }, 'url: is not an absolute URL', ''],
    [{ url: '/g/collect?v=2' }, 'url: is not an absolute URL', ''],
    [{ url: segment, method: 'POST', body: '{"secret": 1' }, 'Segment: the body is not JSON', segment],
    [{ url: `${segment}?q=secret`, bodyBase64: '*' }, 'body: bodyBase64 is not valid Base64', segment],
    [
      { url: segment, bodyBase64: 'YQ==', contentEncoding: 'rar' },
      'body: its content encoding is not supported',
      segment,
    ],
    [{ url: segment, bodyBase64: 'AAAA', contentEncoding: 'br' }, 'body: its compressed data is damaged', segment],
    [{ url: segment, bodyBase64: bomb }, 'body: it is larger than 1 MiB', segment],
  ])('is rejected, and recorded in the ledger without its values: %#', (hit, error, sample) => {
    const { events, answer, ledger } = readHit(hit)
    expect(events).toEqual([])
    expect(answer).toEqual({ accepted: 0, rejected: 1, errors: [{ list: 'hits', index: 0, error }] })
    expect(ledger).toEqual([{ reason: `hits: ${error}`, count: 1, sample }])
    expect(JSON.stringify({ answer, ledger })).not.toContain('secret')
  })

  test('does not cause other items of its batch to be rejected', () => {
    const hits = [{ url: segment, method: 'POST', body: '{' }, { url: GA4 }, { url: 'x' }, { url: GA4 }]
    const { events, answer } = read({ hits, events: [null, { vendor: 'A' }] })
    expect(events.map(({ vendor }) => vendor)).toEqual(['A', 'Google Analytics 4', 'Google Analytics 4'])
    expect(answer.errors.map(({ list, index }) => [list, index])).toEqual([
      ['events', 0],
      ['hits', 0],
      ['hits', 2],
    ])
  })
})

describe('the ledger', () => {
  test('counts the affected items by reason, regardless of how many there are', () => {
    const long = 'x'.repeat(5000)
    const { ledger } = read({
      events: [
        ...Array(30).fill({ vendor: 7 }),
        ...Array(5).fill({ vendor: 'A', event: 'e', params: { long } }),
        { vendor: 'A', params: Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`k${n}`, long])) },
        { vendor: 'B', params: { [`k${long}`]: 1, a: { b: 1 }, 'a.b': 2 } },
      ],
    })
    expect(ledger).toEqual([
      { reason: 'events: vendor: must be a string', count: 30, sample: '' },
      { reason: 'params: a value was longer than 4000 characters and was truncated', count: 6, sample: 'A e' },
      { reason: 'params: more than 500; the rest was dropped', count: 1, sample: 'A ' },
      { reason: 'params: a key was longer than 200 characters and was truncated', count: 1, sample: 'B ' },
      { reason: 'params: a key occurred more than once; only the first value was kept', count: 1, sample: 'B ' },
    ])
  })

  test('has one reason for all unknown fields, regardless of their names', () => {
    const { answer, ledger } = read({
      events: Array.from({ length: 300 }, (_, n) => ({ vendor: 'A', [`field${n}`]: 1 })),
      tags: [{ container: 'C', tagId: 1, ['y\0'.repeat(50_000)]: 1 }],
    })
    expect(answer.rejected).toBe(301)
    expect(answer.errors[7]).toEqual({ list: 'events', index: 7, error: 'field7: there is no such field' })
    expect(ledger.map(({ reason, count }) => [reason, count])).toEqual([
      ['events: unknown field', 300],
      ['tags: unknown field', 1],
    ])
    expect(ledger[0]?.sample).toBe('field0: there is no such field')
    expect(JSON.stringify(ledger).length).toBeLessThan(1500)
  })

  test('records a page without an absolute URL, and its events are stored', () => {
    const { events, ledger } = read({ page: { url: '/cart?q=1' }, events: [{ vendor: 'A' }] })
    expect([events.length, events[0]?.host, events[0]?.path]).toEqual([1, null, null])
    expect(ledger).toEqual([{ reason: 'page.url: is not an absolute URL', count: 1, sample: '' }])
  })
})

describe('an oversized name', () => {
  const host = `${'a'.repeat(300)}.example`

  test("is not stored as the host of a page, but the page's events are stored", () => {
    const { events, ledger } = read({ page: { url: `https://${host}/cart` }, events: [{ vendor: 'A' }] })
    expect(events.map(({ host, path }) => [host, path])).toEqual([[null, '/cart']])
    expect(ledger).toEqual([{ reason: 'page.url: its hostname is too long', count: 1, sample: '' }])
  })

  test('is truncated when used as the vendor of an unknown request', () => {
    expect(only(readHit({ url: `https://${host}/x` })).vendor).toBe('a'.repeat(200))
  })

  test('is truncated when used as the path that every page timing row repeats', () => {
    const vendors = [{ host: 'a.example', requests: 1 }]
    const { pages } = read({ page: { url: `https://shop.example/${'a'.repeat(5000)}` }, pageStats: { vendors } })
    expect(pages.map(({ path }) => path)).toEqual([`/${'a'.repeat(999)}`])
  })
})

test('a response lists at most 20 errors, and all are counted', () => {
  const { answer } = read({ events: Array(50).fill(0), tags: Array(50).fill(0) })
  expect([answer.rejected, answer.errors.length, answer.errors.at(-1)?.index]).toEqual([100, 20, 19])
})

describe('the page of an event', () => {
  test.each<[string, string | null, string | null]>([
    ['https://Shop.Example:8443/a/b?email=a@b.example#c', 'shop.example', '/a/b'],
    ['http://shop.example.', 'shop.example', '/'],
    ['https://user:pass@shop.example/x', 'shop.example', '/x'],
    ['https://müller.example/ü', 'xn--mller-kva.example', '/%C3%BC'],
    ['https://[2001:DB8::1]/', '[2001:db8::1]', '/'],
    ['https://127.1/', '127.0.0.1', '/'],
    ['', null, null],
    ['about:blank', null, 'blank'],
    ['file:///home/index.html', null, '/home/index.html'],
    ['app://com.shop.app/cart', 'com.shop.app', '/cart'],
  ])('%s has host %p and path %p', (url, host, path) => {
    const event = readEvent({}, { page: { url } })
    expect([event.host, event.path]).toEqual([host, path])
  })

  test('is stored without query string, fragment, user name and referrer', () => {
    const secret = fc.stringMatching(/^secret[a-z0-9]{4,12}$/)
    fc.assert(
      fc.property(secret, fc.webPath(), (word, path) => {
        const url = `https://${word}1:${word}2@shop.example${path}?q=${word}&${word}=1#${word}`
        const hit = { url: GA4 }
        const page = { url, referrer: `https://${word}.example/` }
        const all = read({ page, events: [{ vendor: 'A' }], hits: [hit], tags: [{ container: 'C', tagId: 1 }] })
        expect(all.events.length).toBe(3)
        expect(JSON.stringify(all)).not.toContain(word)
      }),
    )
  })
})

describe('a customer ID', () => {
  test('is hashed with the salt of the organization, and never stored as plain text', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z]{3}@[a-z]{5,20}\.example$/),
        fc.stringMatching(/^[0-9a-f]{16}$/),
        (customerId, customerSalt) => {
          const batch = { customerId, events: [{ vendor: 'A' }, null], hits: [{ url: GA4 }, { url: 'x' }] }
          const known = read(batch, { domain: { ...DOMAIN, customerSalt } })
          const hash = createHash('sha256').update(`${customerSalt}\0${customerId}`).digest('hex').slice(0, 32)
          expect(known.events.map((event) => event.customerId)).toEqual([hash, hash])
          expect(JSON.stringify(known)).not.toContain(customerId)
        },
      ),
    )
  })

  test('has a different hash in another organization', () => {
    const of = (customerSalt: string) =>
      only(read({ customerId: 'c', events: [{ vendor: 'A' }] }, { domain: { ...DOMAIN, customerSalt } })).customerId
    expect(of('a')).not.toBe(of('b'))
    expect(of('a')).toBe(of('a'))
  })
})

test('an implausible time is reported in the response and the ledger, and the event is stored', () => {
  const { events, answer, ledger } = read({
    events: [
      { vendor: 'A', ts: NOW },
      { vendor: 'A', ts: 5000 },
    ],
  })
  expect(events.map(({ ts }) => ts)).toEqual([NOW, NOW])
  const note = 'ts: is not a plausible time; the time of receipt is used'
  expect(answer).toEqual({ accepted: 2, rejected: 0, errors: [], notes: [{ list: 'events', index: 1, note }] })
  expect([...ledger.values()]).toEqual([
    { reason: 'ts: is not a plausible time; the time of receipt is used', count: 1, sample: '5000' },
  ])
})

test('a response contains at most 20 notes, one per item', () => {
  const hits = [{ url: GA4.replace(/&en.*/, ''), method: 'POST', ts: 1, body: 'en=view\nen=scroll' }]
  expect(read({ hits }).events).toHaveLength(2)
  expect(read({ hits }).answer).toMatchObject({ accepted: 1, notes: [{ list: 'hits', index: 0 }] })
  expect(read({ pageStats: { ts: 1 } }).answer.notes).toMatchObject([{ list: 'pageStats', index: 0 }])
  expect(read({ events: Array(30).fill({ vendor: 'A', ts: 1 }) }).answer.notes).toHaveLength(20)
})

describe('the time of an event', () => {
  test.each<[string, number | undefined, number | undefined, number]>([
    ['is unchanged when the clocks agree', NOW - 30, NOW, NOW - 30],
    ["is unchanged without the sender's clock", NOW - 30, undefined, NOW - 30],
    ['is the time of receipt by default', undefined, NOW - HOUR_MS, NOW],
    ['is moved forward for a slow clock', NOW - HOUR_MS - 30, NOW - HOUR_MS, NOW - 30],
    ['is moved back for a fast clock', NOW + HOUR_MS - 30, NOW + HOUR_MS, NOW - 30],
    ['is corrected for a clock that was never set', 500, 1000, NOW - 500],
    ['is never in the future', NOW + HOUR_MS, undefined, NOW],
    ['is never later than the time of sending', NOW, NOW - HOUR_MS, NOW],
    ['is a whole millisecond', NOW - 0.6, undefined, NOW - 1],
    ['can be in the distant past', NOW - 90 * 24 * HOUR_MS, NOW, NOW - 90 * 24 * HOUR_MS],
    ['is the time of receipt if it would be before the epoch', 0, NOW * 2, NOW],
    ['is valid for any time of sending', 0, 1e300, NOW],
    ['can be in seconds', NOW / 1000 - 60, undefined, NOW - 60_000],
    ['can be in microseconds', (NOW - 60_000) * 1000, undefined, NOW - 60_000],
    ['and the time of sending can both be in seconds', NOW / 1000 - 3600, NOW / 1000 - 3540, NOW - 60_000],
    ['of a clock that started with the device is corrected by the time of sending', 5000, 65_000, NOW - 60_000],
    ['is the time of receipt if it is not plausible', 5000, undefined, NOW],
    ['is the time of receipt if it is a year ahead', NOW + 365 * 24 * HOUR_MS, undefined, NOW],
    ['is valid for any time reported by the browser', 1e300, 0, NOW],
  ])('%s', (_what, ts, sentAt, expected) => {
    expect(readEvent({ ts }, sentAt === undefined ? {} : { sentAt }).ts).toBe(expected)
  })

  test('is always a whole number between the epoch and the time of receipt', () => {
    const aNumber = fc.oneof(
      fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 0, max: NOW * 2 }),
    )
    fc.assert(
      fc.property(aNumber, aNumber, (ts, sentAt) => {
        const stored = readEvent({ ts }, { sentAt }).ts
        expect(Number.isSafeInteger(stored) && stored >= 0 && stored <= NOW).toBe(true)
      }),
    )
  })
})

test('a weight is the number of events that a sampled event represents', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1, noNaN: true }), (sampleRate) => {
      expect(readEvent({}, { sampleRate }).weight * sampleRate).toBeCloseTo(1, 12)
    }),
  )
})

describe('a batch that expands when it is decoded', () => {
  const packed = gzipSync('x'.repeat(1_000_000)).toString('base64')

  test.each([
    ['bytes', { bodyBase64: packed }],
    ['text', { body: packed }],
  ])('has its items rejected beyond the limit for compressed bodies: %s', (_, sent) => {
    const url = 'https://api.segment.io/v1/batch'
    const { answer, ledger } = read({
      hits: Array(30).fill({ url, method: 'POST', ...sent }),
      events: [{ vendor: 'A' }],
    })
    expect(answer).toMatchObject({ accepted: 1, rejected: 30 })
    const refused = ledger.find(({ reason }) => reason.startsWith('hits: the bodies in the batch decompress'))
    expect(refused?.count).toBe(21)
  })

  const calls = Array.from({ length: 1000 }, () => ({}))
  const shared = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`key${n}`, 'x'.repeat(4000)]))
  const wide = JSON.stringify({ batch: calls, ...shared })

  test('has its items rejected beyond the limit if every event repeats the shared values', () => {
    const hit = { url: 'https://api.segment.io/v1/batch', method: 'POST', body: wide }
    const { events, answer, ledger } = read({ hits: [hit, { url: GA4 }], events: [{ vendor: 'A' }] })
    expect(events.length).toBe(2)
    expect(answer).toMatchObject({ accepted: 2, rejected: 1, errors: [{ list: 'hits', index: 0 }] })
    expect(ledger.map(({ reason, count }) => [reason, count])).toEqual([
      ['hits: the bodies in the batch decompress to more than 8 MiB', 1],
    ])
  })

  test('has its items rejected beyond the limit if every event repeats the page', () => {
    const body = JSON.stringify({ batch: Array(1000).fill({ type: 'page' }) })
    const hit = { url: 'https://api.segment.io/v1/batch', method: 'POST', body }
    const url = `https://shop.example/${'x'.repeat(16_000)}`
    const { events, answer } = read({ page: { url }, hits: Array(30).fill(hit) })
    expect([events.length, answer.rejected]).toEqual([0, 30])
    expect(read({ page: { url: 'https://shop.example/' }, hits: Array(5).fill(hit) }).events.length).toBe(5000)
  })

  test('has its items rejected beyond the limit if their bodies are highly compressed', () => {
    const bodyBase64 = gzipSync(JSON.stringify({ type: 'track', event: 'e', pad: ' '.repeat(1_000_000) })).toString(
      'base64',
    )
    const hit = { url: 'https://api.segment.io/v1/t', method: 'POST', bodyBase64 }
    const { answer } = read({ hits: Array(30).fill(hit) })
    expect(answer.accepted).toBeLessThanOrEqual(9)
    expect(answer.accepted).toBeGreaterThanOrEqual(8)
    expect(answer.accepted + answer.rejected).toBe(30)
    // Uncompressed items are not affected.
    const plain = [{ url: GA4 }, { ...hit, bodyBase64: undefined, body: '{"type":"track","event":"e"}' }]
    expect(read({ hits: [...Array(30).fill(hit), ...plain] }).answer.accepted).toBe(answer.accepted + 2)
  })

  test('is accepted if its expansion is normal', () => {
    const events = Array.from({ length: 25 }, (_, n) => `en=e${n}&epn.value=${n}`).join('\r\n')
    const url = `https://www.google-analytics.com/g/collect?v=2&tid=G-1&ep.context=${'c'.repeat(2000)}`
    const { answer, events: stored } = read({ hits: Array(100).fill({ url, method: 'POST', body: events }) })
    expect([answer.accepted, stored.length]).toEqual([100, 2500])
  })
})

test.each(['data:text/plain,hello', 'blob:https://a.b/1', 'about:blank', 'javascript:void(0)', 'file:///etc/hosts'])(
  'a request to %s belongs to no vendor, and only this item is rejected',
  (url) => {
    const { events, answer } = read({ hits: [{ url }, { url: GA4 }, { url: 'wss://socket.example/1' }] })
    expect(events.map(({ vendor }) => vendor)).toEqual(['Google Analytics 4', 'socket.example'])
    const error = 'url: is not an http, https, ws or wss URL'
    expect(answer).toEqual({ accepted: 2, rejected: 1, errors: [{ list: 'hits', index: 0, error }] })
  },
)

const vendor = { host: 'connect.facebook.net', requests: 2, durMs: [10, 12.5], blockMs: 7, bytes: 900 }

/** Sends a batch, and returns the response and the stored pages. */
async function send(batch: object) {
  await using fixture = new TestCollector()
  const { status, body } = await fixture.send(batch)
  return { status, body, fixture, pages: fixture.stored().batches.flatMap(({ pages = [] }) => pages) }
}

describe('page statistics', () => {
  test('are stored as one row for each vendor on the page', async () => {
    const { status, pages, fixture } = await send({
      sessionId: 's-1',
      env: 'dev',
      version: 3,
      sampleRate: 0.5,
      sentAt: 1000,
      page: { url: 'https://shop.example/cart?step=2' },
      pageStats: { ts: 400, loaf: true, vendors: [vendor, { host: 'CDN.nobody.example', requests: 1 }] },
    })
    expect(status).toBe(202)
    const frame = {
      page: expect.any(Number),
      ts: fixture.clock.now() - 600,
      receivedAt: fixture.clock.now(),
      orgId: fixture.shop.orgId,
      domainId: fixture.shop.id,
      env: 'dev',
      host: 'shop.example',
      path: '/cart',
      sessionId: 's-1',
      version: 3,
      weight: 2,
      loaf: true,
    }
    expect(pages).toEqual([
      {
        ...frame,
        vendor: 'Meta Pixel',
        vendorHost: 'connect.facebook.net',
        requests: 2,
        durMs: [10, 12.5],
        blockMs: 7,
        bytes: 900,
      },
      {
        ...frame,
        vendor: 'cdn.nobody.example',
        vendorHost: 'cdn.nobody.example',
        requests: 1,
        durMs: [],
        blockMs: 0,
        bytes: null,
      },
    ])
  })

  test('without any vendor are stored as one row, so that the page is counted', async () => {
    const { body, pages } = await send({ pageStats: { loaf: false } })
    expect(body).toEqual({ accepted: 1, rejected: 0, errors: [] })
    expect(pages).toMatchObject([{ vendor: '', requests: 0, durMs: [], blockMs: null, bytes: null, loaf: false }])
  })

  test('from a browser that does not report blocking time contain null for it', async () => {
    const { pages } = await send({ pageStats: { loaf: false, vendors: [vendor] } })
    expect(pages).toMatchObject([{ blockMs: null }])
  })

  test('omit only an invalid vendor', async () => {
    const bad = [{}, { host: '', requests: 1 }, { ...vendor, requests: -1 }, { ...vendor, more: 1 }, 7]
    const { body, pages } = await send({ events: [{ vendor: 'A' }], pageStats: { vendors: [...bad, vendor] } })
    expect([body.accepted, body.rejected]).toEqual([2, bad.length])
    expect(body.errors[0]).toMatchObject({ list: 'pageStats.vendors', index: 0 })
    expect(pages).toMatchObject([{ vendor: 'Meta Pixel' }])
  })

  test.each([[{ vendors: 7 }], [{ vendors: Array(201).fill(vendor) }], [{ ts: -1 }], [{ more: 1 }], [7]])(
    'that are %j cause the batch to be rejected',
    async (pageStats) => {
      const { status, body } = await send({ pageStats })
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^pageStats/)])
    },
  )
})
