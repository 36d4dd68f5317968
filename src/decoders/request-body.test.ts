import { expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { type CapturedBody, MAX_BODY_BYTES, readBody } from './request-body.ts'

const text = '{"event":"Größe 😀"}'
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64')
const large = Buffer.alloc(MAX_BODY_BYTES + 1, 'a')

const readable: [name: string, captured: CapturedBody, text: string | null][] = [
  ['a missing body', {}, null],
  ['an empty body', { body: '' }, null],
  ['null', { body: null, bodyBase64: null, contentEncoding: null }, null],
  ['text', { body: text }, text],
  ['text that the recorder decompressed', { body: text, contentEncoding: 'gzip' }, text],
  ['base64', { bodyBase64: base64(text) }, text],
  ['URL-safe base64', { bodyBase64: Buffer.from('~~~???').toString('base64url') }, '~~~???'],
  ['base64 with line breaks', { bodyBase64: base64(text).replace(/.{8}/g, '$&\r\n') }, text],
  ['gzip', { bodyBase64: base64(gzipSync(text)), contentEncoding: 'gzip' }, text],
  ['gzip without a content encoding', { bodyBase64: base64(gzipSync(text)) }, text],
  ['text that is gzip data in Base64', { body: base64(gzipSync(text)) }, text],
  ['decompressed bytes with a content encoding', { bodyBase64: base64(text), contentEncoding: 'gzip' }, text],
  ['deflate', { bodyBase64: base64(deflateSync(text)), contentEncoding: 'Deflate ' }, text],
  ['deflate without a content encoding', { bodyBase64: base64(deflateSync(text)) }, text],
  ['text that begins like deflate', { bodyBase64: base64('x^2') }, 'x^2'],
  ['deflate without a zlib header', { bodyBase64: base64(deflateRawSync(text)), contentEncoding: 'deflate' }, text],
  ['brotli', { bodyBase64: base64(brotliCompressSync(text)), contentEncoding: 'br' }, text],
  ['invalid UTF-8', { bodyBase64: base64(new Uint8Array([0x61, 0xff, 0x62])) }, 'a\ufffdb'],
  [
    'a body of exactly the maximum size',
    { bodyBase64: base64(gzipSync(large.subarray(1))) },
    large.subarray(1).toString(),
  ],
]

test.each(readable)('readBody reads %s', (_name, captured, expected) => {
  expect(readBody(captured)).toEqual({ text: expected, error: null })
})

const TOO_LARGE = 'it is larger than 1 MiB'
const DAMAGED = 'its compressed data is damaged'

const refused: [name: string, captured: CapturedBody, error: string][] = [
  ['text that exceeds the limit', { body: large.toString() }, TOO_LARGE],
  ['bytes that exceed the limit', { bodyBase64: base64(large) }, TOO_LARGE],
  ['a gzip bomb', { bodyBase64: base64(gzipSync(Buffer.alloc(30_000_000))) }, TOO_LARGE],
  ['a deflate bomb', { bodyBase64: base64(deflateSync(large)), contentEncoding: 'deflate' }, TOO_LARGE],
  ['invalid Base64', { bodyBase64: 'ä=' }, 'bodyBase64 is not valid Base64'],
  ['truncated gzip', { bodyBase64: base64(gzipSync(text).subarray(0, 20)) }, DAMAGED],
  ['data in another format', { bodyBase64: base64('abc'), contentEncoding: 'br' }, DAMAGED],
  [
    'an unknown encoding',
    { bodyBase64: base64(text), contentEncoding: 'aes128gcm' },
    'its content encoding is not supported',
  ],
  [
    'an encoding with the name of an object property',
    { bodyBase64: base64(text), contentEncoding: 'constructor' },
    'its content encoding is not supported',
  ],
]

test.each(refused)('readBody rejects %s', (_name, captured, error) => {
  expect(readBody(captured)).toEqual({ text: null, error })
})

test('a long body of spaces is rejected immediately', () => {
  const startedAt = performance.now()
  expect(readBody({ bodyBase64: `${' '.repeat(MAX_BODY_BYTES)}!` }).error).toBe('bodyBase64 is not valid Base64')
  expect(performance.now() - startedAt).toBeLessThan(200)
})

test('readBody never throws', () => {
  const encodings = fc.constantFrom(undefined, 'gzip', 'deflate', 'br', 'zstd', '')
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      encodings,
      fc.constantFrom('', '\x1f\x8b\x08'),
      (bytes, contentEncoding, start) => {
        const bodyBase64 = base64(Buffer.concat([Buffer.from(start, 'latin1'), bytes]))
        const { text, error } = readBody({ bodyBase64, contentEncoding })
        expect(text === null || error === null).toBe(true)
      },
    ),
  )
})
