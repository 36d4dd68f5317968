import type { Instant } from '../../core/clock.ts'
import type { SeriesScope } from '../../signals/series.ts'
import type { Query } from '../../warehouse/query.ts'
import type { Alert, AlertInput, AlertKind } from '../alert.ts'
import type { Finding, Window } from '../finding.ts'
import type { Known } from '../totals.ts'
import type { NewestOptions, Past, PastOptions } from './past.ts'

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
  /** True when what it finds are windows whose count is wrong; otherwise they are single events or sessions. */
  countsFirings: boolean
  /** Throws `AppError('invalid')` naming the field of `input` that this type needs, or has no use for. */
  check(input: DraftAlert): void
  /**
   * What it follows over time, for types that judge a count by its past: their rows come from a `Follower`, they have no
   * `measure`, and are evaluated at every tick. `domains`: all of the organization's.
   */
  series?(alert: Alert, domains: readonly WatchedDomain[]): SeriesScope[]
  /**
   * The stretches of time whose counts decide about a window. Where gaps of our own hide too much of one, the window is
   * not judged. Without it, gaps don't matter.
   */
  counted?(alert: Alert, window: Window): readonly Query['window'][]
  /** Alerts for which this differs are measured apart; without it all are measured together. */
  scanOf?(alert: Alert, window: Window): string
  /**
   * One scan for all of these alerts: at least one, all of this type and of one organization, judged over one window.
   * `domains`: all of the organization's.
   */
  measure?(alerts: readonly Alert[], window: Window, domains: readonly WatchedDomain[]): Query
  /**
   * As `measure`, of alerts that begin at instants of their own: `begins` has one for each, none before the window's.
   * Without it only alerts that begin together are measured together.
   */
  measureApart?(alerts: readonly Alert[], begins: readonly Instant[], window: Window): Query
  /**
   * As `measure`, of one alert for many touching windows at once, and from what the events say instead of what was
   * decided when they came in. Without it `measure` is asked for each window.
   */
  past?(alert: Alert, windows: readonly Window[], options: PastOptions): Past<Row>
  /** Of more events in scope, or more windows times domains, `past` is asked in parts; left out: of any number. */
  pastAtOnce?: { events?: number; rows?: number }
  /** A finding with what is known of its events once they were looked up: which condition they broke, and of how many. */
  explain?(alert: Alert, finding: Finding, known: Known): Finding
  /** Asks for the places (`Place`) of the events that break the rule, newest first. Without it the samples of findings are shown. */
  newest?(alert: Alert, window: Query['window'], options: NewestOptions): Query
  /**
   * What the answer to `measure`, or a follower of its series, says about one alert; no finding means that nothing is
   * wrong.
   */
  judge(alert: Alert, rows: readonly Row[], window: Window, domains: readonly WatchedDomain[]): Finding[]
}

/** A type whose rows come from one query. */
export type MeasuredType<Row = unknown> = AlertType<Row> & Required<Pick<AlertType<Row>, 'measure'>>

/** As the type's `measure`; to be called for types that have one. */
export function measure(type: AlertType, ...asked: Parameters<MeasuredType['measure']>): Query {
  if (!type.measure) throw new Error(`${type.kind} follows series, and has nothing to measure`)
  return type.measure(...asked)
}

/** Makes `build` remember its answer for each array of rows: many alerts are judged by the same one. */
export function perRows<Row, Index>(build: (rows: readonly Row[]) => Index): (rows: readonly Row[]) => Index {
  const built = new WeakMap<readonly Row[], { index: Index }>()
  return (rows) => {
    let known = built.get(rows)
    if (!known) {
      known = { index: build(rows) }
      built.set(rows, known)
    }
    return known.index
  }
}

/** The organization whose alerts these are. */
export function orgOf(alerts: readonly Alert[]): string {
  const orgs = new Set(alerts.map(({ orgId }) => orgId))
  const [orgId] = orgs
  if (orgId === undefined || orgs.size > 1) throw new Error('alerts are measured together for one organization')
  return orgId
}
