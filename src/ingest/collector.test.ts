import { afterAll, describe, expect, test } from 'bun:test'
import { deflateSync, gzipSync } from 'node:zlib'
import { HOUR_MS, SECOND_MS } from '../core/clock.ts'
import { rotateToken, setHostnameStatus } from '../domains/store.ts'
import { type Sending, TestCollector } from './collector.fixture.ts'

const MIB = 1024 * 1024
const EVENT = { vendor: 'Shop API', event: 'order' }
const BATCH = { events: [EVENT] }
const TAKEN = { accepted: 1, rejected: 0, errors: [] }

const fixture = new TestCollector()
afterAll(() => fixture[Symbol.asyncDispose]())
const { shop, blog } = fixture

/** Returns a batch with exactly this number of bytes. */
function batchOfBytes(bytes: number): string {
  const text = (fill: string) => JSON.stringify({ events: [{ ...EVENT, params: { fill } }] })
  return text('x'.repeat(bytes - text('').length))
}

/** Returns a body without a content length. */
function streamed(text: string): ReadableStream {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.subarray(at, at + 65_536))
      controller.close()
    },
  })
}

const batchCount = () => fixture.stored().batches.length

describe('the collector token', () => {
  test.each<[string, unknown, Sending]>([
    ['in the header', BATCH, {}],
    [
      'in the header, with the scheme in any case',
      BATCH,
      { token: null, headers: { authorization: `bEaReR  ${shop.token} ` } },
    ],
    ['in the query', BATCH, { token: null, query: `?token=${shop.token}` }],
    ['in the body', { ...BATCH, token: shop.token }, { token: null }],
    [
      'in the body, sent as a beacon sends it',
      { ...BATCH, token: shop.token },
      { token: null, headers: { 'content-type': 'text/plain;charset=UTF-8' } },
    ],
    ['in the query, together with an API key', BATCH, { token: 'ak_key', query: `?token=${shop.token}` }],
    ['in the header, which wins over the body', { ...BATCH, token: 'pt_nobody' }, {}],
    ['in the header, which wins over the query', BATCH, { query: '?token=pt_nobody' }],
  ])('is accepted %s', async (_where, batch, sending) => {
    expect(await fixture.send(batch, sending)).toMatchObject({ status: 202, body: TAKEN })
    expect(fixture.stored().events.at(-1)?.domainId).toBe(shop.id)
  })

  test.each<[string, unknown, Sending]>([
    ['missing', BATCH, { token: null }],
    ['empty', BATCH, { token: '' }],
    ['unknown in the header', BATCH, { token: 'pt_nobody' }],
    ['unknown in the header, although valid in the body', { ...BATCH, token: shop.token }, { token: 'pt_nobody' }],
    ['unknown in the query', BATCH, { token: null, query: '?token=pt_nobody' }],
    ['unknown in the body', { ...BATCH, token: '__proto__' }, { token: null }],
    ['not a bearer token', BATCH, { token: null, headers: { authorization: `Basic ${shop.token}` } }],
    ['unknown, with an invalid body', '{broken', { token: 'pt_nobody' }],
  ])('is rejected when it is %s', async (_why, batch, sending) => {
    const before = batchCount()
    const { status, body } = await fixture.send(batch, sending)
    expect([status, body]).toEqual([401, { error: 'token: unknown or missing property token' }])
    expect(batchCount()).toBe(before)
  })

  test('is valid for one more day after it has been replaced, for the same domain', async () => {
    await using own = new TestCollector()
    const old = own.shop.token
    const fresh = rotateToken(own.db, own.clock, own.shop).token
    const send = async (token: string) => (await own.send(BATCH, { token })).status
    expect([await send(old), await send(fresh)]).toEqual([202, 202])
    own.clock.advance(24 * HOUR_MS)
    expect([await send(old), await send(fresh)]).toEqual([401, 202])
  })
})

describe('a request body', () => {
  test.each<[string, Record<string, string>]>([
    ['JSON', { 'content-type': 'application/json' }],
    ['JSON in mixed case, with a character set', { 'content-type': 'Application/JSON; charset=utf-8' }],
    ['plain text', { 'content-type': 'text/plain' }],
    ['not encoded', { 'content-encoding': 'identity' }],
  ])('is accepted as %s', async (_what, headers) => {
    expect((await fixture.send(BATCH, { headers })).body).toEqual(TAKEN)
  })

  test.each(['gzip', 'GZIP', 'x-gzip'])('is accepted with the content encoding %s', async (encoding) => {
    const sent = await fixture.send(gzipSync(JSON.stringify(BATCH)), { headers: { 'content-encoding': encoding } })
    expect(sent).toMatchObject({ status: 202, body: TAKEN })
  })

  test('is accepted without a content type, because a binary beacon has none', async () => {
    const request = new Request(`http://localhost/api/v1/events?token=${shop.token}`, {
      method: 'POST',
      body: new TextEncoder().encode(JSON.stringify(BATCH)),
    })
    expect(request.headers.has('content-type')).toBe(false)
    expect((await fixture.answer(request)).body).toEqual(TAKEN)
  })

  test.each<[string, unknown, Record<string, string>, number, string]>([
    ['HTML', BATCH, { 'content-type': 'text/html' }, 415, 'content-type: must be application/json or text/plain'],
    ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'content-type: '],
    ['a type with an allowed prefix', BATCH, { 'content-type': 'application/json-seq' }, 415, 'content-type: '],
    ['a type with an allowed prefix', BATCH, { 'content-type': 'text/plainer' }, 415, 'content-type: '],
    ['brotli', BATCH, { 'content-encoding': 'br' }, 415, 'content-encoding: must be gzip or absent'],
    ['compressed twice', BATCH, { 'content-encoding': 'gzip, gzip' }, 415, 'content-encoding: '],
    ['empty', '', {}, 400, 'body: is not valid JSON'],
    ['truncated JSON', '{"events": [', {}, 400, 'body: is not valid JSON'],
    ['two JSON values', '{} {}', {}, 400, 'body: is not valid JSON'],
    ['a number that is not valid JSON', '{"sentAt": NaN}', {}, 400, 'body: is not valid JSON'],
    ['a list', '[]', {}, 400, 'body: must be an object'],
    ['null', 'null', {}, 400, 'body: must be an object'],
    ['a string', '"events"', {}, 400, 'body: must be an object'],
    ['nested very deeply', '['.repeat(500_000), {}, 400, 'body: is not valid JSON'],
    [
      'valid JSON, nested very deeply',
      `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
      {},
      400,
      'body: must be an object',
    ],
    ['text labelled as gzip', 'plain', { 'content-encoding': 'gzip' }, 400, 'body: is not valid gzip'],
    ['deflate labelled as gzip', deflateSync('{}'), { 'content-encoding': 'gzip' }, 400, 'body: is not valid gzip'],
    [
      'truncated gzip data',
      gzipSync(JSON.stringify(BATCH)).subarray(0, 40),
      { 'content-encoding': 'gzip' },
      400,
      'body: is not valid gzip',
    ],
    ['empty gzip data', new Uint8Array(), { 'content-encoding': 'gzip' }, 400, 'body: is not valid'],
    ['JSON labelled as gzip', BATCH, { 'content-encoding': 'gzip' }, 400, 'body: is not valid gzip'],
    ['gzip without a content encoding', gzipSync('{}'), {}, 400, 'body: is not valid JSON'],
  ])('is rejected when it is %s: %#', async (_what, content, headers, status, error) => {
    const before = batchCount()
    const answer = await fixture.send(content, { headers })
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({ error: expect.stringContaining(error) })
    expect(batchCount()).toBe(before)
  })

  describe('that is larger than 1 MiB', () => {
    const gzipped = { headers: { 'content-encoding': 'gzip' } }
    const longer = `body: is larger than ${MIB} bytes`

    test.each<[string, (text: string) => unknown, Sending]>([
      ['with its length declared', (text) => text, {}],
      ['with no length declared', streamed, {}],
      ['compressed', (text) => gzipSync(text), gzipped],
    ])('is rejected %s, and accepted at exactly 1 MiB', async (_how, bodyOf, sending) => {
      expect((await fixture.send(bodyOf(batchOfBytes(MIB)), sending)).body).toEqual(TAKEN)
      const refused = await fixture.send(bodyOf(batchOfBytes(MIB + 1)), sending)
      expect([refused.status, refused.body]).toEqual([413, { error: longer }])
    })

    test('is measured in bytes, not in characters', async () => {
      const batch = JSON.stringify({ events: [{ ...EVENT, params: { fill: 'é'.repeat(MIB / 2) } }] })
      expect(batch.length).toBeLessThan(MIB)
      expect((await fixture.send(batch)).status).toBe(413)
    })

    test('is rejected because of its content length before it is read', async () => {
      const request = new Request('http://localhost/api/v1/events', {
        method: 'POST',
        headers: { authorization: `Bearer ${shop.token}`, 'content-length': String(MIB + 1) },
        body: new ReadableStream({
          pull() {
            throw new Error('was read')
          },
        }),
        // biome-ignore lint/suspicious/noExplicitAny: Bun's types lack the field that a stream requires
      } as any)
      expect(await fixture.answer(request)).toMatchObject({ status: 413, body: { error: longer } })
    })

    test('is rejected when it is a gzip bomb, without decompressing it', async () => {
      const bomb = gzipSync(Buffer.alloc(200 * MIB, 0x20), { level: 9 })
      expect(bomb.length).toBeLessThan(MIB)
      const before = process.memoryUsage.rss()
      expect(await fixture.send(bomb, gzipped)).toMatchObject({ status: 413 })
      expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MIB)
    })
  })
})

describe('the envelope of a batch', () => {
  const good = {
    batchId: 'batch-01',
    sentAt: 0,
    env: 'dev',
    sessionId: 's',
    customerId: 'c',
    version: -1.5,
    sampleRate: 1,
    page: { url: 'https://shop.example/', referrer: '', title: '' },
    events: [],
    hits: [],
    tags: [],
  }

  test('may have all fields, or none', async () => {
    expect((await fixture.send(good)).body).toEqual({ accepted: 0, rejected: 0, errors: [] })
    expect((await fixture.send({})).body).toEqual({ accepted: 0, rejected: 0, errors: [] })
  })

  test.each(['event', 'Events', '__proto__', 'constructor', 'hasOwnProperty', 'x'.repeat(100)])(
    'is rejected with the unknown field %s, which the error names',
    async (field) => {
      const { status, body } = await fixture.send(`{"events": [], "${field}": 1}`)
      expect([status, body]).toEqual([400, { error: `${field}: there is no such field` }])
    },
  )

  const borders: [string, unknown, unknown][] = [
    ['batchId', 'x'.repeat(8), 'x'.repeat(7)],
    ['batchId', 'y'.repeat(64), 'x'.repeat(65)],
    ['sentAt', 0, -1],
    ['env', 'prod', 'test'],
    ['env', 'dev', null],
    ['sessionId', 's'.repeat(200), 's'.repeat(201)],
    ['sessionId', 's', ''],
    ['customerId', 'c'.repeat(500), 'c'.repeat(501)],
    ['customerId', 'c', ''],
    ['version', 12, '12'],
    ['sampleRate', 1, 1.0001],
    ['sampleRate', 0.000001, 0],
    ['sampleRate', 0.5, -0.5],
    ['events', Array(1000).fill(EVENT), Array(1001).fill(EVENT)],
    ['hits', [], {}],
    ['tags', [], 'none'],
    ['page', {}, null],
  ]

  test.each(borders)(
    'accepts %s at its limit and rejects values beyond the limit: %#',
    async (field, inside, outside) => {
      expect((await fixture.send({ [field]: inside })).status).toBe(202)
      const refused = await fixture.send({ [field]: outside })
      expect(refused.status).toBe(400)
      expect(refused.body.error).toStartWith(`${field}: `)
    },
  )

  const pageBorders: [string, string, string][] = [
    ['url', `https://a.example/${'x'.repeat(16 * 1024 - 18)}`, `https://a.example/${'x'.repeat(16 * 1024 - 17)}`],
    ['referrer', 'r'.repeat(16 * 1024), 'r'.repeat(16 * 1024 + 1)],
    ['title', 't'.repeat(4000), 't'.repeat(4001)],
  ]

  test.each(pageBorders)('accepts page.%s at its limit and rejects longer values', async (field, inside, outside) => {
    expect((await fixture.send({ page: { [field]: inside } })).status).toBe(202)
    const refused = await fixture.send({ page: { [field]: outside } })
    expect(refused.status).toBe(400)
    expect(refused.body.error).toStartWith(`page.${field}: `)
  })

  test('rejects items beyond 1,000 individually, and accepts those before', async () => {
    const { body } = await fixture.send({
      events: Array(600).fill(EVENT),
      tags: Array(401).fill({ container: 'GTM-1', tagId: 1 }),
    })
    expect(body).toEqual({
      accepted: 1000,
      rejected: 1,
      errors: [{ list: 'tags', index: 400, error: 'more than 1000 items in one batch' }],
    })
  })
})

describe('the visitor of a batch', () => {
  const IPHONE =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1'
  const CHROME =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
  const HINTS = {
    'sec-ch-ua': '"Chromium";v="142", "Microsoft Edge";v="142", "Not_A Brand";v="99"',
    'sec-ch-ua-mobile': '?0',
    'sec-ch-ua-platform': '"Windows"',
  }

  test.each<[string, Record<string, unknown>, Record<string, string>, Record<string, string | undefined>]>([
    [
      'is read from the headers',
      {},
      { 'user-agent': IPHONE, 'accept-language': 'de-CH,de;q=0.9' },
      { browser: 'Safari', browserVersion: '26', os: 'iOS', device: 'phone', language: 'de' },
    ],
    ['is read from client hints', {}, { 'user-agent': CHROME, ...HINTS }, { browser: 'Edge', os: 'Windows' }],
    [
      'is read from the batch of a server',
      { userAgent: IPHONE, language: 'fr' },
      { 'user-agent': CHROME, ...HINTS, 'accept-language': 'en' },
      { browser: 'Safari', os: 'iOS', language: 'fr' },
    ],
    [
      'is read from the hints of a batch alone',
      { clientHints: { brands: [{ brand: 'Google Chrome', version: '142' }], mobile: true, platform: 'Android' } },
      { 'user-agent': IPHONE },
      { browser: 'Chrome', browserVersion: '142', os: 'Android', device: 'phone' },
    ],
    [
      'is unknown if the batch says so',
      { userAgent: '' },
      { 'user-agent': IPHONE },
      { browser: undefined, os: undefined },
    ],
    ['keeps the language if the batch names none', { language: '*' }, { 'accept-language': 'en' }, { language: 'en' }],
  ])('%s', async (_what, fields, headers, expected) => {
    await using collector = new TestCollector()
    const batch = { ...fields, version: 3, page: { url: 'https://shop.example/p/4711' }, events: [{ vendor: 'V' }] }
    expect(await collector.send(batch, { headers })).toMatchObject({ status: 202, body: { accepted: 1 } })
    const [event] = collector.stored().events as unknown as Record<string, unknown>[]
    for (const [name, value] of Object.entries(expected)) expect([name, event?.[name]]).toEqual([name, value])
    // The user agent itself is not stored.
    expect(JSON.stringify(collector.stored())).not.toContain('Mozilla')
  })

  test('is part of the batch’s validation', async () => {
    await using collector = new TestCollector()
    for (const [fields, error] of [
      [{ userAgent: 'x'.repeat(4001) }, 'userAgent: must have at most 4000 characters'],
      [{ clientHints: 'x' }, 'clientHints: must be an object'],
      [{ language: 1 }, 'language: must be a string'],
    ] as const)
      expect(await collector.send({ ...fields, events: [{ vendor: 'V' }] })).toMatchObject({
        status: 400,
        body: { error },
      })
  })
})

describe('a denied hostname', () => {
  test('causes a 202 response, and its items are dropped and counted in the ledger', async () => {
    await using own = new TestCollector()
    setHostnameStatus(own.db, own.shop, 'evil.example', 'denied')
    setHostnameStatus(own.db, own.shop, 'xn--mller-kva.example', 'denied')
    const hit = { url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=page_view' }
    const batch = { events: [EVENT, 'broken'], hits: [hit], tags: [{ container: 'GTM-1', tagId: 1 }] }
    const refusal = (list: string, index: number) => ({ list, index, error: 'hostname denied' })
    const all = [refusal('events', 0), refusal('events', 1), refusal('hits', 0), refusal('tags', 0)]
    for (const url of ['https://evil.example/', 'http://EVIL.example.:8080/x?y', 'https://müller.example/']) {
      expect(await own.send({ ...batch, page: { url } })).toMatchObject({
        status: 202,
        body: { accepted: 0, rejected: 4, errors: all },
      })
    }
    expect(own.stored().events).toEqual([])
    const counted = Map.groupBy(own.ledger(), ({ reason }) => reason)
    expect([...counted].map(([reason, notes]) => [reason, notes.map(({ count }) => count)])).toEqual([
      ['events: hostname denied', [2, 2, 2]],
      ['hits: hostname denied', [1, 1, 1]],
      ['tags: hostname denied', [1, 1, 1]],
    ])
    expect(own.ledger()[0]?.sample).toBe('evil.example')
    // The hostname is denied for one domain only, and its subdomains are not denied.
    const url = 'https://evil.example/'
    expect((await own.send({ ...BATCH, page: { url } }, { token: own.blog.token })).body).toEqual(TAKEN)
    expect((await own.send({ ...BATCH, page: { url: 'https://sub.evil.example/' } })).body).toEqual(TAKEN)
  })
})

describe('the rate limit', () => {
  test('applies to each domain regardless of the token, and causes a response with `retry-after`', async () => {
    await using own = new TestCollector({ perSecond: 2 })
    const old = own.shop.token
    const fresh = rotateToken(own.db, own.clock, own.shop).token
    const statuses = async (...tokens: string[]) => {
      const answers = []
      for (const token of tokens) answers.push((await own.send(BATCH, { token })).status)
      return answers
    }
    expect(await statuses(old, fresh, fresh, old, own.blog.token)).toEqual([202, 202, 429, 429, 202])
    const refused = await own.send(BATCH, { token: fresh })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body).toEqual({ error: 'too many requests; try again in 1 s' })
    expect(own.stored().events.length).toBe(3)
    own.clock.advance(SECOND_MS)
    expect(await statuses(fresh, fresh, fresh)).toEqual([202, 202, 429])
  })

  test('counts a batch once, even if the token is in its body', async () => {
    await using own = new TestCollector({ perSecond: 2 })
    const send = async () => (await own.send({ ...BATCH, token: own.shop.token }, { token: null })).status
    expect([await send(), await send(), await send()]).toEqual([202, 202, 429])
  })

  test('ignores requests without a valid token', async () => {
    await using own = new TestCollector({ perSecond: 1 })
    for (let n = 0; n < 5; n++) expect((await own.send(BATCH, { token: 'pt_nobody' })).status).toBe(401)
    expect((await own.send(BATCH)).status).toBe(202)
  })
})

describe('browsers on any site', () => {
  const answers: [string, () => Promise<{ status: number; headers: Headers }>, number][] = [
    ['an accepted batch', () => fixture.send(BATCH), 202],
    ['a body that is not JSON', () => fixture.send('{'), 400],
    ['an unknown token', () => fixture.send(BATCH, { token: 'pt_nobody' }), 401],
    ['an unknown path', () => fixture.answer(new Request('http://localhost/api/v1/other', { method: 'POST' })), 404],
    ['a GET request', () => fixture.send(null, { method: 'GET' }), 404],
    ['a batch that is too large', () => fixture.send(batchOfBytes(MIB + 1)), 413],
    ['a batch with the wrong type', () => fixture.send(BATCH, { headers: { 'content-type': 'text/html' } }), 415],
  ]

  test.each(answers)('may read the response to %s', async (_what, ask, status) => {
    const answer = await ask()
    expect(answer.status).toBe(status)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('content-type')).toBe('application/json')
  })

  test('may read a 429 and its `retry-after`', async () => {
    await using own = new TestCollector({ perSecond: 1 })
    await own.send(BATCH)
    const { status, headers } = await own.send(BATCH)
    expect([status, headers.get('access-control-allow-origin'), headers.get('retry-after')]).toEqual([429, '*', '1'])
    expect(headers.get('access-control-expose-headers')).toBe('retry-after, x-request-id')
  })

  test('get a response to their preflight request', async () => {
    const request = new Request('http://localhost/api/v1/events', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-encoding, content-type',
      },
    })
    const { status, headers, body } = await fixture.answer(request)
    expect([status, body]).toEqual([204, null])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-methods')).toContain('POST')
    const allowed = headers.get('access-control-allow-headers')?.split(', ') ?? []
    expect(allowed.toSorted()).toEqual(['authorization', 'content-encoding', 'content-type'])
  })

  test('may read the 500 response to an unexpected error, which contains no details', async () => {
    const own = new TestCollector({
      judge: () => {
        throw new Error('secret detail')
      },
    })
    const { status, headers, body } = await own.send(BATCH)
    expect([status, body]).toEqual([500, { error: 'internal error; see the server log' }])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(own.bugs).toEqual([new Error('secret detail')])
    expect(own.stored()).toEqual({ events: [], batches: [] })
    own.bugs.length = 0
    await own[Symbol.asyncDispose]()
  })
})

test('notifications of alert violations are sent after the batch is on disk', async () => {
  const judged: string[] = []
  await using own: TestCollector = new TestCollector({
    judge: (event) => {
      judged.push(event.event)
      return event.params.bad === undefined ? [] : [`alr_${event.params.bad}`, 'alr_all']
    },
  })
  await own.send({ events: [EVENT] })
  expect(own.violated).toEqual([])
  await own.send({ events: [EVENT, { ...EVENT, params: { bad: 1 } }, { ...EVENT, params: { bad: 2 } }] })
  expect(own.violated.map(([ids, domain]) => [ids.toSorted(), domain])).toEqual([
    [['alr_1', 'alr_2', 'alr_all'], own.shop.id],
  ])
  const kept = own.stored().events.map(({ violations }) => violations ?? null)
  expect(kept).toEqual([null, null, ['alr_1', 'alr_all'], ['alr_2', 'alr_all']])
  expect(judged.length).toBe(4)
})

test('the collector handles only its own paths', () => {
  const paths = ['/api/v1/events', '/api/v1/other', '/api/v2/events', '/v1/events', '/', '/api/v1']
  expect(paths.map((path) => fixture.collector.owns(path))).toEqual([true, true, false, false, false, false])
  expect(blog.orgId).toBe(shop.orgId)
})

describe('a batch that is rejected entirely', () => {
  test('is recorded in the ledger of its domain, with reason and count', async () => {
    await using fixture = new TestCollector()
    for (const batch of ['{', '{"nonsense":1}', '{"page":{"url":7}}']) await fixture.send(batch)
    await fixture.send('x', { headers: { 'content-type': 'text/html' } })
    await fixture.send(`"${'x'.repeat(1024 * 1024)}"`)
    await fixture.send('{', { token: fixture.blog.token })
    await fixture.send('{', { token: 'pt_unknown' })
    await fixture.collector.recordRefusals()
    await fixture.collector.recordRefusals()
    const { shop, blog } = fixture
    expect(fixture.ledger()).toEqual([
      { domainId: shop.id, reason: 'batch: is invalid', count: 3, sample: 'page.url: must be a string' },
      {
        domainId: shop.id,
        reason: 'batch: has an unsupported type or encoding',
        count: 1,
        sample: 'content-type: must be application/json or text/plain',
      },
      { domainId: shop.id, reason: 'batch: is too large', count: 1, sample: 'body: is larger than 1048576 bytes' },
      { domainId: blog.id, reason: 'batch: is invalid', count: 1, sample: expect.stringContaining('body: ') },
    ])
  })

  test('because of the rate limit is counted as well', async () => {
    await using fixture = new TestCollector({ perSecond: 2 })
    const answers = await Promise.all(Array.from({ length: 5 }, () => fixture.send({ events: [] })))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 429, 429, 429])
    await fixture.collector.recordRefusals()
    expect(fixture.ledger()).toMatchObject([{ reason: 'batch: exceeds the rate limit', count: 3 }])
  })
})
