import { describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { type Encoding, encodingFor, fileResponse, staticFile } from './static-files.ts'

const TEXT = 'the same again and again, '.repeat(50)
const file = staticFile('text/plain; charset=utf-8', TEXT)

describe('the chosen encoding', () => {
  test.each<[string | null, Encoding | null]>([
    [null, null],
    ['', null],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br ; q=0.5 , gzip ; q=0.4', 'br'],
    ['gzip;q=0, br;q=0', null],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', null],
    ['gzip;q=0.1, *;q=0', 'gzip'],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0', null],
    ['deflate', null],
    ['br;q=2, gzip;q=0.2', 'gzip'],
    ['br;q=high', null],
    ['broken', null],
    [';;,,q=1', null],
  ])('for %p is %p', (accepted, encoding) => {
    expect(encodingFor(accepted, file)).toBe(encoding)
  })

  test('is one of those available for the file', () => {
    const gzipped = staticFile('text/plain', TEXT, { encodings: ['gzip'] })
    expect(encodingFor('br', gzipped)).toBeNull()
    expect(encodingFor('br, gzip;q=0.5', gzipped)).toBe('gzip')
  })

  test('decodes to the file for any `accept-encoding`', () => {
    const some = fc.constantFrom('br', 'gzip', 'identity', '*', 'q=', ';', ',', '0', '1', '0.5', ' ', 'zstd')
    fc.assert(
      fc.property(fc.array(some, { maxLength: 20 }), (parts) => {
        const encoding = encodingFor(parts.join(''), file)
        const bytes = encoding ? file.packed[encoding] : file.body
        const plain = encoding === 'br' ? brotliDecompressSync : encoding === 'gzip' ? gunzipSync : Buffer.from
        expect(Buffer.from(plain(bytes as Buffer)).toString()).toBe(TEXT)
      }),
    )
  })
})

test('files that would not become smaller are not compressed', () => {
  expect(staticFile('text/plain', 'a').packed).toEqual({})
  expect(staticFile('image/png', 'a'.repeat(1000)).packed).toEqual({})
  expect(Object.keys(staticFile('image/svg+xml', 'a'.repeat(1000)).packed)).toEqual(['br', 'gzip'])
})

test('higher compression effort makes files smaller, with the same content', () => {
  const text = Array.from({ length: 5000 }, (_, n) => `line ${(n * 7919) % 1009}`).join('\n')
  const [fast, best] = [staticFile('text/plain', text), staticFile('text/plain', text, { effort: 'best' })]
  expect(best.packed.br?.length ?? 0).toBeLessThan(fast.packed.br?.length ?? 0)
  expect(best.hash).toBe(fast.hash)
  expect(brotliDecompressSync(best.packed.br ?? '').toString()).toBe(text)
})

test('a client that has cached the file in another encoding receives it in an accepted encoding', async () => {
  const ask = (headers: Record<string, string>) =>
    fileResponse(new Request('http://localhost/', { headers }), file, { 'cache-control': 'no-cache' })
  const etag = ask({ 'accept-encoding': 'br' }).headers.get('etag') ?? ''
  expect(ask({ 'accept-encoding': 'br', 'if-none-match': etag }).status).toBe(304)
  expect(ask({ 'accept-encoding': 'gzip', 'if-none-match': etag }).status).toBe(200)
})
