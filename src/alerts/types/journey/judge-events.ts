import { LABEL } from '../../../conditions/condition.ts'
import { resolveLabelConditions } from '../../../conditions/label-conditions.ts'
import { compileFilters } from '../../../conditions/predicate.ts'
import type { StoredEvent } from '../../../core/event.ts'
import type { MembersOf } from '../../../labels/label.ts'
import type { Alert } from '../../alert.ts'
import { journey, missText } from './journey.ts'
import { judgeSession, type Matcher, type Plan, planOf } from './journey-plan.ts'
import { readSpec } from './journey-spec.ts'

/** The first expectation that a session does not meet. */
export interface SessionFault {
  /** Continues a sentence about the session: `missed Meta Pixel Purchase after page /thanks`. */
  did: string
  /** The event that was expected. */
  expected: Matcher
  /** The event at which the failed step began; null for the start of the session. */
  at: StoredEvent | null
}

/**
 * Judges the events of one session, which are all in memory, like the query of the alert type does for stored events.
 * Returns null when the session follows the journey, or when no event passes the alert's filters.
 */
export function judgeEvents(alert: Alert, events: readonly StoredEvent[], membersOf: MembersOf): SessionFault | null {
  const passes = compileFilters(resolveLabelConditions(alert.filters ?? [], membersOf))
  if (!events.some(passes)) return null
  const plan = planOf(readSpec(alert.journey))
  const hits = hitsOf(plan, events, membersOf)
  const { unmet } = judgeSession(
    plan,
    hits.map(({ matches }) => matches),
  )
  if (unmet === null) return null
  return { did: missText(plan, unmet), expected: unmet.matcher, at: hits[unmet.at]?.event ?? null }
}

export const isJourney = ({ alertType }: Pick<Alert, 'alertType'>): boolean => alertType === journey.kind

/** Returns the names of the labels in the steps of a journey; empty for alerts of other types. */
export const labelsInJourney = (alert: Alert): string[] =>
  isJourney(alert) ? planOf(readSpec(alert.journey)).matchers.flatMap(({ label }) => label ?? []) : []

/** Returns the events that match at least one matcher, in the order of a shape. */
function hitsOf({ matchers }: Plan, events: readonly StoredEvent[], membersOf: MembersOf) {
  const tests = matchers.map((matcher) => testOf(matcher, membersOf))
  return [...events]
    .sort((a, b) => a.ts - b.ts || a.seq - b.seq)
    .map((event) => ({ event, matches: tests.flatMap((matches, place) => (matches(event) ? [place] : [])) }))
    .filter(({ matches }) => matches.length > 0)
}

function testOf({ page, label, vendor, event, data }: Matcher, membersOf: MembersOf): (seen: StoredEvent) => boolean {
  const labelled = label === null ? [] : [{ parameter: LABEL, op: 'equals' as const, values: [label] }]
  const passes = compileFilters(resolveLabelConditions([...labelled, ...data], membersOf))
  return (seen) =>
    (page === null || isOn(page, seen.path)) &&
    (vendor === null || seen.vendor === vendor) &&
    (event === null || seen.event === event) &&
    passes(seen)
}

function isOn({ op, path }: NonNullable<Matcher['page']>, seen: string | null): boolean {
  if (seen === null) return false
  if (op === 'contains') return seen.includes(path)
  return op === 'starts_with' ? seen.startsWith(path) : seen === path
}
