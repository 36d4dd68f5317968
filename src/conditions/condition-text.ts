import type { Operator } from '../contract/condition-operators.ts'
import { cutText } from '../core/text.ts'
import { type Condition, type ConditionEvent, type EventField, type Rule, targetOf } from './condition.ts'
import type { PhoneRegions } from './find-phone-numbers.ts'
import { compileFilters } from './predicate.ts'

const FIELD_WORDS: Record<EventField, string> = {
  vendor: 'vendor',
  event: 'event name',
  account: 'account',
  host: 'host',
  path: 'path',
  title: 'page title',
  env: 'environment',
  status: 'status',
  sessionId: 'session id',
  customerId: 'customer id',
  execMs: 'execution time in ms',
  durMs: 'duration in ms',
  bytes: 'size in bytes',
  version: 'version',
  browser: 'browser',
  browserVersion: 'browser version',
  os: 'operating system',
  device: 'device',
  language: 'language',
  release: 'release',
  pageGroup: 'page group',
  consent: 'consent',
  visitor: 'visitor',
  country: 'country',
}

const MAX_VALUES = 3
const MAX_VALUE_LENGTH = 60

/** Returns a list of values, such as `"a"`, `"a" or "b"`, or `"a", "b", "c" or 4 more`. */
function oneOf(
  values: readonly string[],
  spell = (value: string) => JSON.stringify(cutText(value, MAX_VALUE_LENGTH, '…')),
) {
  const shown = values.slice(0, MAX_VALUES).map(spell)
  const others = values.length - shown.length
  const [last = '', ...before] = [...shown, ...(others > 0 ? [`${others} more`] : [])].reverse()
  return before.length === 0 ? last : `${before.reverse().join(', ')} or ${last}`
}

const asNumber = (value: string) => value

/**
 * Returns text that describes a parameter for which the operator is true, to follow the parameter's name; null for
 * operators that are worded differently.
 */
function stateOf(op: Operator, values: readonly string[]): string | null {
  const numbers = values.map(Number)
  switch (op) {
    case 'equals':
      return `equal to ${oneOf(values)}`
    case 'not_equals':
      return `other than ${oneOf(values)}`
    case 'contains':
      return `containing ${oneOf(values)}`
    case 'not_contains':
      return `not containing ${oneOf(values)}`
    case 'starts_with':
      return `starting with ${oneOf(values)}`
    case 'not_starts_with':
      return `not starting with ${oneOf(values)}`
    case 'ends_with':
      return `ending with ${oneOf(values)}`
    case 'not_ends_with':
      return `not ending with ${oneOf(values)}`
    case 'length_eq':
      return `of ${oneOf(values, asNumber)} ${values.length === 1 && values[0] === '1' ? 'character' : 'characters'}`
    case 'length_gt':
      return `of more than ${Math.min(...numbers)} characters`
    case 'length_lt':
      return `of fewer than ${Math.max(...numbers)} characters`
    // Only the value that is easiest to satisfy matters.
    case 'gt':
      return `above ${Math.min(...numbers)}`
    case 'lt':
      return `below ${Math.max(...numbers)}`
    case 'regex':
      return `matching ${oneOf(values)}`
    default:
      return null
  }
}

/**
 * The positive counterparts of `not_` operators. With `*`, a `not_` condition is true when no parameter satisfies the
 * positive one.
 */
const POSITIVE: Partial<Record<Operator, Operator>> = {
  not_equals: 'equals',
  not_contains: 'contains',
  not_starts_with: 'starts_with',
  not_ends_with: 'ends_with',
}

/**
 * Describes the events for which the condition is true, as text that follows `12 events`, such as ``had `value` below
 * 0``. The text quotes only the rule and never an event. At most three values are listed, each truncated to 60
 * characters.
 */
export function conditionText(condition: Condition): string {
  const { op, values = [] } = condition
  const target = targetOf(condition)
  if (target.kind === 'label') return labelWords(condition)
  const isAny = target.kind === 'any'
  const field = target.kind === 'field' ? FIELD_WORDS[target.field] : null
  const key = target.kind === 'key' ? `\`${target.key}\`` : 'a parameter'
  const name = field === null ? key : `${/^[aeiou]/.test(field) ? 'an' : 'a'} ${field}`
  const place = field === null ? key : `the ${field}`
  switch (op) {
    case 'is_blank':
      return isAny ? 'had a blank parameter' : `had no ${field ?? key}`
    case 'not_blank':
      return isAny ? 'had no blank parameter' : `had ${name}`
    case 'contains_email':
      return `had an e-mail address in ${place}`
    case 'contains_phone':
      return `had a phone number in ${place}`
    case 'custom_pii_regex':
      return `had personal data in ${place}, matching ${oneOf(values)}`
    default: {
      const positive = POSITIVE[op]
      if (isAny && positive) return `had no parameter ${stateOf(positive, values)}`
      return `had ${name} ${stateOf(op, values)}`
    }
  }
}

function labelWords({ op, values = [], labels = values }: Condition): string {
  const label = `the ${labels.length === 1 ? 'label' : 'labels'} ${oneOf(labels)}`
  return op === 'equals' ? `had ${label}` : `did not have ${label}`
}

/** Text that describes how a rule is broken. */
export interface ViolationText {
  /** Conditions that are true for every event that breaks the rule. */
  always: string[]
  /** Further conditions that are true for this event, when a rule can be broken in several ways. */
  here: string[]
}

/**
 * Returns the text for a rule. `event`: an event that breaks the rule; null when unknown, which leaves `here` empty.
 */
export function describeViolation(
  { conditions, conditionGroups = [] }: Rule,
  event: ConditionEvent | null,
  regions: PhoneRegions = [],
): ViolationText {
  const sets = [...(conditions ? [{ op: conditions.logic, items: conditions.items }] : []), ...conditionGroups]
  const isSure = ({ op, items }: (typeof sets)[number]) => op === 'all' || items.length === 1
  const words = (items: readonly Condition[]) => items.map(conditionText)
  const held = (items: readonly Condition[]) =>
    event === null ? [] : items.filter((item) => compileFilters([item], regions)(event))
  const always = [...new Set(sets.filter(isSure).flatMap(({ items }) => words(items)))]
  const here = [...new Set(sets.filter((set) => !isSure(set)).flatMap(({ items }) => words(held(items))))]
  return { always, here: here.filter((one) => !always.includes(one)) }
}

const MAX_CLAUSES = 3

/** Joins descriptions of conditions, such as ``had no `a`, had `b` below 0 and 2 more``. */
export function joinWords(clauses: readonly string[]): string {
  const shown = clauses.slice(0, MAX_CLAUSES)
  const others = clauses.length - shown.length
  const all = others > 0 ? [...shown, `${others} more`] : shown
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
