import { type PhoneRegions, phoneRegions } from './phone.ts'

/** A pattern of an organization's own (RE2): what it matches is personal, a finding of the kind `name`. */
export interface OwnPattern {
  name: string
  pattern: string
}

/** What an organization takes for personal data beside e-mail addresses, international phone numbers, cards and IBANs. */
export interface Privacy {
  /** Countries whose national phone numbers are recognised. */
  regions: PhoneRegions
  patterns: readonly OwnPattern[]
}

/** That of an organization without settings. */
export const PLAIN_PRIVACY: Privacy = { regions: [], patterns: [] }

/** Returns the settings of an organization in the form in which they are used. */
export function privacyFrom(settings: {
  phoneRegions: readonly string[]
  piiPatterns: readonly OwnPattern[]
}): Privacy {
  return { regions: phoneRegions(settings.phoneRegions), patterns: settings.piiPatterns }
}
