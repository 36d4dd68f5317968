import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TEST_START } from '../../test/fixtures.ts'
import { newId, newSecret } from './id.ts'

/** https://www.crockford.com/base32.html: excludes I, L, O and U. */
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'
const anInstant = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('IDs sort as strings by their creation time in milliseconds', () => {
  fc.assert(
    fc.property(fc.array(anInstant, { minLength: 2, maxLength: 20 }), (instants) => {
      const byTime = [...new Set(instants)].sort((a, b) => a - b).map((at) => newId('iss', at))
      expect(byTime.toSorted()).toEqual(byTime)
    }),
  )
})

test('an ID is a prefix and 26 characters, the first ten of which encode the time', () => {
  fc.assert(
    fc.property(anInstant, (at) => {
      const id = newId('dom', at)
      expect(id).toMatch(/^dom_[0-9a-hjkmnp-tv-z]{26}$/)
      const time = [...id.slice(4, 14)].reduce((sum, digit) => sum * 32 + CROCKFORD.indexOf(digit), 0)
      expect(time).toBe(at)
    }),
  )
})

test('no two IDs are equal, even in the same millisecond', () => {
  const ids = Array.from({ length: 20_000 }, () => newId('alr', TEST_START))
  expect(new Set(ids).size).toBe(ids.length)
})

test('a secret has 256 bits, in characters that need no escaping in a URL or header', () => {
  const secrets = (['ak', 'pt', 'st'] as const).flatMap((prefix) =>
    Array.from({ length: 500 }, () => {
      const secret = newSecret(prefix)
      expect(secret).toMatch(new RegExp(`^${prefix}_[A-Za-z0-9_-]{43}$`))
      return secret
    }),
  )
  expect(new Set(secrets).size).toBe(secrets.length)
})
