import { OPERATORS, type Operator, WITHOUT_VALUES } from '../contract/condition-operators.ts'
import { AppError, checkAll } from '../core/error.ts'
import { NO_SEGMENTS, type Segment, type StoredEvent } from '../core/event.ts'
import { Closed, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { readNumber, spellNumber } from './parse-number.ts'
import { sizeOfPattern } from './pattern.ts'

/** Negative operators, each with the positive operator of which it is the exact opposite. */
export const COMPLEMENTS: Readonly<Partial<Record<Operator, Operator>>> = {
  not_equals: 'equals',
  not_contains: 'contains',
  not_starts_with: 'starts_with',
  not_ends_with: 'ends_with',
  not_blank: 'is_blank',
}

/** Pseudo field for conditions on labels. It supports only two operators. */
export const LABEL = '$label'
const LABEL_OPERATORS: readonly Operator[] = ['equals', 'not_equals']

/**
 * Schema of a condition. `parameter` is parsed by `readParameter`. Values are ignored when the operator does not need
 * them.
 */
export const ConditionSchema = Closed(
  {
    parameter: Text(1, 200, {
      description:
        'Key of an event parameter; `*` for any; a field of the event: `$vendor $event $account $host $path $title $env $status $sessionId $customerId $execMs $durMs $bytes $version`, or of its segments: `$browser $browserVersion $os $device $language $release $pageGroup $consent $visitor $country`; or `$label` for its labels (`equals` and `not_equals` only). Write a key that begins with `$` as `$$key`',
      examples: ['ep.transaction_id', '*', '$event', '$$os'],
    }),
    op: OneOf(OPERATORS, {
      title: 'Operator',
      description:
        'Case-sensitive comparison. `not_…` is the exact opposite of the operator without `not_`, and also matches a missing parameter. `length_…` counts characters. `gt` and `lt` compare numbers and never match other values. `regex` and `custom_pii_regex` search for an RE2 pattern; `custom_pii_regex` also masks its matches',
      examples: ['is_blank', 'not_equals'],
    }),
    values: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 1000,
          description:
            'A string; for `gt` and `lt` a number, for `length_…` a whole number, for `regex` and `custom_pii_regex` a pattern',
          examples: ['purchase'],
        }),
        {
          maxItems: 100,
          description:
            'Values to compare with. True if any value matches (for `not_…`: if none does). Not needed by `is_blank`, `not_blank`, `contains_email` and `contains_phone`',
          examples: [['EUR', 'CHF']],
        },
      ),
    ),
  },
  {
    $id: 'Condition',
    title: 'Condition',
    description: 'A test of one event. In `conditions` and `conditionGroups` it describes a violation',
    examples: [
      { parameter: 'value', op: 'is_blank' },
      { parameter: '*', op: 'contains_email' },
    ],
  },
)
export type Condition = Static<typeof ConditionSchema> & {
  /** Names of the labels. Set by `resolveLabels`, which puts the labels' members in `values`. Never stored. */
  labels?: readonly string[]
}

const LOGIC = ['any', 'all'] as const
const logic = OneOf(LOGIC, {
  description: '`any`: one condition is enough; `all`: every condition must be true',
  examples: ['any'],
})
const items = Type.Array(ConditionSchema, {
  maxItems: 50,
  description: 'The conditions. An empty list is never true with `any`, and always true with `all`',
  examples: [[{ parameter: 'ep.transaction_id', op: 'is_blank' }]],
})

/** A list of conditions. Without items, `any` is always false and `all` is always true. */
export const ConditionSetSchema = Closed(
  { logic, items },
  {
    description: 'An event breaks the rule if these conditions and every group are true',
    examples: [{ logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] }],
  },
)
export const ConditionGroupSchema = Closed(
  { op: logic, items },
  {
    description: 'A parenthesized group of conditions',
    examples: [{ op: 'any', items: [{ parameter: 'cu', op: 'not_equals', values: ['EUR'] }] }],
  },
)
type ConditionGroup = Static<typeof ConditionGroupSchema>

/** The conditions of an alert. A missing part is always true. */
export interface Rule {
  conditions?: Static<typeof ConditionSetSchema>
  conditionGroups?: readonly ConditionGroup[]
  filters?: readonly Condition[]
}

/** Event fields that a condition can refer to, with a `$` prefix. */
export const EVENT_FIELDS = {
  vendor: 'text',
  event: 'text',
  account: 'text',
  host: 'text',
  path: 'text',
  title: 'text',
  env: 'text',
  status: 'text',
  sessionId: 'text',
  customerId: 'text',
  execMs: 'number',
  durMs: 'number',
  bytes: 'number',
  version: 'number',
  browser: 'text',
  browserVersion: 'text',
  os: 'text',
  device: 'text',
  language: 'text',
  release: 'text',
  pageGroup: 'text',
  consent: 'text',
  visitor: 'text',
  country: 'text',
} as const satisfies Partial<Record<keyof StoredEvent | Segment, 'text' | 'number'>>
export type EventField = keyof typeof EVENT_FIELDS

/** True for fields in `segments`. */
export const isSegment = (field: EventField): field is Segment => Object.hasOwn(NO_SEGMENTS, field)

/** The fields of an event that conditions read. */
export type ConditionEvent = Pick<StoredEvent, Exclude<EventField, Segment> | 'segments' | 'params'>

/** The part of an event that a condition tests: any parameter, one parameter, a field, or its labels. */
export type Target =
  | { kind: 'any' }
  | { kind: 'label' }
  | { kind: 'field'; field: EventField }
  | { kind: 'key'; key: string }

/**
 * Parses `parameter`: `*`, `$label`, `$field`, or a key of `params`. A key that begins with `$` is written with a
 * second `$` (`$$os` for the key `$os`). Returns null for an unknown field.
 */
export function readParameter(parameter: string): Target | null {
  if (parameter === '*') return { kind: 'any' }
  if (!parameter.startsWith('$')) return { kind: 'key', key: parameter }
  if (parameter === LABEL) return { kind: 'label' }
  const name = parameter.slice(1)
  if (name.startsWith('$')) return { kind: 'key', key: name }
  return Object.hasOwn(EVENT_FIELDS, name) ? { kind: 'field', field: name as EventField } : null
}

/**
 * Like `readParameter`, for conditions that were already checked. Throws `AppError('invalid')` for an invalid
 * parameter.
 */
export function targetOf({ parameter }: Condition): Target {
  const target = readParameter(parameter)
  if (!target) throw new AppError('invalid', `parameter: ${unknownField(parameter)}`)
  return target
}

/** Returns a function that reads one key of `params`. It returns the empty string when the key is missing. */
export function keyReader(key: string): (event: Pick<ConditionEvent, 'params'>) => string {
  // Inherited properties (`constructor`) are not parameters. The check is expensive, so it only runs for keys that need
  // it.
  if (key in Object.prototype) return ({ params }) => (Object.hasOwn(params, key) ? (params[key] ?? '') : '')
  return ({ params }) => params[key] ?? ''
}

/** Returns a function that reads a field as text. It returns the empty string when the field is unknown. */
export function fieldReader(field: EventField): (event: ConditionEvent) => string {
  if (isSegment(field)) return ({ segments }) => segments[field] ?? ''
  if (EVENT_FIELDS[field] === 'number') return (event) => spellNumber(event[field] as number | null)
  return (event) => (event[field] as string | null) ?? ''
}

const unknownField = (parameter: string) =>
  `${parameter} is not an event field; the fields are ${Object.keys(EVENT_FIELDS)
    .map((field) => `$${field}`)
    .join(' ')} ${LABEL}. Write a key that begins with $ as $$key`

/** Returns every condition of a rule. */
export function conditionsOf(rule: Rule): Condition[] {
  const groups = rule.conditionGroups?.flatMap((group) => group.items) ?? []
  return [...(rule.filters ?? []), ...(rule.conditions?.items ?? []), ...groups]
}

/** Returns the reason why a string can't occur in an event or in SQL; null when the string is allowed. */
function faultOfText(text: string): string | null {
  if (!text.isWellFormed()) return 'not valid Unicode'
  return text.includes('\0') ? 'contains a NUL character, which events never contain' : null
}

/**
 * Maximum cost of a rule that is evaluated for incoming events or applied to the event history. A rule at this limit
 * has a size of about 200 kB. In the worst case, a rule with only patterns, evaluation takes 0.2 ms per character of an
 * event.
 */
export const MAX_RULE_COST = 20_000

/**
 * Returns the worst-case cost of a value: the number of instructions for a pattern, a tenth of the length for other
 * strings, and at least 1.
 */
function costOfValue(op: Operator, value: string): number {
  if (op === 'regex' || op === 'custom_pii_regex') return sizeOfPattern(value)
  return Math.max(1, Math.floor(value.length / 10))
}

/** Cost of a label. A label may have up to `MAX_MEMBERS` members, and each member is compared. */
const COST_OF_LABEL = 50

const costOfCondition = ({ parameter, op, values = [] }: Condition) => {
  if (parameter === LABEL) return values.length * COST_OF_LABEL
  return WITHOUT_VALUES.has(op) ? 1 : values.reduce((sum, value) => sum + costOfValue(op, value), 0)
}

/** Returns the cost of a rule that passed `checkRule`: the sum of the costs of all values in its conditions. */
export function costOf(rule: Rule): number {
  return conditionsOf(rule).reduce((sum, condition) => sum + costOfCondition(condition), 0)
}

/**
 * Returns whether a rule that passed `checkRule` costs more than `MAX_RULE_COST`. Stops compiling patterns once that
 * cost is exceeded.
 */
export function isCostly(rule: Rule): boolean {
  let cost = 0
  return conditionsOf(rule).some((condition) => {
    const { parameter, op, values = [] } = condition
    if (parameter === LABEL || WITHOUT_VALUES.has(op)) cost += costOfCondition(condition)
    else for (const value of values) if (cost <= MAX_RULE_COST) cost += costOfValue(op, value)
    return cost > MAX_RULE_COST
  })
}

/** Returns the error for a value that is invalid for its operator; null when the value is valid. */
function faultOfValue(op: Operator, value: string): string | null {
  const fault = faultOfText(value)
  if (fault !== null) return fault
  switch (op) {
    case 'length_eq':
    case 'length_gt':
    case 'length_lt':
      return /^\d{1,9}$/.test(value) ? null : `"${value}" is not a length; expected a whole number such as 12`
    case 'gt':
    case 'lt':
      return readNumber(value) === null ? `"${value}" is not a number; expected one such as 12, -0.5 or 1e3` : null
    default:
      return null
  }
}

/** Checks every condition of a rule, and the sum of their costs against the limit, if one is set. */
export class RuleCheck {
  private cost = 0

  constructor(private readonly limit = Number.POSITIVE_INFINITY) {}

  /** Throws `AppError('invalid')` for invalid conditions. Checking stops at the cost limit. */
  conditions(conditions: readonly Condition[], path: string): void {
    checkAll(this.checksOf(conditions, path))
  }

  private *checksOf(conditions: readonly Condition[], path: string): Generator<() => void> {
    for (const [index, condition] of conditions.entries()) {
      if (this.cost > this.limit) return
      yield () => this.condition(condition, `${path}[${index}]`)
    }
  }

  private condition({ parameter, op, values = [] }: Condition, at: string): void {
    if (!readParameter(parameter)) throw new AppError('invalid', `${at}.parameter: ${unknownField(parameter)}`)
    const fault = faultOfText(parameter)
    if (fault !== null) throw new AppError('invalid', `${at}.parameter: ${fault}`)
    const isLabel = parameter === LABEL
    if (isLabel && !LABEL_OPERATORS.includes(op)) {
      throw new AppError('invalid', `${at}.op: ${LABEL} allows only ${LABEL_OPERATORS.join(' and ')}`)
    }
    if (WITHOUT_VALUES.has(op)) return this.pay(1, () => at)
    if (values.length === 0) throw new AppError('invalid', `${at}.values: at least one value is required for ${op}`)
    // Paths are built only for errors, because a rule can have 100,000 values.
    for (const [position, value] of values.entries()) this.value(op, value, () => `${at}.values[${position}]`, isLabel)
  }

  private value(op: Operator, value: string, at: () => string, isLabel: boolean): void {
    const fault = faultOfValue(op, value)
    if (fault !== null) throw new AppError('invalid', `${at()}: ${fault}`)
    this.pay(isLabel ? COST_OF_LABEL : named(at, () => costOfValue(op, value)), at)
  }

  /**
   * Adds a cost. Throws as soon as the limit is exceeded, so that checking a body of several megabytes takes no longer
   * than checking a rule at the limit.
   */
  private pay(cost: number, at: () => string): void {
    this.cost += cost
    if (this.cost <= this.limit) return
    throw new AppError(
      'invalid',
      `${at()}: the conditions up to here cost ${this.cost}, but a rule can cost at most ${this.limit}. ` +
        `A pattern costs its compiled size, a label ${COST_OF_LABEL}, and any other value a tenth of its length`,
    )
  }
}

/** Runs `work` and prefixes its error messages with the path. */
function named<T>(at: () => string, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    throw thrown.at(`${at()}: `)
  }
}

/**
 * Throws `AppError('invalid')` for the first condition that matches the schema but is invalid or too expensive. The
 * message contains the position, such as `filters[2].values[0]: …` for the path `filters`. `check` is shared by all
 * condition lists of a rule.
 */
export function checkConditions(conditions: readonly Condition[], path: string, check = new RuleCheck()): void {
  check.conditions(conditions, path)
}

/** Like `checkConditions`, for a whole rule. `path`: path of the rule; empty for the body itself. */
export function checkRule(rule: Rule, path = '', check = new RuleCheck()): void {
  const root = path ? `${path}.` : ''
  checkAll([
    () => check.conditions(rule.filters ?? [], `${root}filters`),
    () => check.conditions(rule.conditions?.items ?? [], `${root}conditions.items`),
    ...(rule.conditionGroups ?? []).map(
      ({ items }, index) =>
        () =>
          check.conditions(items, `${root}conditionGroups[${index}].items`),
    ),
  ])
}
