import { pageGroupOf } from '../core/derived-segments.ts'
import {
  type Condition,
  type ConditionEvent,
  EVENT_FIELDS,
  type EventField,
  fieldReader,
  isSegment,
  targetOf,
} from './condition.ts'
import { base64Runs } from './find-base64-runs.ts'
import { findCards } from './find-card-numbers.ts'
import { containsEmail, findEmails, type Span } from './find-email-addresses.ts'
import { findIbans } from './find-ibans.ts'
import { findPhones } from './find-phone-numbers.ts'
import { compilePattern } from './pattern.ts'
import { mayBeEncoded, percentDecode } from './percent-encoding.ts'
import { PLAIN_PRIVACY, type Privacy } from './privacy-settings.ts'

/** Replacement for a value that a rule or custom pattern marks as personal. */
const HIDDEN = '***'
/**
 * Maximum number of rounds of masking or decoding. After these, only deliberately crafted texts can still contain
 * personal data.
 */
const ROUNDS = 8

/** Masks an e-mail address: `john@mail.example.com` → `j***@m***.com` */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.charAt(0)}***@${email.charAt(at + 1)}***${email.slice(email.lastIndexOf('.'))}`
}

/** Masks a phone number: `+1 506 234 5678` → `***78` */
const maskPhone = (phone: string) => `***${phone.replaceAll(/[^0-9]/g, '').slice(-2)}`

/** Masks a card number: `4111 1111 1111 1111` → `***1111` */
const maskCard = (card: string) => `***${card.replaceAll(/[^0-9]/g, '').slice(-4)}`

/** Masks an IBAN: `DE89 3704 0044 0532 0130 00` → `DE***00` */
const maskIban = (iban: string) => `${iban.slice(0, 2).toUpperCase()}***${iban.slice(-2)}`

function replaceSpans(text: string, spans: readonly Span[], mask: (part: string) => string): string {
  let out = ''
  let at = 0
  for (const { start, end } of spans) {
    out += text.slice(at, start) + mask(text.slice(start, end))
    at = end
  }
  return out + text.slice(at)
}

/**
 * Returns a value of the parameter `key` (for fields, with a `$` prefix) with personal data masked. E-mail addresses
 * become `j***@m***.com`, phone numbers `***78`, card numbers `***1111`, IBANs `DE***00`, and matches of the
 * organization's custom patterns `***`. A value that contains personal data only when percent-decoded is returned in
 * decoded form. The same applies to base64 that contains an e-mail address.
 */
export function maskPersonal(value: string, key = '', privacy: Privacy = PLAIN_PRIVACY): string {
  let shown = hide(value, key, privacy)
  let decoded = shown
  for (let round = 0; round < ROUNDS && mayBeEncoded(decoded); round++) {
    const before = percentDecode(decoded)
    decoded = hide(before, key, privacy)
    if (decoded !== before) shown = decoded
  }
  return shown
}

function hide(text: string, key: string, privacy: Privacy): string {
  const { regions, patterns } = privacy
  let shown = hideInBase64(text, key, privacy)
  for (const { pattern } of patterns) shown = replaceSpans(shown, compilePattern(pattern).find(shown), () => HIDDEN)
  // Two e-mail addresses may overlap (`a@b.co@c.de`). The rest of the second one is found after the first one is masked.
  for (let round = 0; round < ROUNDS; round++) {
    let hidden = replaceSpans(shown, findEmails(shown), maskEmail)
    hidden = replaceSpans(hidden, findIbans(hidden), maskIban)
    hidden = replaceSpans(hidden, findCards(hidden), maskCard)
    hidden = replaceSpans(hidden, findPhones(key, hidden, regions), maskPhone)
    if (hidden === shown) break
    shown = hidden
  }
  return shown
}

/**
 * Returns the parts of a text that are e-mail addresses, IBANs, card numbers or matches of custom patterns. They may
 * overlap.
 */
export const exactSpans = (text: string, { patterns }: Privacy): Span[] => [
  ...patterns.flatMap(({ pattern }) => compilePattern(pattern).find(text)),
  ...findEmails(text),
  ...findIbans(text),
  ...findCards(text),
]

/**
 * Returns the parts of a displayed text that `maskPersonal` would change, in order. Returns the whole text when
 * personal data is found only after decoding. Parts may overlap.
 */
export function personalSpans(text: string, key: string, privacy: Privacy): Span[] {
  const spans = [...exactSpans(text, privacy), ...findPhones(key, text, privacy.regions)].toSorted(
    (a, b) => a.start - b.start,
  )
  if (spans.length === 0 && !text.includes('%')) return []
  const rest = replaceSpans(text, merged(spans), (part) => '\n'.repeat(part.length))
  return maskPersonal(rest, key, privacy) === rest ? spans : [{ start: 0, end: text.length }]
}

/** Returns the spans in order, with overlapping spans merged. */
function merged(spans: readonly Span[]): Span[] {
  const out: Span[] = []
  for (const { start, end } of spans) {
    const last = out.at(-1)
    if (last && start < last.end) last.end = Math.max(last.end, end)
    else out.push({ start, end })
  }
  return out
}

/** Replaces base64 that contains an e-mail address with the masked decoded text. */
function hideInBase64(text: string, key: string, privacy: Privacy): string {
  let shown = text
  for (const run of base64Runs(text)) {
    if (!containsEmail(run.text)) continue
    const part = text.slice(run.start, run.end)
    shown = shown.replace(part, () => maskPersonal(run.text, key, privacy))
  }
  return shown
}

function hideField(event: ConditionEvent, field: EventField): void {
  if (isSegment(field)) event.segments = { ...event.segments, [field]: HIDDEN }
  else Object.assign(event, { [field]: HIDDEN })
}

type ValueTest = (value: string) => boolean

/** Fields whose value is set by senders and may contain anything. */
export const OPEN_FIELDS = ['id', 'vendor', 'event', 'account', 'host', 'path', 'title', 'sessionId'] as const
type Open = Partial<Record<(typeof OPEN_FIELDS)[number], string | null>>

/**
 * Returns a function that prepares an event for samples, evidence and notifications. It returns a copy with personal
 * data masked. A value that matches a `custom_pii_regex` condition is replaced with `***`.
 */
export function compileMask(
  conditions: readonly Condition[],
  privacy: Privacy = PLAIN_PRIVACY,
): <E extends ConditionEvent>(event: E) => E {
  const personal = conditions
    .filter(({ op }) => op === 'custom_pii_regex')
    .map((condition) => ({
      target: targetOf(condition),
      tests: (condition.values ?? []).map((value): ValueTest => compilePattern(value).matches),
    }))
  const maskParameter = (key: string, value: string) => {
    const hidden = personal.some(
      ({ target, tests }) =>
        (target.kind === 'any' || (target.kind === 'key' && target.key === key)) && tests.some((test) => test(value)),
    )
    return hidden ? HIDDEN : maskPersonal(value, key, privacy)
  }
  return (event) => {
    const params = Object.fromEntries(
      Object.entries(event.params).map(([key, value]) => [maskPersonal(key, '', privacy), maskParameter(key, value)]),
    )
    const masked = { ...event, params }
    const open: Open = event
    for (const field of OPEN_FIELDS) {
      const value = open[field] ?? null
      if (value !== null) (masked as Open)[field] = maskPersonal(value, `$${field}`, privacy)
    }
    for (const { target, tests } of personal) {
      if (target.kind !== 'field' || EVENT_FIELDS[target.field] === 'number') continue
      const value = fieldReader(target.field)(event)
      if (value !== '' && tests.some((test) => test(value))) hideField(masked, target.field)
    }
    // The group repeats parts of the path.
    if (masked.path !== event.path) masked.segments = { ...event.segments, pageGroup: pageGroupOf(masked.path) }
    return masked
  }
}
