import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { secretBox, secretHash } from './secret-box.ts'

const box = secretBox(Buffer.alloc(32, 1))
const aText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'whsec_abc', '\0', 'é'.repeat(5000)))

describe('a secret box', () => {
  test('decrypts data that it has encrypted', () => {
    fc.assert(
      fc.property(aText, (text) => {
        expect(box.open(box.seal(text))).toBe(text)
      }),
    )
  })

  test('reveals neither the plaintext nor whether two plaintexts are equal', () => {
    const [one, two] = [box.seal('hunter2hunter2'), box.seal('hunter2hunter2')]
    expect(one.includes('hunter2')).toBe(false)
    expect(one.equals(two)).toBe(false)
  })

  test('sealEqually returns equal ciphertexts only for equal plaintexts', () => {
    fc.assert(
      fc.property(aText, aText, (one, other) => {
        const sealed = box.sealEqually(one)
        expect(box.open(sealed)).toBe(one)
        expect(sealed.equals(box.sealEqually(other))).toBe(one === other)
        expect(sealed.equals(secretBox(Buffer.alloc(32, 2)).sealEqually(one))).toBe(false)
      }),
    )
  })

  test('rejects ciphertext modified at any byte', () => {
    fc.assert(
      fc.property(aText, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, at, flip) => {
        const sealed = box.seal(text)
        const place = at % sealed.length
        sealed[place] = (sealed[place] ?? 0) ^ flip
        expect(() => box.open(sealed)).toThrow()
      }),
    )
  })

  test('rejects ciphertext that was truncated or extended', () => {
    for (const text of ['', 'a', 'a longer secret']) {
      const sealed = box.seal(text)
      for (let length = 0; length < sealed.length; length++) {
        expect(() => box.open(sealed.subarray(0, length))).toThrow()
      }
      expect(() => box.open(Buffer.concat([sealed, Buffer.alloc(1)]))).toThrow()
    }
  })

  test('rejects ciphertext encrypted with another key', () => {
    expect(() => secretBox(Buffer.alloc(32, 2)).open(box.seal('secret'))).toThrow()
  })
})

test('secretHash returns the SHA-256 of a secret', () => {
  // The example in FIPS 180-2, appendix B.1.
  expect(secretHash('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
