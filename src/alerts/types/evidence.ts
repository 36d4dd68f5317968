import type { Privacy } from '../../conditions/privacy.ts'
import type { StoredEvent } from '../../core/event.ts'
import type { MembersOf } from '../../labels/label.ts'
import type { Binder, Statement } from '../../warehouse/query.ts'
import type { Alert } from '../alert.ts'
import type { Finding } from '../finding.ts'

/** An issue, with what its alert type needs to choose the evidence. */
export interface EvidenceContext {
  issue: {
    orgId: string
    alertId: string
    domainId: string | null
    /** The last firing. */
    evidence: Finding | null
  }
  /** The current alert, after `resolveLabels`. Null when it was deleted or is of another type now: its former rule is unknown. */
  rule: Alert | null
  privacy: Privacy
  /** Members of the organization's labels; none when absent. */
  membersOf?: MembersOf
}

/** The bounds a count is compared with; null where nothing is expected or there is no such bound. */
export interface Bounds {
  expected: number | null
  low: number | null
  high: number | null
}

export const NO_BOUNDS: Bounds = { expected: null, low: null, high: null }

/** A filter on the rows of a relation: a boolean expression for WHERE, with its values in the given binder. */
export type EventFilter = Pick<Statement, 'sql' | 'keys' | 'wholeParams'>

/** A series that is counted anew from the history. */
export interface CountedSeries {
  /** `windows`: the alert's own; `hours`: hours, or days where hours would be too many. */
  by: 'windows' | 'hours'
  over: 'counts' | 'events'
  /** Returns the filter on what is counted, beside its organization and time. */
  where(binder: Binder): EventFilter
  /** True when each window is compared with the one before it. */
  isRelative?: boolean
  /** Returns the bounds of a window. `before`: whole events in the window before; null when unknown. */
  boundsOf(before: number | null): Bounds
}

/** Events that comply with the rule. */
export interface ValidEvents {
  where(binder: Binder): EventFilter
  /** Decides for an event that `where` let through. Present where SQL alone is not exact. */
  isValid?(event: Omit<StoredEvent, 'orgId'>): boolean
}

/**
 * Describes which events and counts of the history show a violation, and which show the good case. `src/evidence` runs
 * the queries.
 */
export interface Evidence {
  /** What the series counts, for the documentation: `violating events`. */
  seriesDescription: string
  /**
   * Returns the series that shows the issue over time. `occurrences`: the issue's own occurrences by day; null: it is
   * no longer known what was counted. Is not called for types that follow a series (`AlertType.series`); their rows are
   * shown.
   */
  series(incident: EvidenceContext): CountedSeries | 'occurrences' | null
  /** Returns the filter for the events that broke the rule. Absent when no such events can be shown. */
  violating?(incident: EvidenceContext, binder: Binder): EventFilter
  /** True when the good event must have the vendor and event of the bad one, and its host where there is one. */
  validMatchesViolating: boolean
  /** Returns the events of which the newest is shown as the good one. */
  valid(incident: EvidenceContext & { rule: Alert }): ValidEvents
}
