import type { CountryCode } from 'libphonenumber-js/max'
import { phoneNumbers } from '../core/phone-numbers.ts'
import type { Span } from './email.ts'
import { decodings } from './percent.ts'

/** ISO 3166 codes of the countries whose national notation is recognised; empty: international notation only. */
export type PhoneRegions = readonly CountryCode[]

/** Returns the supported codes of an organization's settings: `['de', 'US', '??']` → `['DE', 'US']`. */
export function phoneRegions(codes: readonly string[]): CountryCode[] {
  return codes.map((code) => code.toUpperCase()).filter((code) => phoneNumbers().isSupportedCountry(code))
}

/**
 * Keys whose values are identifiers, times or random numbers of vendors, in lower case. Most numbers that look like a
 * phone number by chance have one of these keys.
 */
const IDENTIFIER_KEYS: ReadonlySet<string> = new Set(
  `_p _s _ss _gid _ga _fbp _fbc auid cb cid client_id clientid correlationid dclid eid epik event_id eventid
  fbclid fbp fbc gac gclid gclsrc gcs gdid gid gtm guid hid jid measurement_id mid msclkid nonce oid pid
  pixel_id pixelid pvid rand random rdt_cid req_id request_id rid rnd scid sct session_id sessionid sid sts
  tfd tid timestamp trace_id traceid ts ttclid ttp uuid vid visit_id visitor_id visitorid wbraid z
  zx`.split(/\s+/),
)

/** Keys that name phone numbers: under these, digits alone are recognised. */
const PHONE_KEY = /phone|mobile|msisdn|whatsapp|(?:^|[._-])(?:ph|tel|telefon|fax|cell)(?:$|[._-])/i

/** Returns the vendor's own key, without the path that flattening prepended: `user.ids.gid` → `gid`. */
const lastName = (key: string) => key.slice(key.lastIndexOf('.') + 1)

/** Returns whether a key is known to hold identifiers, so that its values are never phone numbers. */
export const isIdentifierKey = (key: string) => IDENTIFIER_KEYS.has(lastName(key).toLowerCase())

/** Returns whether a key is named after phone numbers. */
export const isPhoneKey = (key: string) => PHONE_KEY.test(key)

const GAP = String.raw`[ \u00a0\u2010-\u2015().\/-]`
/** `+` or `00`, then 7 to 15 digits with at most 3 separators between two of them. */
const INTERNATIONAL = new RegExp(
  String.raw`(?<![\w+.-])(?:\+|00(?=${GAP}?[1-9]))${GAP}{0,2}[0-9](?:${GAP}{0,3}[0-9]){6,17}(?![0-9])`,
  'g',
)
const NATIONAL = new RegExp(String.raw`(?<![\w+.,/-])\(?[0-9](?:${GAP}{0,3}[0-9]){6,14}(?![\w@]|[.,/-]\w)`, 'g')
const DIGITS = /^\s*[0-9]{7,15}\s*$/
const gaps = new RegExp(GAP, 'g')
/** Dates, IP addresses and decimal fractions use the same separators. */
const NO_PHONE =
  /^\(?(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,3}(?:\.\d{1,3}){3}|\d+\.\d+)(?!\d)/

function isInternational(written: string): boolean {
  // The library handles the `(0)` of `+46 (0)8 …`, which is dialled only inside the country.
  const plain = written.replaceAll(gaps, '')
  return phoneNumbers().parsePhoneNumberFromString(plain.replace(/^00/, '+'))?.isValid() ?? false
}

/** Returns the length of the longest prefix that is a number: other text may follow a gap (`+1 415 555 0132 2024`). */
function lengthOfInternational(written: string): number {
  for (let end = written.length; end >= 8; ) {
    const candidate = written.slice(0, end)
    if (isInternational(candidate)) return end
    const digits = candidate.search(/[0-9]+$/)
    end = candidate.slice(0, digits).search(/[0-9][^0-9]*$/) + 1
  }
  return 0
}

function isNational(written: string, regions: PhoneRegions): boolean {
  return regions.some((region) => phoneNumbers().parsePhoneNumberFromString(written, region)?.isValid() ?? false)
}

/** Returns whether a text has at least 7 digits, the length of the shortest phone number. */
function hasDigits(text: string): boolean {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 48 && unit <= 57 && ++count === 7) return true
  }
  return false
}

/**
 * Returns the phone numbers in the text, in order; the text is not decoded. Numbers begin with `+` or `00` and are valid
 * in their country according to https://github.com/google/libphonenumber with full metadata; `00` within other text
 * requires separators. Regions add national notation with separators, and a key named after phone numbers adds plain
 * digits. Keys of identifiers never hold phone numbers.
 */
export function findPhones(key: string, text: string, regions: PhoneRegions): Span[] {
  if (!hasDigits(text) || isIdentifierKey(key)) return []
  if (isPhoneKey(key) && DIGITS.test(text)) {
    const digits = text.trim()
    if (isInternational(`+${digits}`) || isNational(digits, regions)) return [{ start: 0, end: text.length }]
  }
  const found: Span[] = []
  for (const { 0: written, index } of text.matchAll(INTERNATIONAL)) {
    const length = lengthOfInternational(written)
    const bare = !written.startsWith('+') && !/[^0-9]/.test(written) && written.length < text.trim().length
    if (length > 0 && !bare && !/\w/.test(text.charAt(index + length)))
      found.push({ start: index, end: index + length })
  }
  if (regions.length === 0) return found
  for (const { 0: written, index } of text.matchAll(NATIONAL)) {
    const span = { start: index, end: index + written.length }
    if (!/[^0-9]/.test(written) || NO_PHONE.test(written)) continue
    if (found.some((other) => other.start < span.end && span.start < other.end)) continue
    if (isNational(written, regions)) found.push(span)
  }
  return found.sort((a, b) => a.start - b.start)
}

/** Returns whether the text or its percent-decoded forms of up to two rounds contain a phone number. */
export function containsPhone(key: string, text: string, regions: PhoneRegions): boolean {
  if (!hasDigits(text) || isIdentifierKey(key)) return false
  return decodings(text).some((decoded) => findPhones(key, decoded, regions).length > 0)
}
