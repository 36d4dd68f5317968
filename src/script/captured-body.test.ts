import { describe, expect, test } from 'bun:test'
import { deflateSync, gzipSync } from 'node:zlib'
import { encodeBody, snapshotOf, snapshotOfRequest } from './captured-body.ts'

const LIMIT = 64 * 1024

async function read(body: unknown) {
  const snapshot = snapshotOf(body)
  return typeof snapshot === 'function' ? snapshot() : snapshot
}

describe('a body snapshot', () => {
  const form = new FormData()
  form.append('en', 'purchase')
  form.append('file', new File(['secret'], 'letter.txt'))
  const bytes = new TextEncoder().encode('text')

  test.each<[string, unknown, string | Uint8Array | null]>([
    ['text', 'text', 'text'],
    ['an empty string', '', ''],
    ['URL search parameters', new URLSearchParams('a=1&b=%20'), 'a=1&b=+'],
    ['a form, with only the field names of its files', form, 'en=purchase&file='],
    ['a blob', new Blob(['text']), bytes],
    ['a buffer', bytes.buffer.slice(0), bytes],
    ['part of a buffer', new TextEncoder().encode('a text b').subarray(2, 6), bytes],
    ['a buffer of 16-bit words', new Uint16Array(bytes.buffer.slice(0)), bytes],
    ['nothing', undefined, null],
    ['null', null, null],
    ['a stream', new Response('text').body, null],
    ['a string that is too long', 'x'.repeat(LIMIT + 1), null],
    ['a blob that is too long', new Blob(['x'.repeat(LIMIT + 1)]), null],
    ['too many bytes', new Uint8Array(LIMIT + 1), null],
    ['an object of another type', { toString: () => 'text' }, null],
  ])('%s', async (_what, body, expected) => {
    expect(await read(body)).toEqual(expected)
  })

  test('does not change when the page later changes the body', () => {
    const fields = new URLSearchParams('a=1')
    const buffer = new Uint8Array([1, 2])
    const taken = [snapshotOf(fields), snapshotOf(buffer)]
    fields.set('a', '2')
    buffer.fill(9)
    expect(taken).toEqual(['a=1', new Uint8Array([1, 2])])
  })

  test('does not consume a stream', async () => {
    const stream = new Response('text').body
    snapshotOf(stream)
    expect(await new Response(stream).text()).toBe('text')
  })
})

describe('a request', () => {
  const request = (body: BodyInit | null, method = 'POST') => new Request('https://a.example/', { method, body })
  const of = async (given: Request) => {
    const snapshot = snapshotOfRequest(given)
    return typeof snapshot === 'function' ? snapshot() : snapshot
  }

  test('remains usable by the page after its body is captured', async () => {
    const given = request('text')
    expect(await of(given)).toEqual(new TextEncoder().encode('text'))
    expect([given.bodyUsed, await given.text()]).toEqual([false, 'text'])
  })

  test('with a form has its fields as the captured body', async () => {
    const form = new FormData()
    form.append('en', 'purchase')
    expect(await of(request(form))).toBe('en=purchase')
  })

  test('whose body is missing, has already been read or is too long has no captured body', async () => {
    const used = request('text')
    await used.text()
    expect([await of(request(null)), await of(request(null, 'GET')), await of(used)]).toEqual([null, null, null])
    expect(await of(request('x'.repeat(LIMIT + 1)))).toBeNull()
  })
})

describe('the encoded body', () => {
  const packed = gzipSync('text')
  const deflated = deflateSync('text')

  test.each<[string, string | Uint8Array, object]>([
    ['text', 'text', { body: 'text' }],
    ['an empty string', '', {}],
    ['UTF-8 bytes', new TextEncoder().encode('é'), { body: 'é' }],
    ['no bytes', new Uint8Array(), {}],
    ['gzip', packed, { bodyBase64: packed.toString('base64') }],
    ['deflate', deflated, { bodyBase64: deflated.toString('base64') }],
    ['other bytes', new Uint8Array([0xff, 0]), { bodyBase64: '/wA=' }],
    ['many bytes', new Uint8Array(50_000).fill(0xff), { bodyBase64: Buffer.alloc(50_000, 0xff).toString('base64') }],
  ])('%s', (_what, content, expected) => {
    expect(encodeBody(content)).toEqual(expected)
  })
})
