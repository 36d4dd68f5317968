import type { Privacy } from '../../conditions/privacy-settings.ts'
import type { StoredEvent } from '../../core/event.ts'
import type { MembersOf } from '../../labels/label.ts'
import type { Binder, Query, Statement } from '../../warehouse/query.ts'
import type { Alert } from '../alert.ts'
import type { Finding } from '../finding.ts'

/** An issue, with the data that its alert type needs to select the evidence. */
export interface EvidenceContext {
  issue: {
    orgId: string
    alertId: string
    domainId: string | null
    /** The most recent finding. */
    evidence: Finding | null
  }
  /**
   * The current alert with resolved labels. Null when the alert was deleted or changed to another type, because its
   * former rule is unknown.
   */
  rule: Alert | null
  privacy: Privacy
  /** Members of the organization's labels. When absent, labels have no members. */
  membersOf?: MembersOf
}

/** The bounds for a count; null where there is no expected value or no such bound. */
export interface Bounds {
  expected: number | null
  low: number | null
  high: number | null
}

export const NO_BOUNDS: Bounds = { expected: null, low: null, high: null }

/** A filter on the rows of a relation: a boolean expression for WHERE, with its values in the given binder. */
export type EventFilter = Pick<Statement, 'sql' | 'keys' | 'wholeParams'>

/** A series that is counted from the event history. */
export interface CountedSeries {
  /** `windows`: the alert's windows. `hours`: hours, or days when there would be too many hours. */
  by: 'windows' | 'hours'
  over: 'counts' | 'events'
  /** Returns the filter on the counted rows, in addition to organization and time. */
  where(binder: Binder): EventFilter
  /** True when each window is compared with the previous window. */
  isRelative?: boolean
  /** Returns the bounds of a window. `before`: number of events in the previous window; null when unknown. */
  boundsOf(before: number | null): Bounds
}

/** Events that comply with the rule. */
export interface ValidEvents {
  where(binder: Binder): EventFilter
  /** Checks an event that `where` selected. Present when SQL alone is not exact. */
  isValid?(event: Omit<StoredEvent, 'orgId'>): boolean
}

/** Sessions that a rule evaluates. They are read in two steps, because SQL alone can't evaluate them. */
interface ComparedSessions {
  /** The query for groups of sessions that the rule treats alike. */
  query: Query
  /**
   * Returns the sessions to compare, from the result of `query`: one row per session, with the columns of an event that
   * represents the session, the session's `weight`, and `violates`. Null if no session violates the rule.
   */
  relationOf(groups: readonly never[]): { window: Query['window']; write(binder: Binder): Statement } | null
}

/**
 * Specifies which events and counts in the history show a violation, and which events are valid. `src/evidence` runs
 * the queries.
 */
export interface Evidence {
  /** Describes the counts in the series, for the documentation: `violating events`. */
  seriesDescription: string
  /**
   * Returns the series that shows the issue over time. `occurrences`: the issue's occurrences by day. Null when the
   * alert's former rule is unknown. Not called for types that monitor a series (`AlertType.series`), whose rows are
   * shown instead.
   */
  series(incident: EvidenceContext): CountedSeries | 'occurrences' | null
  /** Returns the filter for the events that violated the rule. Absent when such events can't be shown. */
  violating?(incident: EvidenceContext, binder: Binder): EventFilter
  /**
   * Returns the filter for all events that the rule evaluates in the issue's domain, violating ones included. Absent
   * when the rule evaluates something other than single events or counts.
   */
  inScope?(incident: EvidenceContext & { rule: Alert }, binder: Binder): EventFilter
  /**
   * Returns the sessions that the rule evaluates in the issue's domain and that ended in the window. Absent when the
   * rule does not evaluate sessions. `oneIn`: one in this many sessions is read and represents all of them.
   */
  sessions?(
    incident: EvidenceContext & { rule: Alert },
    window: Query['window'],
    options: { oneIn: number },
  ): ComparedSessions
  /**
   * True when the valid event must have the same vendor and event as the violating event, and preferably the same host.
   */
  validMatchesViolating: boolean
  /** Returns the filter for valid events; the newest one is shown. */
  valid(incident: EvidenceContext & { rule: Alert }): ValidEvents
}
