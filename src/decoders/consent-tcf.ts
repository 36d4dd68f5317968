import { Bits } from './bits.ts'
import type { Params } from './params.ts'

/** A day of the year in UTC, `2024-05-20`, from tenths of a second since the epoch; empty when it is no time. */
function dayOf(deciseconds: number): string {
  const at = new Date(deciseconds * 100)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 10)
}

/**
 * The core of an IAB TCF consent string of version 2, in words: `consent.tcf.purposes = "1,3,4"`. Null when the text is
 * anything else, an older version, or cut off.
 * https://github.com/InteractiveAdvertisingBureau/GDPR-Transparency-and-Consent-Framework/blob/master/TCFv2/IAB%20Tech%20Lab%20-%20Consent%20string%20and%20vendor%20list%20formats%20v2.md
 */
export function readTcString(text: string): Params | null {
  // Version 2 always begins with this letter.
  const bits = text.startsWith('C') ? Bits.of(text.split('.', 1)[0] ?? '') : null
  if (!bits) return null
  const version = bits.take(6)
  const createdOn = dayOf(bits.take(36))
  const updatedOn = dayOf(bits.take(36))
  const cmp = bits.take(12)
  // Version of the CMP, its screen, language and vendor list.
  bits.advance(12 + 6 + 12 + 12)
  const policy = bits.take(6)
  // Whether it is for this service only, with texts of its own.
  bits.advance(1 + 1)
  const specialFeatures = bits.takePlaces(12)
  const purposes = bits.takePlaces(24)
  const legitimateInterests = bits.takePlaces(24)
  // Whether purpose 1 was disclosed; the publisher's country.
  bits.advance(1 + 12)
  const vendors = countVendors(bits)
  if (bits.isShort) return null
  return {
    'consent.tcf.version': `${version}.${policy}`,
    'consent.tcf.cmp': String(cmp),
    'consent.tcf.created': createdOn,
    'consent.tcf.updated': updatedOn,
    'consent.tcf.purposes': purposes.join(),
    'consent.tcf.legitimate_interests': legitimateInterests.join(),
    'consent.tcf.special_features': specialFeatures.join(),
    'consent.tcf.vendors': String(vendors),
  }
}

/** How many vendors have consent: a bit for each, or ranges of their ids. */
function countVendors(bits: Bits): number {
  const highest = bits.take(16)
  if (bits.take(1) === 0) return bits.takePlaces(highest).length
  const ranges = bits.take(12)
  let count = 0
  for (let range = 0; range < ranges && !bits.isShort; range++) {
    const isOne = bits.take(1) === 0
    const from = bits.take(16)
    count += isOne ? 1 : Math.max(0, bits.take(16) - from + 1)
  }
  return Math.min(count, highest)
}
