import { randomBytes } from 'node:crypto'
import type { Instant } from './clock.ts'

export type IdPrefix =
  | 'org'
  | 'usr'
  | 'dom'
  | 'alr'
  | 'iss'
  | 'int'
  | 'key'
  | 'lbl'
  | 'chg'
  | 'tst'
  | 'ver'
  | 'run'
  | 'shr'
  | 'dlv'
  | 'prj'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Crockford base 32, most significant digit first, `length` digits. */
function base32(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text
  return text
}

/**
 * Returns `<prefix>_` and 26 characters: 48 bits of time, 80 random ones. Ids sort by the millisecond they were made
 * in.
 */
export function newId(prefix: IdPrefix, at: Instant): string {
  const chance = BigInt(`0x${randomBytes(10).toString('hex')}`)
  return `${prefix}_${base32(BigInt(at), 10)}${base32(chance, 16)}`
}

/**
 * Returns a secret of 256 random bits after its prefix: API key `ak_`, property token `pt_`, session `st_`, invitation
 * `in_`, set-up link `su_`, link to a new password `rs_`.
 */
export function newSecret(prefix: 'ak' | 'pt' | 'st' | 'in' | 'su' | 'rs'): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`
}
