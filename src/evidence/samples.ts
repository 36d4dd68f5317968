import type { Alert } from '../alerts/alert.ts'
import { type EventPosition, type EventWithoutOrg, findEvents } from '../alerts/find-events.ts'
import { maskOf } from '../alerts/finding-samples.ts'
import { compileMask } from '../conditions/mask.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { parser } from '../core/schema.ts'
import { EventSchema } from '../insights/event-search.ts'
import { issueKindOf } from '../issues/kinds.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Problem } from './problem.ts'

/** The most violating events that are shown. */
export const MAX_EVENTS = 20
/** A good event may be this much older than the issue's first occurrence. */
const GOOD_BEFORE_MS = 7 * DAY_MS
/** The most events that are checked in code where SQL can't evaluate the filters exactly. */
const MAX_CANDIDATES = 50

/** Sample events, with personal data masked. */
export interface Samples {
  /** Violating events, newest first, at most 20; none for types without any. */
  events: EventWithoutOrg[]
  /** The newest of `events`, else the stored sample of the last firing. */
  badSample: EventWithoutOrg | null
  /**
   * The newest event that the type calls good; where it requires that, of the same vendor and event as the bad one, and
   * of its host where there is one.
   */
  goodSample: EventWithoutOrg | null
}

/** Returns events that violate the rule, and one that complies. */
export async function samplesOf(trouble: Problem, history: History): Promise<Samples> {
  const { rule, privacy } = trouble
  const found = rule === null ? [] : await violatingEvents(trouble, history)
  const bad = found[0] ?? keptSample(trouble)
  const good = rule === null ? null : await goodEvent({ ...trouble, rule }, bad, history)
  const mask = rule === null ? compileMask([], privacy) : maskOf(rule, privacy)
  const show = (event: EventWithoutOrg | null) => (event === null ? null : mask(event))
  return { events: found.map((event) => mask(event)), badSample: show(bad), goodSample: show(good) }
}

/**
 * Returns an event that complies, masked, to be held against the sample of the last firing. Null when there is none, and when
 * the alert's rule is not known any more.
 */
export async function goodSampleOf(trouble: Problem, history: History): Promise<EventWithoutOrg | null> {
  const { rule, privacy } = trouble
  if (rule === null) return null
  const good = await goodEvent({ ...trouble, rule }, keptSample(trouble), history)
  return good && maskOf(rule, privacy)(good)
}

type Ruled = Problem & { rule: Alert }

async function violatingEvents(trouble: Problem, history: History): Promise<EventWithoutOrg[]> {
  const { issue, now, keptFrom } = trouble
  const { violating } = issueKindOf(issue.alertType).evidence
  if (!violating) return []
  const violations = query('evidence.violations', {
    orgId: issue.orgId,
    // Events after the last evaluation belong to the issue as well, unless it is resolved.
    window: windowOf(issue.firstSeenAt, issue.status === 'resolved' ? issue.lastSeenAt : now, keptFrom),
    write(binder) {
      const { sql, ...reads } = violating(trouble, binder)
      return { ...reads, sql: `SELECT seq, receivedAt FROM events WHERE ${sql} ORDER BY seq DESC LIMIT ${MAX_EVENTS}` }
    },
  })
  return findEvents(issue.orgId, await history.query<EventPosition>(violations), history)
}

/** Returns the sample as it was masked when the issue fired; null when there is none that can be shown. */
function keptSample({ issue }: Problem): EventWithoutOrg | null {
  const sample = issue.evidence?.sample
  if (!sample) return null
  try {
    return readEvent({ ...sample, violations: [issue.alertId] }) as EventWithoutOrg
  } catch (error) {
    // An event stored by an earlier version may have other fields.
    if (error instanceof AppError) return null
    throw error
  }
}

const readEvent = parser(EventSchema)

/** Searches the last hour first: it mostly contains one, and searching weeks of events takes long. */
async function goodEvent(
  trouble: Ruled,
  bad: EventWithoutOrg | null,
  history: History,
): Promise<EventWithoutOrg | null> {
  const { issue, now } = trouble
  const like = issueKindOf(issue.alertType).evidence.validMatchesViolating ? bad : null
  let good: EventWithoutOrg | null = null
  for (const from of [now - HOUR_MS, now - DAY_MS, issue.firstSeenAt - GOOD_BEFORE_MS]) {
    good = await goodEventSince(from, trouble, like, history)
    if (good && (!like || good.host === like.host)) break
  }
  return good
}

async function goodEventSince(
  from: Instant,
  trouble: Ruled,
  like: EventWithoutOrg | null,
  history: History,
): Promise<EventWithoutOrg | null> {
  const { issue, now, keptFrom } = trouble
  const good = issueKindOf(issue.alertType).evidence.valid?.(trouble)
  if (!good) return null
  const { where, isValid: isGood } = good
  const newest = query('evidence.good', {
    orgId: issue.orgId,
    window: windowOf(from, now, keptFrom),
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

/** Returns the window from an instant through another, including that millisecond. */
function windowOf(from: Instant, through: Instant, keptFrom: Instant): Query['window'] {
  return { from: Math.max(from, keptFrom), to: through + 1 }
}
