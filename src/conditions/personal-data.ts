import { findCardForms } from './find-card-numbers.ts'
import { containsEmail } from './find-email-addresses.ts'
import { findIbans } from './find-ibans.ts'
import { containsPhone, isIdentifierKey, isPhoneKey } from './find-phone-numbers.ts'
import { compilePattern } from './pattern.ts'
import { decodings } from './percent-encoding.ts'
import type { Privacy } from './privacy-settings.ts'

/** Built-in kinds of personal data. Organizations can add kinds with custom patterns. */
export const PERSONAL_KINDS = ['email', 'phone', 'card', 'iban'] as const

/** A kind of personal data that was detected in a value. */
export interface PersonalForm {
  /** One of `PERSONAL_KINDS`, or the name of a custom pattern. */
  kind: string
  /**
   * False when the value only looks like this kind, such as digits in card format with a wrong check digit. When less
   * than half of the values under a key are real, the real ones are considered coincidences, too.
   */
  isReal: boolean
}

/** Matches a number that looks international only because it has leading zeros. */
const BARE_INTERNATIONAL = /^\s*00[1-9][0-9]{5,14}\s*$/

/**
 * Returns the kinds of personal data in a value of the parameter `key` (for fields, with a `$` prefix), including after
 * one or two rounds of percent-decoding. Usually empty. It finds everything that `contains_email` and `contains_phone`
 * detect and that `maskPersonal` masks.
 */
export function personalIn(key: string, text: string, privacy: Privacy): PersonalForm[] {
  const found: PersonalForm[] = []
  const texts = decodings(text)
  if (containsEmail(text)) found.push({ kind: 'email', isReal: true })
  const isPhone = containsPhone(key, text, privacy.regions)
  if (isPhone || isPhoneForm(key, text)) found.push({ kind: 'phone', isReal: isPhone })
  const cards = texts.flatMap(findCardForms)
  if (cards.length > 0) found.push({ kind: 'card', isReal: cards.some(({ isCard }) => isCard) })
  if (texts.some((one) => findIbans(one).length > 0)) found.push({ kind: 'iban', isReal: true })
  for (const { name, pattern } of privacy.patterns) {
    const { matches } = compilePattern(pattern)
    if (texts.some(matches)) found.push({ kind: name, isReal: true })
  }
  return found
}

const isPhoneForm = (key: string, text: string) =>
  BARE_INTERNATIONAL.test(text) && !isPhoneKey(key) && !isIdentifierKey(key)
