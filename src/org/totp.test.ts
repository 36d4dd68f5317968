import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  newRecoveryCodes,
  newTotpSecret,
  normalizedCode,
  STEP_MS,
  stepAt,
  stepOfCode,
  totpCode,
  totpUri,
} from './totp.ts'

/** The secret `12345678901234567890` of RFC 6238, appendix B, in base 32. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('TOTP codes', () => {
  // The last six of the eight digits in RFC 6238, appendix B.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('match RFC 6238 at %d s', (seconds, code) => {
    expect(totpCode(RFC_SECRET, stepAt(seconds * 1000))).toBe(code)
  })

  test('are accepted in their own step, the one before and the one after', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10 * STEP_MS, max: 4e12 }), fc.integer({ min: -5, max: 5 }), (now, distance) => {
        const secret = newTotpSecret()
        const code = totpCode(secret, stepAt(now) + distance)
        // Distant steps have the same code with a probability of three in a million.
        const others = [-1, 0, 1].map((near) => totpCode(secret, stepAt(now) + near))
        fc.pre(Math.abs(distance) <= 1 || !others.includes(code))
        expect(stepOfCode(secret, code, now) !== null).toBe(Math.abs(distance) <= 1)
      }),
      {
        examples: [
          [20 * STEP_MS, -1],
          [20 * STEP_MS - 1, 1],
        ],
      },
    )
  })

  test.each(['', '12345', '1234567', 'abcdef', '１２３４５６'])('do not include %j', (code) => {
    expect(stepOfCode(RFC_SECRET, code, 59_000)).toBeNull()
  })
})

test('secrets are 32 different characters of base 32, as authenticator apps expect', () => {
  const secrets = Array.from({ length: 100 }, newTotpSecret)
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(new Set(secrets).size).toBe(100)
})

test('the URI names the account and the parameters', () => {
  expect(totpUri('ABC', 'a+b@example.com')).toBe(
    'otpauth://totp/Tagwarden:a%2Bb%40example.com?secret=ABC&issuer=Tagwarden&algorithm=SHA1&digits=6&period=30',
  )
})

test('recovery codes are long, different, and may be typed without hyphens, with spaces and in capitals', () => {
  const codes = newRecoveryCodes()
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/)
  expect(normalizedCode(' 3K8V m2xq-0W7C9hnd ')).toBe('3k8vm2xq0w7c9hnd')
})
