import type { Operator } from '../contract/condition-operators.ts'
import {
  COMPLEMENTS,
  type Condition,
  type ConditionEvent,
  EVENT_FIELDS,
  fieldReader,
  keyReader,
  type Rule,
  targetOf,
} from './condition.ts'
import { containsEmail } from './find-email-addresses.ts'
import { containsPhone, type PhoneRegions } from './find-phone-numbers.ts'
import { memberTest } from './label-conditions.ts'
import { readNumber } from './parse-number.ts'
import { compilePattern } from './pattern.ts'
import { countCodePoints, isBlank } from './text-length.ts'

/** A function that returns whether an event satisfies the conditions. */
export type Predicate = (event: ConditionEvent) => boolean
type TextTest = (text: string, key: string) => boolean

// Uses loops, because `some` and `every` would create a closure for every rule and event.
function anyOf(tests: readonly TextTest[]): TextTest {
  const [only, ...others] = tests
  if (only && others.length === 0) return only
  return (text, key) => {
    for (const test of tests) if (test(text, key)) return true
    return false
  }
}

function testNumber(op: 'gt' | 'lt', values: readonly string[]): (value: number | null) => boolean {
  const limits = values.map(readNumber).filter((limit) => limit !== null)
  // One satisfied value is enough, so the weakest limit decides.
  const limit = op === 'gt' ? Math.min(...limits) : Math.max(...limits)
  return op === 'gt' ? (value) => value !== null && value > limit : (value) => value !== null && value < limit
}

function testLength(op: 'length_eq' | 'length_gt' | 'length_lt', value: string): TextTest {
  const limit = Number(value)
  if (op === 'length_eq') return (text) => text.length >= limit && countCodePoints(text) === limit
  if (op === 'length_gt') return (text) => text.length > limit && countCodePoints(text) > limit
  return (text) => text.length < limit || countCodePoints(text) < limit
}

/**
 * Returns the test of a positive operator for the value of one parameter. For phone numbers, the result also depends on
 * the key.
 */
export function compileTest(op: Operator, values: readonly string[], regions: PhoneRegions): TextTest {
  const each = (test: (value: string) => TextTest) => anyOf(values.map(test))
  switch (op) {
    case 'equals': {
      const wanted = new Set(values)
      return values.length === 1 ? (text) => text === values[0] : (text) => wanted.has(text)
    }
    case 'contains':
      return each((value) => (text) => text.includes(value))
    case 'starts_with':
      return each((value) => (text) => text.startsWith(value))
    case 'ends_with':
      return each((value) => (text) => text.endsWith(value))
    case 'is_blank':
      return isBlank
    case 'length_eq':
    case 'length_gt':
    case 'length_lt':
      return each((value) => testLength(op, value))
    case 'gt':
    case 'lt': {
      const test = testNumber(op, values)
      return (text) => test(readNumber(text))
    }
    case 'regex':
    case 'custom_pii_regex':
      return each((value) => compilePattern(value).matches)
    case 'contains_email':
      return containsEmail
    case 'contains_phone':
      return (text, key) => containsPhone(key, text, regions)
    default:
      throw new Error(`${op} is the complement of another operator`)
  }
}

function compilePositive(condition: Condition, op: Operator, regions: PhoneRegions): Predicate {
  const target = targetOf(condition)
  if (target.kind === 'label') return memberTest(condition)
  const values = condition.values ?? []
  if (target.kind === 'field') {
    const { field } = target
    if ((op === 'gt' || op === 'lt') && EVENT_FIELDS[field] === 'number') {
      const test = testNumber(op, values)
      return (event) => test(event[field as 'version'])
    }
    const test = compileTest(op, values, regions)
    const read = fieldReader(field)
    return (event) => test(read(event), condition.parameter)
  }
  const test = compileTest(op, values, regions)
  if (target.kind === 'any') {
    return ({ params }) => {
      for (const key in params) if (test(params[key] ?? '', key)) return true
      return false
    }
  }
  const read = keyReader(target.key)
  return (event) => test(read(event), target.key)
}

/** Compiles a condition that passed `checkConditions`. */
export function compileCondition(condition: Condition, regions: PhoneRegions = []): Predicate {
  const twin = COMPLEMENTS[condition.op]
  const positive = compilePositive(condition, twin ?? condition.op, regions)
  return twin ? (event) => !positive(event) : positive
}

function combine(logic: 'any' | 'all', predicates: readonly Predicate[]): Predicate {
  const [only, ...others] = predicates
  if (only && others.length === 0) return only
  if (logic === 'any') {
    return (event) => {
      for (const holds of predicates) if (holds(event)) return true
      return false
    }
  }
  return (event) => {
    for (const holds of predicates) if (!holds(event)) return false
    return true
  }
}

/** Returns a predicate that is true when all conditions are, or when there are none. */
export function compileFilters(filters: readonly Condition[], regions: PhoneRegions = []): Predicate {
  return combine(
    'all',
    filters.map((condition) => compileCondition(condition, regions)),
  )
}

/**
 * Compiles a rule that passed `checkRule` to a predicate that is true for events that break it: the filters, the
 * conditions and every group are true. A missing part is true, so every event that passes the filters breaks a rule
 * without conditions. Domain and vendor are not tested here. `regions`: countries whose national phone numbers are
 * recognised.
 */
export function compileViolation(rule: Rule, regions: PhoneRegions = []): Predicate {
  const compile = (logic: 'any' | 'all', items: readonly Condition[]) =>
    combine(
      logic,
      items.map((condition) => compileCondition(condition, regions)),
    )
  return combine('all', [
    ...(rule.filters?.length ? [compile('all', rule.filters)] : []),
    ...(rule.conditions ? [compile(rule.conditions.logic, rule.conditions.items)] : []),
    ...(rule.conditionGroups ?? []).map((group) => compile(group.op, group.items)),
  ])
}
