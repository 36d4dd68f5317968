import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { sha256 } from './sha256.ts'

test('SHA-256 hashes match those of other implementations', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 50, maxLength: 300 }))
  fc.assert(
    fc.property(text, (text) => {
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'))
    }),
  )
})
