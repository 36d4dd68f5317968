import { describe, expect, test } from 'bun:test'
import { deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { readBody } from '../decoders/request-body.ts'
import { requestsOfHar } from './har-requests.ts'

const OWN = 'https://shop.example/api'
const GA4 = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&cid=1.2'

interface Sent {
  url?: string
  method?: string
  postData?: object | null
  bodySize?: unknown
  headers?: Record<string, string>
}

/** Returns the decoded body of a request, or the reason why it is missing. */
function bodyOf({ url = OWN, method = 'POST', headers = {}, ...sent }: Sent): string | null {
  const pairs = Object.entries(headers).map(([name, value]) => ({ name, value }))
  const [request] = requestsOfHar({ log: { entries: [{ request: { url, method, headers: pairs, ...sent } }] } }) ?? []
  if (request?.hit.missingBody) return `missing: ${request.hit.missingBody.reason}`
  return readBody(request?.hit ?? {}).text
}

const MISSING = 'missing: missing from the recording'
const NAMELESS = `${MISSING}, and the URL does not name an event`
const DAMAGED = 'missing: damaged, because binary data was recorded as text'
const text = (value: string, more = {}) => ({ mimeType: 'text/plain', text: value, ...more })

describe('a body that may be missing', () => {
  test.each<[string, Sent, string | null]>([
    ['postData is absent', { bodySize: 82 }, `${MISSING} (82 bytes were sent)`],
    ['the text is empty', { bodySize: 82, postData: text('') }, `${MISSING} (82 bytes were sent)`],
    ['only the header contains the size', { headers: { 'Content-Length': '82' } }, `${MISSING} (82 bytes were sent)`],
    [
      'the recorder missed the body',
      { bodySize: 0, headers: { 'content-length': '82' } },
      `${MISSING} (82 bytes were sent)`,
    ],
    ['its size is unknown', { bodySize: -1, postData: text('') }, MISSING],
    ['its size and type are unknown', { bodySize: -1, postData: { mimeType: '', text: '' } }, null],
    ['nothing was sent', { bodySize: 0, postData: text('') }, null],
    [
      'nothing was sent, according to the header',
      { bodySize: -1, postData: text(''), headers: { 'Content-Length': '0' } },
      null,
    ],
    ['nothing is known', {}, null],
    ['the size is not a number', { bodySize: '82' }, null],
    ['a GET has a size', { method: 'GET', bodySize: 82 }, null],
    ['a preflight has a type', { method: 'options', postData: text('') }, null],
    [
      'the recorder reports that the body is truncated',
      { postData: text('en=scroll', { comment: 'Truncated to 9 bytes' }) },
      'missing: only a part was recorded',
    ],
    [
      'the body is truncated',
      { bodySize: 82, postData: text('en=scroll') },
      'missing: only 9 of 82 bytes were recorded',
    ],
    ['the URL does not name an event and the size is 0', { url: GA4, bodySize: 0 }, NAMELESS],
    ['the URL does not name an event and nothing else is known', { url: GA4 }, NAMELESS],
    ['the URL names an event', { url: `${GA4}&en=scroll`, bodySize: 0 }, null],
    ['the URL of a GET does not name an event', { url: GA4, method: 'GET' }, null],
    [
      'the attachment is missing',
      { postData: text('', { _file: 'a.dat' }) },
      'missing: stored in the attachment "a.dat", which is not part of the HAR',
    ],
    ['the attachment is missing, but the text is not', { postData: text('en=a', { _file: 'a.dat' }) }, 'en=a'],
  ])('is reported or returned as expected when %s', (_, sent, expected) => {
    expect(bodyOf(sent)).toBe(expected)
  })

  test('never becomes an event without a name', () => {
    const postData = fc.record(
      {
        mimeType: fc.constantFrom('text/plain', '', null, 'application/x-www-form-urlencoded'),
        text: fc.constantFrom('', null, 5),
        params: fc.constantFrom([], null, [{}], [{ name: '', value: '' }]),
        _file: fc.constantFrom('', 'a.dat', 5),
        encoding: fc.constantFrom('base64', ''),
      },
      { requiredKeys: [] },
    )
    const sent = fc.record(
      { postData: fc.option(postData), bodySize: fc.constantFrom(-1, 0, 82, null, '0') },
      { requiredKeys: [] },
    )
    fc.assert(fc.property(sent, (one) => expect(bodyOf({ url: GA4, ...one })).toStartWith('missing: ')))
  })
})

describe('a recorded body', () => {
  const JSON_BODY = JSON.stringify({ event: 'Köln', list: ['a', 1] })
  test.each<[string, Sent, string]>([
    ['whose line endings were changed', { bodySize: 10, postData: text('en=a\nen=b') }, 'en=a\nen=b'],
    ['that is a form stored decoded', { bodySize: 14, postData: text('dl=https://a') }, 'dl=https://a'],
    ['that is JSON with a wrong size', { bodySize: 9000, postData: text(JSON_BODY) }, JSON_BODY],
    ['that was compressed', { bodySize: 90, postData: text('en=a'), headers: { 'content-encoding': 'gzip' } }, 'en=a'],
    ['with its file omitted', { bodySize: 9000, postData: text('--b\r\n\r\n') }, '--b\r\n\r\n'],
    ['in unmarked base64', { postData: text(btoa('en=scroll\r\nen=a')) }, 'en=scroll\r\nen=a'],
    ['that was sent in base64', { bodySize: 8, postData: text(btoa('en=a')) }, btoa('en=a')],
    ['with a single word', { postData: text('abcdefgh') }, 'abcdefgh'],
    ['marked as base64', { postData: text(btoa('a\0b'), { encoding: 'BASE64' }) }, 'a\0b'],
    ['in characters', { bodySize: 1, postData: text('é') }, 'é'],
  ])('%s is returned completely', (_, sent, expected) => {
    expect(bodyOf(sent)).toBe(expected)
  })

  const packed = [
    ['gzip', (body: string) => gzipSync(body)],
    ['zlib', (body: string) => deflateSync(body)],
  ] as const
  /** Escapes each byte that is not UTF-8, like Python's `surrogateescape`. */
  const escaped = (bytes: Buffer) =>
    [...bytes].map((byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join('')

  test.each(packed)('compressed with %s is unpacked, regardless of how the recorder stored the bytes', (name, pack) => {
    const body = fc.string({ unit: 'binary', minLength: 1 }).filter((one) => one.isWellFormed())
    fc.assert(
      fc.property(body, (one) => {
        const bytes = pack(one)
        const size = { bodySize: bytes.length }
        const base64 = bytes.toString('base64')
        const expected = new TextDecoder().decode(Buffer.from(one))
        expect(bodyOf({ postData: text(base64, { encoding: 'base64' }) })).toBe(expected)
        expect(bodyOf({ ...size, postData: text(base64) })).toBe(expected)
        expect(bodyOf({ ...size, postData: text(bytes.toString('latin1')) })).toBe(expected)
        if (name === 'gzip') expect(bodyOf({ postData: text(escaped(bytes)) })).toBe(expected)
      }),
    )
  })

  test.each(packed)('compressed with %s that was decoded as UTF-8 is reported as damaged', (_, pack) => {
    const shown = new TextDecoder().decode(pack(`en=scroll${'&ep.a=b'.repeat(20)}`))
    expect(bodyOf({ postData: text(shown) })).toBe(DAMAGED)
    expect(bodyOf({ postData: text(shown), headers: { 'content-encoding': 'gzip' } })).toBe(DAMAGED)
  })

  test('that was replaced by binary data is reported when the URL does not name an event', () => {
    const inPlace = 'missing: recorded as unreadable binary data, and the URL does not name an event'
    const bytes = Buffer.from([8, 1, 0x12, 3, 0x61, 0x62, 0x63, 0])
    expect(bodyOf({ url: GA4, postData: text(bytes.toString('latin1')) })).toBe(inPlace)
    expect(bodyOf({ url: GA4, postData: text(bytes.toString('base64'), { encoding: 'base64' }) })).toBe(inPlace)
    expect(bodyOf({ url: `${GA4}&en=a`, postData: text(bytes.toString('latin1')) })).toBe(bytes.toString('latin1'))
    expect(bodyOf({ postData: text(bytes.toString('latin1')) })).toBe(bytes.toString('latin1'))
  })

  test('of binary data that was decoded as UTF-8 is reported as damaged', () => {
    expect(bodyOf({ postData: text('\n\u0003abc\u0012\ufffd\u0001') })).toBe(DAMAGED)
    expect(bodyOf({ postData: text('en=\ufffd') })).toBe('en=\ufffd')
  })
})

describe('recorded form parameters', () => {
  const bodyOfParams = (params: unknown, mimeType = 'application/x-www-form-urlencoded') =>
    bodyOf({ postData: { mimeType, text: '', params } })

  test('are converted to the submitted form, whether they are encoded or not', () => {
    const pairs = fc.array(fc.tuple(fc.webFragments(), fc.string()), { minLength: 1 })
    fc.assert(
      fc.property(pairs, (sent) => {
        // Adds a URL, which shows whether a list is encoded when a percent sign is ambiguous.
        const named = [['dl', 'https://shop.example/'], ...sent.map(([name, value]) => [`k[${name}]`, value])] as [
          string,
          string,
        ][]
        const decoded = named.map(([name, value]) => ({ name, value }))
        const encoded = named.map(([name, value]) => ({
          name: encodeURIComponent(name),
          value: encodeURIComponent(value),
        }))
        const expected = [...new URLSearchParams(named)]
        expect([...new URLSearchParams(bodyOfParams(decoded) ?? '')]).toEqual(expected)
        expect([...new URLSearchParams(bodyOfParams(encoded) ?? '')]).toEqual(expected)
      }),
    )
  })

  test.each<[unknown, string]>([
    [[{ name: 'a%', value: '100%' }], 'a%25=100%25'],
    [
      [
        { name: 'cd[value]', value: '5' },
        { name: 'dl', value: 'https%3A%2F%2Fa' },
      ],
      'cd[value]=5&dl=https%3A%2F%2Fa',
    ],
    [[{ name: 'dl', value: 'https://a/?q=%20' }], 'dl=https%3A%2F%2Fa%2F%3Fq%3D%2520'],
    [[{ name: 'q%5B%5D', value: 'Blue+Shirt' }], 'q%5B%5D=Blue+Shirt'],
    [[{ name: 'q', value: 'Blue+Shirt' }], 'q=Blue%2BShirt'],
    [
      [
        { name: 'a', value: '1%202' },
        { name: 'b', value: 'x y' },
      ],
      'a=1%25202&b=x+y',
    ],
    [[{ name: '{"a":"b', value: '"}' }], '{"a":"b="}'],
    [[{ name: '{"a":"b"}' }], '{"a":"b"}'],
    [[{ name: '[{"a":"b' }, { name: 'c', value: '"}]' }], '[{"a":"b&c="}]'],
  ])('are converted as expected: %j', (params, expected) => {
    expect(bodyOfParams(params)).toBe(expected)
  })
})
