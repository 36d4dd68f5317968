import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TestCollector } from './collector.fixture.ts'

const GA4 = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=purchase'

const fixture = new TestCollector()
afterAll(() => fixture[Symbol.asyncDispose]())
// Ensures that each test reads only its own events.
beforeEach(() => fixture.flush())

type List = 'events' | 'hits' | 'tags'
interface Item {
  list: List
  /** A string, because some valid JSON is never written by `JSON.stringify`. */
  json: string
  good: boolean
}

/** A number that is valid JSON but that `JSON.stringify` can't write. */
const BIG = '1e400'
const text = (length: number) => 'x'.repeat(length)
const urlOf = (length: number) => `https://u.example/${text(length - 18)}`

/** Values at and beyond the limits of each field. */
const BORDERS: [List, string, unknown[], unknown[]][] = [
  ['events', 'id', [text(1), text(100)], ['', text(101), 7, null]],
  ['events', 'ts', [0, 1.5, 4e12], [-1, '5', null]],
  ['events', 'vendor', [text(1), text(200)], ['', text(201), null, {}]],
  ['events', 'event', ['', text(200)], [text(201), null, 1]],
  ['events', 'account', ['', text(200)], [text(201), null, 1]],
  ['events', 'status', ['ok', 'failure', 'exception', 'timeout', 'blocked'], ['OK', '', 200, null]],
  ['events', 'execMs', [0, 0.001, 1e12], [-0.001, '1', null]],
  ['events', 'durMs', [0, 1e12], [-1, true]],
  ['events', 'params', [{}, { a: 1 }, { a: { b: [1, { c: null }] } }], [[], null, 'a=1', 7]],
  ['hits', 'id', [text(100)], ['', text(101)]],
  ['hits', 'ts', [0], [-1]],
  ['hits', 'url', [GA4, urlOf(16 * 1024)], ['', urlOf(16 * 1024 + 1), 'relative', null]],
  ['hits', 'method', ['get', 'POST', text(20)], ['', text(21), null]],
  ['hits', 'body', ['', text(100)], [null, {}]],
  ['hits', 'bodyBase64', ['', 'YQ=='], ['*', null]],
  ['hits', 'contentEncoding', ['', 'gzip', text(50)], [text(51), null]],
  ['hits', 'type', ['', 'fetch', text(200)], [text(201), null]],
  ['hits', 'status', [0, 200, 999, 'blocked'], [-1, 1000, 1.5, '200', null]],
  ['hits', 'durMs', [0], [-1]],
  ['hits', 'bytes', [0, 1e15], [-1]],
  ['tags', 'id', [text(100)], [text(101)]],
  ['tags', 'container', [text(1), text(200)], ['', text(201), null]],
  ['tags', 'tagId', [text(1), text(200), 0, -7], ['', text(201), null, {}]],
  ['tags', 'name', ['', text(500)], [text(501), null]],
  ['tags', 'event', ['', text(200)], [text(201)]],
  ['tags', 'status', ['timeout'], ['slow']],
  ['tags', 'execMs', [0], [-1]],
  ['tags', 'params', [{}, { a: 1 }, { a: { b: 'c' } }], ['x', null, 5]],
]

const PLAIN: Record<List, object> = {
  events: { vendor: 'Shop API', event: 'order' },
  hits: { url: GA4 },
  tags: { container: 'GTM-1', tagId: 1 },
}

const BROKEN = ['null', '"text"', '7', 'true', '[]', '[[]]', '{}']

const ITEMS: Item[] = [
  ...BORDERS.flatMap(([list, field, inside, outside]) =>
    [inside, outside].flatMap((values, at) =>
      values.map((value) => ({ list, json: JSON.stringify({ ...PLAIN[list], [field]: value }), good: at === 0 })),
    ),
  ),
  ...(['events', 'hits', 'tags'] as const).flatMap((list) => [
    ...BROKEN.map((json) => ({ list, json, good: false })),
    { list, json: JSON.stringify({ ...PLAIN[list], extra: 1 }), good: false },
    { list, json: JSON.stringify(PLAIN[list]).replace('{', '{"__proto__": {"vendor": "x"}, '), good: false },
    { list, json: JSON.stringify(PLAIN[list]).replace('{', '{"constructor": 1, '), good: false },
    { list, json: JSON.stringify(PLAIN[list]).replace('{', `{"ts": ${BIG}, `), good: false },
    // If a key occurs twice, the last value counts: https://www.rfc-editor.org/rfc/rfc8259#section-4
    { list, json: JSON.stringify(PLAIN[list]).replace('{', '{"id": 7, "id": "seven", '), good: true },
  ]),
]

test.each(ITEMS.map((item) => [item.list, item.good ? 'good' : 'bad', item.json.slice(0, 60), item] as const))(
  'in %s, one %s item: %s',
  async (list, _kind, _json, { json, good }) => {
    const { status, body } = await fixture.send(`{"${list}": [${json}]}`)
    expect(status).toBe(202)
    expect([body.accepted, body.rejected]).toEqual(good ? [1, 0] : [0, 1])
    expect(body.errors).toEqual(good ? [] : [{ list, index: 0, error: expect.stringMatching(/./) }])
  },
)

test('an invalid field is named in the error', async () => {
  for (const [list, field, , outside] of BORDERS) {
    if (field === 'bodyBase64' || field === 'url') continue
    const items = outside.map((value) => ({ ...PLAIN[list], [field]: value }))
    const { body } = await fixture.send({ [list]: items })
    expect(body.errors.map(({ error }: { error: string }) => error.split(':')[0])).toEqual(outside.map(() => field))
  }
})

test('one invalid item never causes the others to be rejected', async () => {
  const anItem = fc.constantFrom(...ITEMS)
  await fc.assert(
    fc.asyncProperty(fc.array(anItem, { maxLength: 60 }), async (items) => {
      const lists = Map.groupBy(items, ({ list }) => list)
      const batchId = crypto.randomUUID()
      const json = [...lists].map(([list, group]) => `"${list}": [${group.map((item) => item.json).join(', ')}]`)
      const { status, body } = await fixture.send(`{${[`"batchId": "${batchId}"`, ...json].join(', ')}}`)
      expect(status).toBe(202)

      // In the order in which the collector reads the lists.
      const all = (['events', 'hits', 'tags'] as const).flatMap((list) =>
        (lists.get(list) ?? []).map((item, index) => ({ list, index, good: item.good })),
      )
      const bad = all.filter(({ good }) => !good)
      expect([body.accepted, body.rejected]).toEqual([all.length - bad.length, bad.length])
      expect(
        body.errors.map(({ list, index }: { list: List; index: number }) => ({ list, index, good: false })),
      ).toEqual(bad.slice(0, 20))
      const { events, batches } = fixture.stored()
      const record = batches.at(-1)
      expect(record).toMatchObject({ key: `${fixture.shop.id} ${batchId}`, answer: body })
      const noted = record.ledger.filter(({ reason }: { reason: string }) => /^(events|hits|tags): /.test(reason))
      expect(noted.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(bad.length)
      // Each valid item here becomes one event.
      const own = events.slice(events.length - body.accepted)
      const kindOf = { events: 'event', hits: /^(event|hit)$/, tags: 'tag' }
      for (const [at, { list }] of all.filter(({ good }) => good).entries()) {
        expect(own[at]?.kind).toMatch(kindOf[list])
      }
    }),
    { numRuns: 40 },
  )
})

/** Sends a body with a single event, and returns the event as stored on disk. */
async function storedOf(json: string) {
  const before = fixture.stored().events.length
  const { status, body } = await fixture.send(json)
  expect([status, body]).toEqual([202, { accepted: 1, rejected: 0, errors: [] }])
  const [event, ...more] = fixture.stored().events.slice(before)
  if (!event || more.length > 0) throw new Error('expected one event')
  return event
}

describe('hostile event parameters', () => {
  test.each<[string, string, Record<string, string>]>([
    [
      'keys of the prototype',
      '{"__proto__": "p", "constructor": "c", "toString": "t"}',
      JSON.parse('{"__proto__": "p", "constructor": "c", "toString": "t"}'),
    ],
    ['a prototype that is an object', '{"__proto__": {"polluted": "yes"}}', { '__proto__.polluted': 'yes' }],
    ['lone surrogates', '{"a\\ud800b": "\\udfff", "c": "\\ud83d\\ude00"}', { 'a\ufffdb': '\ufffd', c: '😀' }],
    ['NUL characters', '{"a\\u0000b": "c\\u0000"}', { 'a\ufffdb': 'c\ufffd' }],
    ['a duplicate key', '{"a": "first", "a": "last"}', { a: 'last' }],
    ['keys that are equal when flattened', '{"a": {"b": 1}, "a.b": 2}', { 'a.b': '1' }],
    ['keys that are equal when cleaned', '{"a\\u0000": 1, "a\\ufffd": 2}', { 'a\ufffd': '1' }],
    ['an empty key', '{"": "e", "a": {"": 1}}', { '': 'e', 'a.': '1' }],
    [
      'huge numbers',
      '{"a": 1e308, "b": -1e308, "c": 1e400, "d": 1e-400, "e": 12345678901234567890}',
      { a: '1e+308', b: '-1e+308', c: '', d: '0', e: '12345678901234567000' },
    ],
    [
      'every kind of value',
      '{"n": null, "t": true, "f": false, "z": -0, "s": "", "o": {}, "l": []}',
      { n: '', t: 'true', f: 'false', z: '0', s: '' },
    ],
    [
      'quotes and line breaks',
      '{"a\'\\"b": "c\\n{\\"batch\\":1}\\n\\r\\u2028"}',
      { 'a\'"b': 'c\n{"batch":1}\n\r\u2028' },
    ],
  ])('with %s are stored as strings', async (_what, params, expected) => {
    const event = await storedOf(`{"events": [{"vendor": "V", "params": ${params}}]}`)
    expect(Object.entries(event.params)).toEqual(Object.entries(expected))
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
  })

  test('that are deeply nested are truncated at the key length limit', async () => {
    for (const [open, close] of [
      ['{"k":', '}'],
      ['[', ']'],
      ['{"":', '}'],
    ] as const) {
      const deep = `${open.repeat(20_000)}1${close.repeat(20_000)}`
      const event = await storedOf(`{"events": [{"vendor": "V", "params": {"shallow": 1, "deep": ${deep}}}]}`)
      expect({ ...event.params }).toEqual({ shallow: '1' })
    }
  })

  test.each([
    [500, 500],
    [501, 500],
    [5000, 500],
  ])('of which there are %d are limited to the first %d', async (count, kept) => {
    const params = Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, `v${n}`]))
    const event = await storedOf(JSON.stringify({ events: [{ vendor: 'V', params }] }))
    expect(Object.entries(event.params)).toEqual(Object.entries(params).slice(0, kept))
    const cut = fixture.stored().batches.at(-1).ledger
    expect(cut).toEqual(
      count > kept ? [{ reason: 'params: more than 500; the rest was dropped', count: 1, sample: 'V ' }] : [],
    )
  })

  test('are truncated to 200 characters per key and 4,000 per value, with an entry in the ledger', async () => {
    const params = { [text(200)]: text(4000), [`${text(200)}y`]: '1', long: `${text(4000)}y`, pair: `${text(3999)}😀` }
    const event = await storedOf(JSON.stringify({ events: [{ vendor: 'V', params }] }))
    expect({ ...event.params }).toEqual({ [text(200)]: text(4000), long: text(4000), pair: text(3999) })
    const noted = fixture
      .stored()
      .batches.at(-1)
      .ledger.map(({ reason }: { reason: string }) => reason)
    expect(noted).toEqual([
      'params: a key was longer than 200 characters and was truncated',
      'params: a key occurred more than once; only the first value was kept',
      'params: a value was longer than 4000 characters and was truncated',
    ])
  })

  test('never split a spool line, and are read back unchanged', async () => {
    const aText = fc.string({ unit: 'binary', maxLength: 30 })
    const clean = (value: string) => value.toWellFormed().replaceAll('\0', '\ufffd')
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(aText, aText), { selector: ([key]) => clean(key), maxLength: 8 }),
        async (pairs) => {
          const members = pairs.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
          const event = await storedOf(`{"events": [{"vendor": "V", "params": {${members.join(', ')}}}]}`)
          const expected = new Map(pairs.map(([key, value]) => [clean(key), clean(value)]))
          expect(new Map(Object.entries(event.params))).toEqual(expected)
        },
      ),
    )
  })
})

describe('hostile strings in other fields', () => {
  const nasty = 'a\0\ud800\n"\'{}'
  const cleaned = 'a\ufffd\ufffd\n"\'{}'

  test('are sanitized in every field', async () => {
    const event = await storedOf(
      JSON.stringify({
        batchId: `${nasty}${crypto.randomUUID()}`,
        sessionId: nasty,
        customerId: nasty,
        page: { url: `https://shop.example/${nasty}?${nasty}`, title: nasty },
        events: [{ id: nasty, vendor: nasty, event: nasty, account: nasty }],
      }),
    )
    const { id, vendor, event: name, account, sessionId, title } = event
    expect([id, vendor, name, account, sessionId, title]).toEqual(Array(6).fill(cleaned))
    expect(event.path).toBe("/a%00%EF%BF%BD%22'%7B%7D")
    const hit = await storedOf('{"hits": [{"url": "https://unknown.example/?a%00=b%00&c=%ED%A0%80"}]}')
    expect(Object.entries(hit.params).slice(1)).toEqual([
      ['a\ufffd', 'b\ufffd'],
      ['c', '%ED%A0%80'],
    ])
    const tag = await storedOf(
      JSON.stringify({ tags: [{ container: nasty, tagId: nasty, name: nasty, event: nasty }] }),
    )
    expect([tag.account, tag.event, tag.params.tagId, tag.params.name]).toEqual(Array(4).fill(cleaned))
  })

  test('are stored in the ledger as strings that a database can store', async () => {
    const { body } = await fixture.send({
      events: [
        { vendor: nasty, params: { [text(300)]: 1 } },
        { vendor: 'V', [nasty]: 1 },
      ],
    })
    expect(body.rejected).toBe(1)
    const { ledger } = fixture.stored().batches.at(-1)
    expect(ledger.length).toBe(2)
    for (const { reason, sample } of ledger) expect(`${reason}${sample}`).not.toMatch(/\0|[\ud800-\udfff]/)
  })

  test('of any kind get a response, and accepted items are stored', async () => {
    const anItem = fc.oneof(
      fc.jsonValue({ noUnicodeString: false }),
      fc.record({ vendor: fc.string(), event: fc.string({ unit: 'binary' }), params: fc.jsonValue() }),
      fc.record(
        { url: fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string()), body: fc.string() },
        { requiredKeys: ['url'] },
      ),
    )
    const items = fc.array(anItem, { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(items, items, items, async (events, hits, tags) => {
        const before = fixture.stored().events.length
        const { status, body } = await fixture.send({ events, hits, tags })
        expect(status).toBe(202)
        expect(body.accepted + body.rejected).toBe(events.length + hits.length + tags.length)
        expect(fixture.stored().events.length - before).toBeGreaterThanOrEqual(body.accepted)
      }),
    )
  })

  test('of any kind in place of a batch get a response', async () => {
    const statuses = new Set<number>()
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.uint8Array()), async (body) => {
        const { status } = await fixture.send(body)
        statuses.add(status)
      }),
    )
    expect([...statuses].filter((status) => status !== 202)).toEqual([400])
  })
})
