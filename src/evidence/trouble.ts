import type { Alert } from '../alerts/alert.ts'
import type { Incident } from '../alerts/types/evidence.ts'
import type { Instant } from '../core/clock.ts'
import type { IssueDetail, IssueRecord } from '../issues/issue.ts'
import type { SeriesScope } from '../signals/series.ts'

/** An issue, and what is needed to look for its traces in the event history. */
export interface Trouble extends Incident {
  issue: IssueRecord
  /** How often on which day, as the issue itself has it. */
  occurrences: IssueDetail['occurrenceSeries']
  /**
   * The alert as it is now. Null when it is gone or has become one of another type: then nobody knows any more which
   * events were in scope, and which of their values the rule called personal.
   */
  rule: Alert | null
  /** The series in which the rule found an anomaly; null for other types, and without a rule. */
  followed: SeriesScope | null
  /** When the issue's domain was made; 0 when it is gone or none is meant. */
  domainSince: Instant
  now: Instant
  /** Events received before this are no longer kept. */
  keptFrom: Instant
}
