import { type PhoneRegions, phoneRegions } from './phone.ts'

/** An organization's own pattern in RE2 syntax. Its matches are personal data of the kind `name`. */
export interface CustomPattern {
  name: string
  pattern: string
}

/** Personal data of an organization in addition to e-mail addresses, international phone numbers, cards and IBANs. */
export interface Privacy {
  /** Countries whose national phone numbers are recognised. */
  regions: PhoneRegions
  patterns: readonly CustomPattern[]
}

/** Privacy of an organization without settings. */
export const PLAIN_PRIVACY: Privacy = { regions: [], patterns: [] }

/** Returns the privacy of an organization from its stored settings. */
export function privacyFrom(settings: {
  phoneRegions: readonly string[]
  piiPatterns: readonly CustomPattern[]
}): Privacy {
  return { regions: phoneRegions(settings.phoneRegions), patterns: settings.piiPatterns }
}
