import { randomBytes } from 'node:crypto'
import { toBase32 } from './base32.ts'
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
  | 'mnt'
  | 'cal'
  | 'ocr'
  | 'cmt'
  | 'bkp'
  | 'col'
  | 'gat'
  | 'vie'

/**
 * Returns `<prefix>_` followed by 26 characters, which encode 48 bits of time and 80 random bits. Ids sort by creation
 * time in milliseconds.
 */
export function newId(prefix: IdPrefix, at: Instant): string {
  const random = BigInt(`0x${randomBytes(10).toString('hex')}`)
  return `${prefix}_${toBase32(BigInt(at), 10)}${toBase32(random, 16)}`
}

/**
 * Returns a prefix followed by a secret with 256 random bits: API key `ak_`, property token `pt_`, session `st_`,
 * invitation `in_`, set-up link `su_`, password reset link `rs_`, collector `ct_`.
 */
export function newSecret(prefix: 'ak' | 'pt' | 'st' | 'in' | 'su' | 'rs' | 'ct'): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`
}
