import type { PhoneRegions } from '../../conditions/phone.ts'
import type { StoredEvent } from '../../core/event.ts'
import type { Binder, Statement } from '../../warehouse/query.ts'
import type { Alert } from '../alert.ts'
import type { Finding } from '../finding.ts'

/** An issue, and what a type of alert needs to know to say what is to be looked for. */
export interface Incident {
  issue: {
    orgId: string
    alertId: string
    domainId: string | null
    /** The last firing. */
    evidence: Finding | null
  }
  /** The alert as it is now. Null when it is gone or has become one of another type: its rule is not known any more. */
  rule: Alert | null
  /** Countries whose national phone numbers count. */
  regions: PhoneRegions
}

/** What a count is held against; null where nothing is expected or there is no such limit. */
export interface Bounds {
  expected: number | null
  low: number | null
  high: number | null
}

export const NO_BOUNDS: Bounds = { expected: null, low: null, high: null }

/** Rows of a relation: a boolean expression to stand behind WHERE, its values in the binder that was given. */
export type Tests = Pick<Statement, 'sql' | 'keys' | 'wholeParams'>

/** A series that is counted anew. */
export interface CountedSeries {
  /** `windows`: those of the alert; `hours`: where it would be too many of these, days. */
  by: 'windows' | 'hours'
  over: 'counts' | 'events'
  /** What is counted, beside its organization and time. */
  where(binder: Binder): Tests
  /** True when each window is held against the one before it. */
  isRelative?: boolean
  /** `before`: whole events in the window before; null where that is not known. */
  boundsOf(before: number | null): Bounds
}

/** Events as they should be. */
export interface GoodEvents {
  where(binder: Binder): Tests
  /** Where SQL can't tell: decides it for an event that `where` let through. */
  isGood?(event: Omit<StoredEvent, 'orgId'>): boolean
}

/** What of the event history shows the trouble, and what it would look like without: descriptions, carried out by others. */
export interface Evidence {
  /** What is counted in the series, for the documentation: `violating events`. */
  counted: string
  /**
   * How the trouble went over time. `occurrences`: by the day, as the issue itself has it; null: nobody knows any more what
   * was counted. Not asked of a type whose alert follows a series (`AlertType.series`): its rows are shown.
   */
  series(incident: Incident): CountedSeries | 'occurrences' | null
  /** The events that broke the rule; absent: there are none to be shown. */
  violating?(incident: Incident, binder: Binder): Tests
  /** True when the good event is to be of the same vendor and event as the bad one, and of its host where there is one. */
  isGoodAlike: boolean
  /** The events of which the newest is shown as the good one. */
  good(incident: Incident & { rule: Alert }): GoodEvents
}
