import type { AlertInput } from '../alerts/alert.ts'
import { dataValidation } from '../alerts/types/data-validation/data-validation.ts'
import type { Condition } from '../conditions/condition.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { cutText } from '../core/text.ts'
import { type ConsentKind, type Finding, isConsentKind, kindInWords } from './compliance-finding.ts'

const MAX_NAME_LENGTH = 200
const MAX_PARAMETER_LENGTH = 200
/**
 * Patterns that only check the format, because a regular expression can't verify a checksum. They are used for keys
 * that are known to contain such values.
 */
const FORMS = new Map([
  ['card', `(?:^|[^0-9A-Za-z])[2-6](?:[ .+-]?[0-9]){11,18}(?:$|[^0-9A-Za-z])`],
  ['iban', `(?:^|[^0-9A-Za-z])[A-Za-z]{2}[0-9]{2}(?:[ .+-]?[0-9A-Za-z]){11,30}(?:$|[^0-9A-Za-z])`],
])

/**
 * Conditions that detect a kind of consent finding in a single event. For kinds without conditions, the alert never
 * fires.
 */
const CONSENT_CONDITIONS: Readonly<Record<ConsentKind, readonly Condition[]>> = {
  no_signal: [
    { parameter: 'gcs', op: 'is_blank' },
    { parameter: 'gcd', op: 'is_blank' },
  ],
  not_set: [{ parameter: 'gcd', op: 'regex', values: ['^[0-9]*(?:l[0-9]*)+$'] }],
  no_default: [{ parameter: 'gcd', op: 'regex', values: ['[mn]'] }],
  granted_by_default: [{ parameter: 'gcd', op: 'regex', values: ['[tv]'] }],
  after_denial: [{ parameter: '$vendor', op: 'is_blank' }],
  update_rate: [{ parameter: '$vendor', op: 'is_blank' }],
}

const EVENT_KEYS: readonly string[] = ['$title', '$path', '$event', '$account', '$sessionId']
const isMasked = (name: string) => name.includes('***')

/**
 * Returns the key as written in conditions. Returns `*` for a masked or truncated key, because the original key is
 * unknown.
 */
function parameterOf(key: string): string {
  if (isMasked(key)) return '*'
  const parameter = key.startsWith('$') && !key.startsWith('$$') && !EVENT_KEYS.includes(key) ? `$${key}` : key
  return parameter.length > MAX_PARAMETER_LENGTH ? '*' : parameter
}

function conditionOf({ key, kind }: Pick<Finding, 'key' | 'kind'>, { patterns }: Privacy): Condition {
  const parameter = parameterOf(key)
  if (kind === 'email') return { parameter, op: 'contains_email' }
  if (kind === 'phone') return { parameter, op: 'contains_phone' }
  const pattern = FORMS.get(kind) ?? patterns.find(({ name }) => name === kind)?.pattern
  // A pattern that has been removed from the settings matches nothing.
  return pattern === undefined
    ? { parameter: '$vendor', op: 'is_blank' }
    : { parameter, op: 'custom_pii_regex', values: [pattern] }
}

/** Returns a short description of the findings, such as `an e-mail address or a phone number in ep.user`. */
export function subjectOf(findings: readonly Pick<Finding, 'key' | 'kind'>[]): string {
  const [first] = findings
  if (first && isConsentKind(first.kind)) return kindInWords(first.kind)
  return `${findings.map(({ kind }) => kindInWords(kind)).join(' or ')} in ${first?.key ?? ''}`
}

/**
 * Returns the alert that detects future events like those in these findings, which have the same vendor and key. The
 * alert covers either all their kinds of personal data or their one kind of consent finding. It notifies the
 * organization's owners at most once a day.
 */
export function alertForFindings(findings: readonly Finding[], privacy: Privacy): AlertInput {
  const [first] = findings
  if (!first) throw new Error('an alert needs at least one finding')
  const { vendor, kind } = first
  const consent = isConsentKind(kind) ? CONSENT_CONDITIONS[kind] : null
  return {
    name: cutText(`Compliance: ${subjectOf(findings)}, ${vendor || 'any vendor'}`, MAX_NAME_LENGTH, '…'),
    alertType: dataValidation.kind,
    severity: 'high',
    ...(vendor === '' || isMasked(vendor) ? {} : { vendors: [vendor] }),
    conditions: {
      logic: consent ? 'all' : 'any',
      items: [...(consent ?? findings.map((finding) => conditionOf(finding, privacy)))],
    },
    period: '1h',
    throttle: { count: 1, per: 24, unit: 'hours' },
    channels: [{ type: 'email', target: 'owners' }],
  }
}
