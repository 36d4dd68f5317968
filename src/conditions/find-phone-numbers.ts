import type { CountryCode } from 'libphonenumber-js/max'
import { loadPhoneLibrary } from '../core/load-phone-library.ts'
import type { Span } from './find-email-addresses.ts'
import { decodings } from './percent-encoding.ts'

/**
 * ISO 3166 codes of the countries whose national notation is recognised. When empty, only international notation is.
 */
export type PhoneRegions = readonly CountryCode[]

/** Returns the supported country codes from an organization's settings: `['de', 'US', '??']` → `['DE', 'US']`. */
export function phoneRegions(codes: readonly string[]): CountryCode[] {
  return codes.map((code) => code.toUpperCase()).filter((code) => loadPhoneLibrary().isSupportedCountry(code))
}

/**
 * Lower-case keys whose values are identifiers, times or random numbers set by vendors. Most numbers that look like a
 * phone number by chance have one of these keys.
 */
const IDENTIFIER_KEYS: ReadonlySet<string> = new Set(
  `_p _s _ss _gid _ga _fbp _fbc auid cb cid client_id clientid correlationid dclid eid epik event_id eventid
  fbclid fbp fbc gac gclid gclsrc gcs gdid gid gtm guid hid jid measurement_id mid msclkid nonce oid pid
  pixel_id pixelid pvid rand random rdt_cid req_id request_id rid rnd scid sct session_id sessionid sid sts
  tfd tid timestamp trace_id traceid ts ttclid ttp uuid vid visit_id visitor_id visitorid wbraid z
  zx`.split(/\s+/),
)

/** Matches keys named after phone numbers. Under these keys, numbers without separators are also recognised. */
const PHONE_KEY = /phone|mobile|msisdn|whatsapp|(?:^|[._-])(?:ph|tel|telefon|fax|cell)(?:$|[._-])/i

/** Returns the vendor's own name for the key, without the path added by flattening: `user.ids.gid` → `gid`. */
const lastName = (key: string) => key.slice(key.lastIndexOf('.') + 1)

/** Returns whether the key is known to contain identifiers. Its values are never considered phone numbers. */
export const isIdentifierKey = (key: string) => IDENTIFIER_KEYS.has(lastName(key).toLowerCase())

/** Returns whether a key is named after phone numbers. */
export const isPhoneKey = (key: string) => PHONE_KEY.test(key)

const GAP = String.raw`[ \u00a0\u2010-\u2015().\/-]`
/** Matches `+` or `00` followed by 7 to 15 digits, with at most 3 separators between two digits. */
const INTERNATIONAL = new RegExp(
  String.raw`(?<![\w+.-])(?:\+|00(?=${GAP}?[1-9]))${GAP}{0,2}[0-9](?:${GAP}{0,3}[0-9]){6,17}(?![0-9])`,
  'g',
)
const NATIONAL = new RegExp(String.raw`(?<![\w+.,/-])\(?[0-9](?:${GAP}{0,3}[0-9]){6,14}(?![\w@]|[.,/-]\w)`, 'g')
const DIGITS = /^\s*[0-9]{7,15}\s*$/
const gaps = new RegExp(GAP, 'g')
/** Matches dates, IP addresses and decimal numbers, which have the same separators as phone numbers. */
const NO_PHONE =
  /^\(?(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,3}(?:\.\d{1,3}){3}|\d+\.\d+)(?!\d)/

function isInternational(written: string): boolean {
  // The library handles the `(0)` in `+46 (0)8 …`, which is only dialled within the country.
  const plain = written.replaceAll(gaps, '')
  return loadPhoneLibrary().parsePhoneNumberFromString(plain.replace(/^00/, '+'))?.isValid() ?? false
}

/**
 * Returns the length of the longest prefix that is a phone number; 0 when there is none. Other text may follow after a
 * separator (`+1 415 555 0132 2024`).
 */
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
  return regions.some((region) => loadPhoneLibrary().parsePhoneNumberFromString(written, region)?.isValid() ?? false)
}

/** Returns whether a text has at least 7 digits, which is the length of the shortest phone number. */
function hasDigits(text: string): boolean {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 48 && unit <= 57 && ++count === 7) return true
  }
  return false
}

/**
 * Returns the phone numbers in the text, in order. The text is not decoded first. Numbers must begin with `+` or `00`
 * and be valid in their country according to https://github.com/google/libphonenumber with full metadata. `00` within
 * other text requires separators. With `regions`, national notation is also recognised: with separators under any key,
 * and without separators under keys named after phone numbers. Keys of identifiers never contain phone numbers.
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

/** Returns whether the text contains a phone number, including after one or two rounds of percent-decoding. */
export function containsPhone(key: string, text: string, regions: PhoneRegions): boolean {
  if (!hasDigits(text) || isIdentifierKey(key)) return false
  return decodings(text).some((decoded) => findPhones(key, decoded, regions).length > 0)
}
