/** Kinds of personal data that are found without being asked for; the others are an organization's own patterns. */
export const PERSONAL_KINDS = ['email', 'phone', 'card', 'iban'] as const
export type PersonalKind = (typeof PERSONAL_KINDS)[number]
