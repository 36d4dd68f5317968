import type { Alert } from '../alerts/alert.ts'
import type { Incident } from '../alerts/types/evidence.ts'
import type { Instant } from '../core/clock.ts'
import type { IssueDetail, IssueRecord } from '../issues/issue.ts'
import type { SeriesScope } from '../signals/series.ts'

/** An issue, with what is needed to find its events in the history. */
export interface Trouble extends Incident {
  issue: IssueRecord
  /** The issue's own occurrences by day. */
  occurrences: IssueDetail['occurrenceSeries']
  /**
   * The current alert. Null when it was deleted or is of another type now: it is then unknown which events were in
   * scope, and which of their values the rule treated as personal.
   */
  rule: Alert | null
  /** The series in which the rule found an anomaly; null for other types, and without a rule. */
  followed: SeriesScope | null
  /** When the issue's domain was created; 0 when it was deleted or the issue has none. */
  domainSince: Instant
  now: Instant
  /** Events received before this are no longer stored. */
  keptFrom: Instant
}
