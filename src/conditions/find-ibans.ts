import type { Span } from './find-email-addresses.ts'

/**
 * Structure after the country code and check digits, by country: `18n` means 18 digits, `4a` 4 letters, and `12c` 12
 * letters or digits. From the IBAN registry,
 * https://www.swift.com/standards/data-standards/iban-international-bank-account-number
 */
const STRUCTURES = `AD:8n12c AE:19n AL:8n16c AT:16n AZ:4a20c BA:16n BE:12n BG:4a6n8c BH:4a14c BI:23n BR:23n1a1c BY:4c4n16c
  CH:5n12c CR:18n CY:8n16c CZ:20n DE:18n DJ:23n DK:14n DO:4c20n EE:16n EG:25n ES:20n FI:14n FK:2a12n FO:14n FR:10n11c2n
  GB:4a14n GE:2a16n GI:4a15c GL:14n GR:7n16c GT:4c20c HN:4a20n HR:17n HU:24n IE:4a14n IL:19n IQ:4a15n IS:22n IT:1a10n12c
  JO:4a4n18c KW:4a22c KZ:3n13c LB:4n20c LC:4a24c LI:5n12c LT:16n LU:3n13c LV:4a13c LY:21n MC:10n11c2n MD:2c18c ME:18n
  MK:3n10c2n MN:16n MR:23n MT:4a5n18c MU:4a19n3a NI:4a20n NL:4a10n NO:11n OM:3n16c PK:4a16c PL:24n PS:4a21c PT:21n
  QA:4a21c RO:4a16c RS:18n RU:14n15c SA:2n18c SC:4a20n3a SD:14n SE:20n SI:15n SK:20n SM:1a10n12c SO:19n ST:21n SV:4a20n
  TL:19n TN:20n TR:6n16c UA:6n19c VA:18n VG:4a16n XK:16n YE:4a4n18c`

const CLASSES: Readonly<Record<string, string>> = { n: '[0-9]', a: '[A-Z]', c: '[0-9A-Z]' }

const byCountry = new Map(
  STRUCTURES.split(/\s+/).map((entry) => {
    const [country = '', structure = ''] = entry.split(':')
    const parts = [...structure.matchAll(/(\d+)([nac])/g)].map(([, count, kind = '']) => ({
      count: Number(count),
      kind,
    }))
    const pattern = parts.map(({ count, kind }) => `${CLASSES[kind]}{${count}}`).join('')
    const length = parts.reduce((sum, { count }) => sum + count, 4)
    return [country, { length, pattern: new RegExp(`^[A-Z]{2}[0-9]{2}${pattern}$`) }] as const
  }),
)

/**
 * Verifies the checksum as in ISO 7064, mod 97-10. Letters have values from 10, and the first four characters are moved
 * to the end.
 */
function passesMod97(iban: string): boolean {
  let rest = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const START = /(?<![0-9A-Za-z])[A-Za-z]{2}[0-9]{2}/g
const GAP = /[ \u00a0\u2010-\u2015.+-]/

/**
 * Returns the end of `length` letters and digits from `start`, optionally in groups of four; null when there are fewer.
 */
function endOf(text: string, start: number, length: number): number | null {
  let at = start
  for (let read = 0; read < length; read++, at++) {
    if (read > 0 && read % 4 === 0 && GAP.test(text.charAt(at))) at++
    if (!/[0-9A-Za-z]/.test(text.charAt(at))) return null
  }
  return /[0-9A-Za-z]/.test(text.charAt(at)) ? null : at
}

/**
 * Returns the IBANs in the text, in order. An IBAN must have the length and structure used in its country and a valid
 * checksum. The text is not decoded first.
 */
export function findIbans(text: string): Span[] {
  if (text.length < 15) return []
  const found: Span[] = []
  for (const { 0: head, index } of text.matchAll(START)) {
    const country = byCountry.get(head.slice(0, 2).toUpperCase())
    const end = country ? endOf(text, index, country.length) : null
    if (!country || end === null) continue
    const iban = text
      .slice(index, end)
      .replaceAll(/[^0-9A-Za-z]/g, '')
      .toUpperCase()
    if (country.pattern.test(iban) && passesMod97(iban)) found.push({ start: index, end })
  }
  return found
}
