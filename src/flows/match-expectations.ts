import { rejectInexactConditions } from '../alerts/types/reject-conditions.ts'
import type { SeenEvent } from '../browser/traffic.ts'
import {
  type Condition,
  type ConditionEvent,
  checkConditions,
  LABEL,
  MAX_RULE_COST,
  RuleCheck,
} from '../conditions/condition.ts'
import { resolveLabelConditions } from '../conditions/label-conditions.ts'
import { compileFilters } from '../conditions/predicate.ts'
import { pageGroupOf } from '../core/derived-segments.ts'
import { AppError } from '../core/error.ts'
import { NO_SEGMENTS } from '../core/event.ts'
import { outcomeOf } from '../ingest/decode-batch.ts'
import type { LabelMember, MembersOf } from '../labels/label.ts'
import { consentOf, visitorOf } from '../visitor/visitor-state.ts'
import type { Expectation } from './expectation.ts'

/** The fields of an expectation that describe a single event. */
export type ExpectedEvent = Pick<Expectation, 'label' | 'vendor' | 'event' | 'account' | 'data'>

/** Members of labels, by label name as used in expectations. Unknown labels have no members. */
export type LabelMembers = Readonly<Record<string, readonly LabelMember[]>>

/** The fields of a recorded event that expectations read. Missing fields are unknown. */
export type MatchedEvent = Pick<SeenEvent, 'vendor' | 'event' | 'account' | 'params'> &
  Partial<Pick<SeenEvent, 'host' | 'path' | 'status' | 'answered'>>

/** Functions that check a single event against an expectation. */
interface EventTests {
  /** Returns whether the event's label, vendor, event name and account match. */
  isNamed(event: MatchedEvent): boolean
  /** Like `isNamed`, and also returns whether the event's data matches. */
  matches(event: MatchedEvent): boolean
  /** Returns the conditions in `data` that the event does not meet, as entered by the user. */
  faultsIn(event: MatchedEvent): Condition[]
}

/** An expectation that can be matched against events. */
export interface CompiledExpectation extends EventTests {
  /** Index in the list of expectations. */
  index: number
  /** The expectation, with defaults for `min`, `max` and `withinMs`. `min` is 0 when `max` is 0. */
  expectation: Expectation & { min: number; max: number | null; withinMs: number }
}

const DEFAULT_WITHIN_MS = 5000

/** Compiles expectations that `checkExpectations` has accepted, in order. */
export function compileExpectations(expectations: readonly Expectation[], labels: LabelMembers): CompiledExpectation[] {
  return expectations.map((one, index) => {
    const { min = 1, max = null, withinMs = DEFAULT_WITHIN_MS } = one
    return { index, expectation: { ...one, min: max === 0 ? 0 : min, max, withinMs }, ...compileEvent(one, labels) }
  })
}

/** Returns the functions that check single events. An event must meet all conditions in `data`. */
function compileEvent({ label, vendor, event, account, data = [] }: ExpectedEvent, labels: LabelMembers): EventTests {
  const membersOf: MembersOf = (name) => (Object.hasOwn(labels, name) ? (labels[name] ?? []) : [])
  const read = (conditions: readonly Condition[]) => compileFilters(resolveLabelConditions(conditions, membersOf))
  const hasLabel = read(label === undefined ? [] : [{ parameter: LABEL, op: 'equals', values: [label] }])
  const tests = data.map((condition) => ({ condition, holds: read([condition]) }))
  const isNamed = (seen: MatchedEvent) =>
    (vendor === undefined || seen.vendor === vendor) &&
    (event === undefined || seen.event === event) &&
    (account === undefined || seen.account === account) &&
    hasLabel(conditionEventOf(seen))
  const faultsIn = (seen: MatchedEvent) => {
    const event = conditionEventOf(seen)
    return tests.flatMap(({ condition, holds }) => (holds(event) ? [] : [condition]))
  }
  return { isNamed, faultsIn, matches: (seen) => isNamed(seen) && faultsIn(seen).length === 0 }
}

/**
 * Converts an event to the form that conditions read. A request that was answered inside the browser counts as
 * successful.
 */
export function conditionEventOf(seen: MatchedEvent): ConditionEvent {
  const { host = null, path = null, status = null, answered = false } = seen
  return {
    vendor: seen.vendor,
    event: seen.event,
    account: seen.account,
    params: seen.params,
    host,
    path,
    status: answered ? 'ok' : outcomeOf(status ?? undefined),
    title: null,
    env: 'prod',
    sessionId: null,
    customerId: null,
    execMs: null,
    durMs: null,
    bytes: null,
    version: null,
    segments: {
      ...NO_SEGMENTS,
      pageGroup: pageGroupOf(path),
      consent: consentOf(seen.params) ?? NO_SEGMENTS.consent,
      visitor: visitorOf(seen.params),
    },
  }
}

/** Returns the events to which an expectation applies: those of its step or, without a step, all events. */
export function spanOf<Event extends { step: number }>({ step }: Expectation, events: readonly Event[]): Event[] {
  return step === undefined ? [...events] : events.filter((event) => event.step === step)
}

/**
 * Returns the expectations that have matched fewer than `min` events so far, including those of steps that have not
 * started.
 */
export function unmet(
  expectations: readonly CompiledExpectation[],
  events: readonly (MatchedEvent & { step: number })[],
): CompiledExpectation[] {
  return expectations.filter(({ expectation, matches }) => {
    if (expectation.min === 0) return false
    return spanOf(expectation, events).filter(matches).length < expectation.min
  })
}

/** Returns the members of each label named in the expectations, for `compileExpectations`. */
export function membersOfNamed(expectations: readonly ExpectedEvent[], membersOf: MembersOf): LabelMembers {
  const named = expectations.flatMap(({ label, data = [] }) => [
    ...(label === undefined ? [] : [label]),
    ...data.flatMap(({ parameter, values = [] }) => (parameter === LABEL ? values : [])),
  ])
  return Object.fromEntries([...new Set(named)].map((label) => [label, membersOf(label)]))
}

/**
 * Throws `AppError('invalid')` for expectations that match the schema but are invalid. The message names the field,
 * such as `expectations[2].step`. `steps` is the number of steps in the recording.
 */
export function checkExpectations(expectations: readonly Expectation[], steps: number, path = 'expectations'): void {
  const check = new RuleCheck(MAX_RULE_COST)
  for (const [index, expectation] of expectations.entries()) {
    const at = `${path}[${index}]`
    const { step } = expectation
    if (step !== undefined && step >= steps) {
      const has = steps === 1 ? '1 step, with the index 0' : `${steps} steps, 0 to ${steps - 1}`
      throw new AppError('invalid', `${at}.step: the recording has ${has}`)
    }
    checkExpected(expectation, at, check)
  }
}

/**
 * Like `checkExpectations`, but for an expectation without a step. Expectations that are saved together share one
 * `check`.
 */
export function checkExpected(
  { min = 1, max = null, ...expected }: Omit<Expectation, 'step' | 'withinMs'>,
  path: string,
  check: RuleCheck,
): void {
  const { label, vendor, event, account, data = [] } = expected
  const asks = [label, vendor, event, account].some((field) => field !== undefined) || data.length > 0
  if (!asks)
    throw new AppError(
      'invalid',
      `${path}: label, vendor, event, account or data is required; otherwise, any event would match`,
    )
  if (max !== null && max > 0 && max < min)
    throw new AppError('invalid', `${path}.max: must be 0 or at least min, ${min}`)
  checkConditions(data, `${path}.data`, check)
  rejectInexactConditions(data, `${path}.data`)
}
