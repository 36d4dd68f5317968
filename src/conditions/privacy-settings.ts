import { type PhoneRegions, phoneRegions } from './find-phone-numbers.ts'

/** An organization's custom pattern, in RE2 syntax. Matches are personal data of the kind `name`. */
export interface CustomPattern {
  name: string
  pattern: string
}

/**
 * Personal data that an organization recognises in addition to e-mail addresses, international phone numbers, card
 * numbers and IBANs.
 */
export interface Privacy {
  /** Countries whose national phone numbers are recognised. */
  regions: PhoneRegions
  patterns: readonly CustomPattern[]
}

/** Privacy settings of an organization that has not configured any. */
export const PLAIN_PRIVACY: Privacy = { regions: [], patterns: [] }

/** Returns the privacy settings of an organization from its stored settings. */
export function privacyFrom(settings: {
  phoneRegions: readonly string[]
  piiPatterns: readonly CustomPattern[]
}): Privacy {
  return { regions: phoneRegions(settings.phoneRegions), patterns: settings.piiPatterns }
}
