import type { Span } from './find-email-addresses.ts'

/**
 * Issuer ranges: the first digits `[from, to]` and the valid lengths, as published by card schemes:
 * https://en.wikipedia.org/wiki/Payment_card_number#Issuer_identification_number_(IIN)
 */
const ISSUERS: readonly (readonly [from: string, to: string, lengths: string])[] = [
  ['4', '4', '13 16 19'], // Visa
  ['51', '55', '16'], // Mastercard
  ['2221', '2720', '16'],
  ['34', '34', '15'], // American Express
  ['37', '37', '15'],
  ['300', '305', '14 16 17 18 19'], // Diners Club
  ['3095', '3095', '14 16 17 18 19'],
  ['36', '36', '14 15 16 17 18 19'],
  ['38', '39', '14 16 17 18 19'],
  ['6011', '6011', '16 17 18 19'], // Discover
  ['644', '659', '16 17 18 19'],
  ['62', '62', '16 17 18 19'], // UnionPay
  ['81', '82', '16 17 18 19'], // UnionPay, RuPay
  ['35', '35', '16 17 18 19'], // JCB
  ['2131', '2131', '15'],
  ['1800', '1800', '15'],
  ['2200', '2204', '16 17 18 19'], // Mir
  ['5018', '5020', '12 13 14 15 16 17 18 19'], // Maestro, Dankort
  ['5038', '5038', '12 13 14 15 16 17 18 19'],
  ['56', '58', '12 16 18 19'],
  ['0604', '0604', '12 16 18 19'],
  ['6304', '6304', '12 13 14 15 16 17 18 19'],
  ['6390', '6390', '12 13 14 15 16 17 18 19'],
  ['6759', '6763', '12 13 14 15 16 17 18 19'],
  ['6799', '6799', '16 19'],
  ['6331', '6334', '16 18 19'], // Solo
  ['6767', '6767', '16 18 19'],
  ['6370', '6370', '16'], // Hiper
  ['606282', '606282', '16'], // Hipercard
  ['504175', '504175', '16'], // Elo
  ['506699', '506778', '16'],
  ['509000', '509999', '16'],
  ['636297', '636368', '16'],
  ['506099', '506198', '16 17 18 19'], // Verve
  ['508500', '508999', '16'], // RuPay
  ['607', '607', '16'],
  ['9792', '9792', '16'], // Troy
]

const LENGTHS = new Map(
  ISSUERS.map(([from, to, lengths]) => [`${from} ${to}`, new Set(lengths.split(' ').map(Number))]),
)

function isIssued(digits: string): boolean {
  return ISSUERS.some(([from, to]) => {
    const prefix = digits.slice(0, from.length)
    return prefix >= from && prefix <= to && LENGTHS.get(`${from} ${to}`)?.has(digits.length)
  })
}

/** Verifies the check digit as in ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48
    sum += at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

const GAP = String.raw`[ \u00a0\u2010-\u2015.+-]`
/** Matches digits without separators, or in the groups printed on cards with the same separator throughout. */
const CANDIDATE = new RegExp(
  String.raw`(?<![0-9A-Za-z])(?<![0-9][.,])(?:[0-9]{12,19}|[0-9]{4}(?<gap>${GAP})(?:[0-9]{4}\k<gap>[0-9]{4}(?:\k<gap>[0-9]{1,4}){1,2}|[0-9]{6}\k<gap>[0-9]{4,5})|[0-9]{6}${GAP}[0-9]{13})(?![0-9A-Za-z]|[.,][0-9])`,
  'g',
)
/** Matches a UUID. Its groups of digits may look like a card number. */
const UUID = /[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}/g

/**
 * Part of a text with the form of a card number: it starts with the digits of an issuer and has one of the issuer's
 * lengths.
 */
export interface CardForm extends Span {
  /** True when the check digit is also correct, so the part is a card number. */
  isCard: boolean
}

/** Matches a text with at least 12 digits, the length of the shortest card number. */
const TWELVE_DIGITS = /(?:[0-9][^0-9]?){12}/

/** Returns the parts of the text that have the form of a card number, in order. The text is not decoded first. */
export function findCardForms(text: string): CardForm[] {
  if (!TWELVE_DIGITS.test(text)) return []
  // UUIDs are replaced with letters of the same length, which preserves positions. No card number starts or ends inside
  // a UUID.
  const searched = text.replaceAll(UUID, (id) => 'x'.repeat(id.length))
  return [...searched.matchAll(CANDIDATE)].flatMap(({ 0: written, index }) => {
    const digits = written.replaceAll(/[^0-9]/g, '')
    return isIssued(digits) ? [{ start: index, end: index + written.length, isCard: passesLuhn(digits) }] : []
  })
}

/** Returns the card numbers in the text, in order. The text is not decoded first. */
export function findCards(text: string): Span[] {
  return findCardForms(text).filter(({ isCard }) => isCard)
}
