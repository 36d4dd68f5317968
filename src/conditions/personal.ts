import { findCardForms } from './card.ts'
import { containsEmail } from './email.ts'
import { findIbans } from './iban.ts'
import { compilePattern } from './pattern.ts'
import { decodings } from './percent.ts'
import { containsPhone, isIdentifierKey, isPhoneKey } from './phone.ts'
import type { Privacy } from './privacy.ts'

/** Kinds of personal data that are found without being asked for; the others are an organization's own patterns. */
export const PERSONAL_KINDS = ['email', 'phone', 'card', 'iban'] as const
export type PersonalKind = (typeof PERSONAL_KINDS)[number]

/** A kind of which a value has the form. */
export interface PersonalForm {
  /** One of `PERSONAL_KINDS`, or the name of an own pattern. */
  kind: string
  /**
   * False: it has the form only, which numbers of another meaning have by chance. Under a key of which less than half of
   * those forms are the real thing, the others are chance, too.
   */
  isReal: boolean
}

/** A number that is written like an international one by its first digits alone, as numbers with leading zeros are. */
const BARE_INTERNATIONAL = /^\s*00[1-9][0-9]{5,14}\s*$/

/**
 * Returns the kinds of personal data in a value of the parameter `key` (a field: with `$`), or in its percent-decoded forms
 * of up to two rounds; most values have none. It finds what `contains_email` and `contains_phone` find, and what
 * `maskPersonal` masks.
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
