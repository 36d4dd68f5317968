import type { AnyTest, Binder } from '../warehouse/query.ts'
import { MAY_HOLD_ADDRESS_PATTERN } from './find-base64-runs.ts'
import { isPhoneKey } from './find-phone-numbers.ts'
import { compilePattern } from './pattern.ts'
import type { Privacy } from './privacy-settings.ts'

/*
 * SQL that selects candidates for personal data: everything that `personalIn` finds, and only a little more. RE2
 * supports neither lookbehind nor checksums, so each candidate must be confirmed separately.
 */

const GAP = String.raw`[ \x{a0}\x{2010}-\x{2015}().+/-]`
const START = '(?:^|[^0-9A-Za-z])'
const INTERNATIONAL = String.raw`(?:\+${GAP}{0,2}|(?:^|[^0-9A-Za-z_+.-])00${GAP}?)[0-9](?:${GAP}{0,3}[0-9]){6}`
const CARD = `${START}(?:(?:[3-6][0-9]|2[1-7]|06|18|8[12]|97)[0-9]{10,17}(?:$|[^0-9A-Za-z])|[0-9]{4}${GAP}(?:[0-9]{4}${GAP}[0-9]{4}|[0-9]{6})${GAP}[0-9]|[0-9]{6}${GAP}[0-9]{13})`
const COUNTRIES =
  'A[DELTZ]|B[AEGHIRY]|C[HRYZ]|D[EJKO]|E[EGS]|F[IKOR]|G[BEILRT]|H[NRU]|I[ELQST]|JO|K[WZ]|L[BCITUVY]|M[CDEKNRTU]|' +
  'N[ILO]|OM|P[KLST]|QA|R[OSU]|S[ACDEIKMOTV]|T[LNR]|UA|V[AG]|XK|YE'
const IBAN = `${START}(?i:${COUNTRIES})[0-9]{2}(?:${GAP}?[0-9A-Za-z]){11}`
/** Matches personal data that does not require decoding. */
const PLAIN = `@|${INTERNATIONAL}|${CARD}|${IBAN}|${MAY_HOLD_ADDRESS_PATTERN}`
const ENCODED = '%[0-7][0-9A-Fa-f]'
/** JSON escapes such as line breaks. The letter of the escape and the text after it look like one word. */
const ESCAPED = String.raw`\\[bfnrtu]`
const DIGITS = String.raw`^\s*[0-9]{7,15}\s*$`
const PHONE_KEY = '(?i)phone|mobile|msisdn|whatsapp|(?:^|[._-])(?:ph|tel|telefon|fax|cell)(?:$|[._-])'
/** Matches a number without separators in JSON under a key named after phone numbers. */
const PHONE_ENTRY = String.raw`(?i:phone|mobile|msisdn|whatsapp|["._-](?:ph|tel|telefon|fax|cell)["._-])[^:]*:"?\s*[0-9]{7,15}\s*[",}]`
const NATIONAL = String.raw`(?:^|[^0-9A-Za-z_+.,/-])\(?[0-9](?:${GAP}{0,3}[0-9]){6}`
const DECIMAL = String.raw`^[0-9]+(?:\.[0-9]+)?$`

/** An organization with its own privacy settings. */
export interface OrgPrivacy {
  orgId: string
  privacy: Privacy
}

/** SQL tests. In them, `{value}` represents a string that may be NULL. */
export interface CandidateTests {
  /** Tests whether any parameter of an event may contain personal data. Cheap. */
  any: AnyTest
  /** Tests whether a field may contain personal data. Cheap. */
  field(text: string): string
  /**
   * Tests whether the event belongs to an organization with its own settings. All events of such an organization are
   * candidates.
   */
  own: string
  /** Tests whether the value of a key may contain personal data. */
  entry(key: string, value: string): string
}

/** Returns the tests for the given binder. `any.column` is `mayBePersonal`. */
export function personalCandidates(binder: Binder, owns: readonly OrgPrivacy[]): CandidateTests {
  const { dialect } = binder
  const bound = (pattern: string) => binder.bind(`(${pattern})`)
  const near = bound(`${PLAIN}|${ENCODED}|${ESCAPED}|${PHONE_ENTRY}`)
  const digits = bound(DIGITS)
  // Bound on first use, because every bound value must occur in the statement and not every statement uses these tests.
  let entries: { plain: string; phoneKey: string } | undefined
  let backslash: string | undefined
  const org = owns.map(({ orgId }) => binder.bind(orgId))
  const own = owns.map((one, index) => ownTests(binder, one, org[index] ?? ''))
  const decoded = (value: string, test: (text: string) => string) => {
    const once = dialect.percentDecode(value)
    const twice = dialect.percentDecode(once)
    backslash ??= binder.bind('\\u00')
    const isEncoded = `${dialect.contains(value, "'%'")} OR ${dialect.contains(value, backslash)}`
    return `(${test(value)} OR CASE WHEN ${isEncoded} THEN ${test(once)} OR ${test(twice)} ELSE false END)`
  }
  return {
    any: {
      column: 'mayBePersonal',
      of: (key) =>
        key === null || isPhoneKey(key)
          ? `(${dialect.matches('{value}', near)} OR ${dialect.matches('{value}', digits)})`
          : dialect.matches('{value}', near),
      text: dialect.matches('{value}', near),
    },
    field: (value) => `coalesce(${dialect.matches(value, near)}, false)`,
    own: org.length > 0 ? `orgId IN (${org.join(', ')})` : '(1 = 0)',
    entry(key, value) {
      entries ??= { plain: bound(PLAIN), phoneKey: bound(PHONE_KEY) }
      const { plain, phoneKey } = entries
      const isPlain = decoded(value, (form) => dialect.matches(form, plain))
      const isPhone = `(${dialect.matches(key, phoneKey)} AND ${dialect.matches(value, digits)})`
      return `(${[isPlain, isPhone, dialect.matches(key, plain), ...own.map((test) => test(value, decoded))].join(' OR ')})`
    },
  }
}

type Decoded = (value: string, test: (text: string) => string) => string

/** Returns the additional tests that this organization's settings require. */
function ownTests(binder: Binder, { privacy }: OrgPrivacy, org: string): (value: string, decoded: Decoded) => string {
  const { dialect } = binder
  const matching = (pattern: string) => {
    const bound = binder.bind(pattern)
    return (text: string) => dialect.matches(text, bound)
  }
  const tests = privacy.patterns.map(({ pattern }) => matching(compilePattern(pattern).portable))
  if (privacy.regions.length > 0) {
    const [isNational, isDecimal] = [matching(`(${NATIONAL})`), matching(`(${DECIMAL})`)]
    tests.push((text) => `(${isNational(text)} AND NOT ${isDecimal(text)})`)
  }
  return (value, decoded) =>
    `CASE WHEN orgId = ${org} THEN ${tests.map((test) => decoded(value, test)).join(' OR ')} ELSE false END`
}
