import type { Alert } from '../alerts/alert.ts'
import { type EventPosition, type EventWithoutOrg, findEvents } from '../alerts/find-events.ts'
import { maskOf } from '../alerts/finding-samples.ts'
import { compileMask } from '../conditions/mask-personal-data.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { parser } from '../core/schema.ts'
import { EventSchema } from '../insights/event-search.ts'
import { issueKindOf } from '../issues/issue-kinds.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { IssueProblem } from './issue-problem.ts'

/** Maximum number of violating events. */
export const MAX_EVENTS = 20
/** Maximum age of a valid event before the issue's first occurrence. */
const GOOD_BEFORE_MS = 7 * DAY_MS
/** Maximum number of events checked in code if SQL cannot evaluate the filters exactly. */
const MAX_CANDIDATES = 50

/** Sample events, with personal data masked. */
export interface Samples {
  /** Violating events, newest first, at most 20; empty for types without violating events. */
  events: EventWithoutOrg[]
  /** Newest event in `events`, otherwise the sample stored with the last finding. */
  badSample: EventWithoutOrg | null
  /**
   * Newest event that the alert type considers valid. If the type requires it, the event has the vendor, event name and
   * host of the violating event.
   */
  goodSample: EventWithoutOrg | null
}

/** Returns events that violate the rule, and a valid event. */
export async function samplesOf(problem: IssueProblem, history: History): Promise<Samples> {
  const { rule, privacy } = problem
  const found = rule === null ? [] : await violatingEvents(problem, history)
  const bad = found[0] ?? storedSample(problem)
  const good = rule === null ? null : await goodEvent({ ...problem, rule }, bad, history)
  const mask = rule === null ? compileMask([], privacy) : maskOf(rule, privacy)
  const show = (event: EventWithoutOrg | null) => (event === null ? null : mask(event))
  return { events: found.map((event) => mask(event)), badSample: show(bad), goodSample: show(good) }
}

/**
 * Returns a valid event with personal data masked, to compare with the sample from the last finding. Null if there is
 * no such event or the alert's rule is unknown.
 */
export async function goodSampleOf(problem: IssueProblem, history: History): Promise<EventWithoutOrg | null> {
  const { rule, privacy } = problem
  if (rule === null) return null
  const good = await goodEvent({ ...problem, rule }, storedSample(problem), history)
  return good && maskOf(rule, privacy)(good)
}

type Ruled = IssueProblem & { rule: Alert }

async function violatingEvents(problem: IssueProblem, history: History): Promise<EventWithoutOrg[]> {
  const { issue, now, retainedFrom } = problem
  const { violating } = issueKindOf(issue.alertType).evidence
  if (!violating) return []
  const violations = query('evidence.violations', {
    orgId: issue.orgId,
    // Events after the last evaluation also belong to the issue, unless the issue is resolved.
    window: windowOf(issue.firstSeenAt, issue.status === 'resolved' ? issue.lastSeenAt : now, retainedFrom),
    write(binder) {
      const { sql, ...reads } = violating(problem, binder)
      return { ...reads, sql: `SELECT seq, receivedAt FROM events WHERE ${sql} ORDER BY seq DESC LIMIT ${MAX_EVENTS}` }
    },
  })
  return findEvents(issue.orgId, await history.query<EventPosition>(violations), history)
}

/** Returns the stored sample, masked as it was when the issue fired; null if it can't be shown. */
function storedSample({ issue }: IssueProblem): EventWithoutOrg | null {
  const sample = issue.evidence?.sample
  if (!sample) return null
  try {
    return readEvent({ ...sample, violations: [issue.alertId] }) as EventWithoutOrg
  } catch (error) {
    // An event stored by an earlier version may have different fields.
    if (error instanceof AppError) return null
    throw error
  }
}

const readEvent = parser(EventSchema)

/** Searches the last hour first, which usually contains a valid event, because searching weeks is slow. */
async function goodEvent(
  problem: Ruled,
  bad: EventWithoutOrg | null,
  history: History,
): Promise<EventWithoutOrg | null> {
  const { issue, now } = problem
  const like = issueKindOf(issue.alertType).evidence.validMatchesViolating ? bad : null
  let good: EventWithoutOrg | null = null
  for (const from of [now - HOUR_MS, now - DAY_MS, issue.firstSeenAt - GOOD_BEFORE_MS]) {
    good = await goodEventSince(from, problem, like, history)
    if (good && (!like || good.host === like.host)) break
  }
  return good
}

async function goodEventSince(
  from: Instant,
  problem: Ruled,
  like: EventWithoutOrg | null,
  history: History,
): Promise<EventWithoutOrg | null> {
  const { issue, now, retainedFrom } = problem
  const good = issueKindOf(issue.alertType).evidence.valid?.(problem)
  if (!good) return null
  const { where, isValid: isGood } = good
  const newest = query('evidence.good', {
    orgId: issue.orgId,
    window: windowOf(from, now, retainedFrom),
    write(binder) {
      const { sql, keys = [], ...reads } = where(binder)
      const alike = like ? [`vendor = ${binder.bind(like.vendor)}`, `event = ${binder.bind(like.event)}`] : []
      const first = like?.host ? `(host IS NOT DISTINCT FROM ${binder.bind(like.host)}) DESC, ` : ''
      return {
        ...reads,
        sql: `
          SELECT seq, receivedAt FROM events WHERE ${[...alike, sql].join(' AND ')}
          ORDER BY ${first}seq DESC LIMIT ${isGood ? MAX_CANDIDATES : 1}`,
        keys: [...new Set(keys)],
      }
    },
  })
  const events = await findEvents(issue.orgId, await history.query<EventPosition>(newest), history)
  return (isGood ? events.find(isGood) : events[0]) ?? null
}

/** Returns the window from one instant up to and including another. */
function windowOf(from: Instant, through: Instant, retainedFrom: Instant): Query['window'] {
  return { from: Math.max(from, retainedFrom), to: through + 1 }
}
