import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { toBase32 } from '../core/base32.ts'
import { type Instant, SECOND_MS } from '../core/clock.ts'

/*
 * Time-based one-time passwords (RFC 6238) with the parameters that all authenticator apps support: HMAC-SHA-1, six
 * digits, 30 s.
 */

export const STEP_MS = 30 * SECOND_MS
const DIGITS = 6
/** Number of steps before and after the current one whose codes are accepted, for clocks that differ. */
const TOLERANCE = 1
/** Length of a secret, as recommended by RFC 4226 section 4. */
const SECRET_BYTES = 20

/** The alphabet of RFC 4648, which authenticator apps expect. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns a random secret in base 32 (RFC 4648), 32 characters. */
export function newTotpSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('')
}

function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Returns the number of the 30-second step at a point in time. */
export const stepAt = (at: Instant): number => Math.floor(at / STEP_MS)

/** Returns the six digits of a step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** Returns the step whose code this is; null when it is the code of no step that is accepted now. */
export function stepOfCode(secret: string, code: string, now: Instant): number | null {
  const given = Buffer.from(code)
  let found: number | null = null
  for (let step = stepAt(now) - TOLERANCE; step <= stepAt(now) + TOLERANCE; step++) {
    const expected = Buffer.from(totpCode(secret, step))
    if (given.length === expected.length && timingSafeEqual(given, expected)) found = step
  }
  return found
}

/** Returns the URI that authenticator apps read from a QR code (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
export function totpUri(secret: string, email: string): string {
  const query = new URLSearchParams({ secret, issuer: 'Tagwarden', algorithm: 'SHA1', digits: '6', period: '30' })
  return `otpauth://totp/Tagwarden:${encodeURIComponent(email)}?${query}`
}

/** Number of recovery codes of a user. */
const RECOVERY_CODES = 10

/** Returns random recovery codes such as `3k8v-m2xq-0w7c-9hnd`, with 80 bits each. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const digits = toBase32(BigInt(`0x${randomBytes(10).toString('hex')}`), 16)
    return (digits.match(/.{4}/g) ?? []).join('-')
  })
}

/** Returns the code without the spaces and hyphens that people type or omit. */
export const normalizedCode = (code: string): string => code.toLowerCase().replaceAll(/[\s-]/g, '')
