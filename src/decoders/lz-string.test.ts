import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decompressFromBase64 } from './lz-string.ts'

// Created with version 1.5.0 of the library itself.
test.each([
  ['', 'Q==='],
  ['aaaaaaaaaaaaaaaaaaaaaaaa', 'IY18aQ=='],
  ['grüß – 日本', 'OYJwPw+wBIyARYp6aBpzIA=='],
  ['grüß – 日本', 'OYJwPw wBIyARYp6aBpzIA=='],
  ['{"type":"page","id":"ACC-1"}', 'N4IgLgngDgpiBcIoEMDmcA0ICWATBIAggMLEC0AjCAL5A==='],
])('%j is decompressed', (text, compressed) => {
  expect(decompressFromBase64(compressed)).toBe(text)
})

test.each(['', '====', 'N4Ig', '{"type":"page"}', '/////'])('%j is rejected as compressed data', (text) => {
  expect(decompressFromBase64(text)).toBeNull()
})

test('decompression of any input has a bounded result', () => {
  fc.assert(
    fc.property(fc.base64String({ maxLength: 400 }), (text) => {
      expect((decompressFromBase64(text) ?? '').length).toBeLessThan(100_000)
    }),
  )
})
