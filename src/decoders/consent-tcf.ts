import { BitReader } from './bit-reader.ts'
import type { Params } from './params.ts'

/** Converts tenths of a second since the epoch to a UTC date, `2024-05-20`; empty for an invalid time. */
function dayOf(deciseconds: number): string {
  const at = new Date(deciseconds * 100)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 10)
}

/**
 * TCF version for each policy version. A string with policy version 5 that discloses vendors follows TCF 2.3 instead.
 * https://github.com/InteractiveAdvertisingBureau/GDPR-Transparency-and-Consent-Framework/issues/423
 */
const FRAMEWORKS: Readonly<Record<number, string>> = { 2: 'TCF 2.0', 4: 'TCF 2.2', 5: 'TCF 2.2' }
const FIRST_POLICY_OF_2_3 = 5
/** TCF 2.3 strings created since this date must disclose vendors. https://developers.verve.com/docs/iab-tcf-23 */
const DISCLOSURE_REQUIRED_SINCE = '2026-03-01'
const DISCLOSED_VENDORS = 1

/**
 * Converts an IAB TCF consent string of version 2 to readable parameters: `consent.tcf.framework = "TCF 2.2"`,
 * `consent.tcf.policy_version = "4"`, `consent.tcf.purposes = "1,3,4"`, `consent.tcf.disclosed_vendors = "3 vendors"`.
 * `consent.tcf.version` is the version of the string format, which is always 2. The framework is omitted for unknown
 * policy versions. Null when the text is not a TC string, has an older version, or has a truncated core.
 * https://github.com/InteractiveAdvertisingBureau/GDPR-Transparency-and-Consent-Framework/blob/master/TCFv2/IAB%20Tech%20Lab%20-%20Consent%20string%20and%20vendor%20list%20formats%20v2.md
 */
export function readTcString(text: string): Params | null {
  const [core = '', ...segments] = text.split('.', MAX_SEGMENTS)
  // Strings of version 2 always begin with this letter.
  const bits = core.startsWith('C') ? BitReader.of(core) : null
  if (!bits) return null
  const version = bits.take(6)
  const createdOn = dayOf(bits.take(36))
  const updatedOn = dayOf(bits.take(36))
  const cmp = bits.take(12)
  // Skips the CMP version, consent screen, consent language and vendor list version.
  bits.advance(12 + 6 + 12 + 12)
  const policy = bits.take(6)
  // Skips two flags: whether the string is service-specific, and whether it uses custom texts.
  bits.advance(1 + 1)
  const specialFeatures = bits.takePlaces(12)
  const purposes = bits.takePlaces(24)
  const legitimateInterests = bits.takePlaces(24)
  // Skips the flag for the disclosure of purpose 1, and the publisher's country.
  bits.advance(1 + 12)
  const vendors = countVendors(bits)
  if (vendors === null) return null
  const disclosed = disclosedVendors(segments)
  const framework = policy === FIRST_POLICY_OF_2_3 && disclosed !== null ? 'TCF 2.3' : FRAMEWORKS[policy]
  const isInvalid = disclosed === null && policy >= FIRST_POLICY_OF_2_3 && createdOn >= DISCLOSURE_REQUIRED_SINCE
  return {
    'consent.tcf.version': String(version),
    ...(framework === undefined ? {} : { 'consent.tcf.framework': framework }),
    'consent.tcf.policy_version': String(policy),
    'consent.tcf.cmp': String(cmp),
    'consent.tcf.created': createdOn,
    'consent.tcf.updated': updatedOn,
    'consent.tcf.purposes': purposes.join(),
    'consent.tcf.legitimate_interests': legitimateInterests.join(),
    'consent.tcf.special_features': specialFeatures.join(),
    'consent.tcf.vendors': String(vendors),
    'consent.tcf.disclosed_vendors':
      disclosed ?? (isInvalid ? `missing: invalid since ${DISCLOSURE_REQUIRED_SINCE}` : 'none'),
  }
}

/**
 * Maximum number of segments: the core, disclosed vendors, allowed vendors (before TCF 2.3) and publisher purposes. All
 * except the core may be in any order.
 */
const MAX_SEGMENTS = 4

/** Returns the number of vendors listed in the segment of disclosed vendors; null if there is no such segment. */
function disclosedVendors(segments: readonly string[]): string | null {
  for (const segment of segments) {
    const bits = BitReader.of(segment)
    if (bits?.take(3) !== DISCLOSED_VENDORS) continue
    const count = countVendors(bits)
    return count === null ? 'unreadable' : `${count} ${count === 1 ? 'vendor' : 'vendors'}`
  }
  return null
}

/**
 * Returns the number of vendors in the list, which has one bit per vendor or ranges of ids. Null when the list is
 * truncated.
 */
function countVendors(bits: BitReader): number | null {
  const highest = bits.take(16)
  if (bits.take(1) === 0) return bits.left < highest ? null : bits.takePlaces(highest).length
  const ranges = bits.take(12)
  let count = 0
  for (let range = 0; range < ranges && !bits.isShort; range++) {
    const isOne = bits.take(1) === 0
    const from = bits.take(16)
    count += isOne ? 1 : Math.max(0, bits.take(16) - from + 1)
  }
  return bits.isShort ? null : Math.min(count, highest)
}
