import type { Instant } from '../../core/clock.ts'
import type { Query } from '../../warehouse/query.ts'
import type { Alert, AlertInput, AlertKind } from '../alert.ts'
import type { Finding, Window } from '../finding.ts'

/** What a rule may look like before its type has checked it: everything fits the schema but `volume` and `journey`. */
export type DraftAlert = Omit<AlertInput, 'volume' | 'journey'> & { volume?: unknown; journey?: unknown }

/** A domain of the organization whose alerts are evaluated. */
export interface WatchedDomain {
  id: string
  createdAt: Instant
}

/**
 * One kind of alert, in a file of its own and a line in `index.ts`. All of it is pure: what is to be asked of the
 * event history comes back as a query, and what its answer means as findings.
 */
export interface AlertType<Row = unknown> {
  kind: AlertKind
  /** For people. */
  title: string
  /** True when part of a window may be judged, so that trouble shows at once; otherwise windows are judged whole. */
  partial: boolean
  /** Throws `AppError('invalid')` naming the field of `input` that this type needs, or has no use for. */
  check(input: DraftAlert): void
  /**
   * One scan for all of these alerts: at least one, all of this type and of one organization, judged over one window.
   * `domains`: all of the organization's.
   */
  measure(alerts: readonly Alert[], window: Window, domains: readonly WatchedDomain[]): Query
  /** What the answer to `measure` says about one of its alerts; no finding means that nothing is wrong. */
  judge(alert: Alert, rows: readonly Row[], window: Window, domains: readonly WatchedDomain[]): Finding[]
}

/** The organization whose alerts these are. */
export function orgOf(alerts: readonly Alert[]): string {
  const orgs = new Set(alerts.map(({ orgId }) => orgId))
  const [orgId] = orgs
  if (orgId === undefined || orgs.size > 1) throw new Error('alerts are measured together for one organization')
  return orgId
}
