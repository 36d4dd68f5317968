import type { Condition, RuleCheck } from '../../conditions/condition.ts'
import type { Instant } from '../../core/clock.ts'
import type { TSchema } from '../../core/schema.ts'
import type { MembersOf } from '../../labels/label.ts'
import type { SeriesScope } from '../../signals/series.ts'
import type { Query } from '../../warehouse/query.ts'
import type { Alert, AlertInput, AlertKind } from '../alert.ts'
import type { ExplainContext } from '../event-totals.ts'
import type { Finding, Window } from '../finding.ts'
import type { AlertText, Unit } from './alert-text.ts'
import type { NamedEvents } from './event-scope.ts'
import type { Evidence } from './evidence.ts'
import type { HistoryOptions, HistoryQuery, NewestOptions } from './history-query.ts'

/** The configuration that only alerts of one type have: one required field of the alert. */
export interface Configuration {
  /** The field's name. Types may share one; each type then has its own shape of it. */
  field: string
  /** A part of `AlertInput`, with description and examples. */
  schema: TSchema
  /**
   * Returns the value at `path` in the shape of the schema, or throws `AppError('invalid')` naming the first field that
   * does not fit.
   */
  read(value: unknown, path: string): unknown
  /** Introduces the description of the field when types share it: `Which counts fire`. */
  about?: string
}

/** A domain of the organization whose alerts are evaluated. */
export interface WatchedDomain {
  id: string
  createdAt: Instant
}

/**
 * An alert type: its configuration, queries, findings, texts and evidence. Each type has its own file or folder, and is
 * listed in `index.ts`. All functions are pure: they return queries for the event history, and turn the rows of a query
 * into findings.
 */
export interface AlertType<Row = unknown> {
  kind: AlertKind
  /** The name that users see. */
  title: string
  /** For the documentation: what the type judges and by which field, such as ``single events by `conditions` ``. */
  judges: string
  /** Its row in the guide (`docs/use/alerts.md`), Markdown: when it fires, and which fields an alert of it requires. */
  guide: { fires: string; needs: string }
  /** Type-specific notes that are appended to the descriptions of shared fields; keyed by field name. */
  notes?: Readonly<Record<string, string>>
  /** Example input. */
  example: object
  /** Absent when the type has no type-specific field. */
  configuration?: Configuration
  unit: Unit
  text: AlertText
  evidence: Evidence
  /**
   * True when part of a window may be judged, so that violations are reported at once; otherwise only whole windows are
   * judged.
   */
  partial: boolean
  /** True when a finding is a window whose count is wrong; false when a finding is about single events or sessions. */
  countsFirings: boolean
  /**
   * True when the rule is evaluated for each event as it arrives, and the result is stored in the event's `violations`.
   */
  judgedOnArrival?: boolean
  /**
   * True when its issues without a subject are about all traffic of their domain. Such an issue explains the drops of
   * single signals.
   */
  explainsDrops?: boolean
  /**
   * Throws `AppError('invalid')` naming a field of `input` that this type requires or does not allow. Called after `input`
   * passed its schema and the type-specific field was read. `rule` checks conditions in the type-specific field.
   */
  check(input: AlertInput, rule: RuleCheck): void
  /**
   * Returns the conditions in the type-specific field. Parameters that they test for personal data are masked, as for all
   * conditions.
   */
  ownConditions?(alert: Alert): readonly Condition[]
  /**
   * Returns which events the alert evaluates, ignoring its filters. `finding`: only the events that the finding is about.
   */
  scope(alert: Alert, finding?: Pick<Finding, 'vendor' | 'event'> | null): NamedEvents
  /**
   * True when the alert fires on counts that are too high. When absent, a finding with more observed than expected is a
   * rise.
   */
  isRise?(alert: Alert): boolean
  /** Returns the sensitivity in deviations. Only for types that monitor series. */
  sensitivityOf?(alert: Alert): number
  /**
   * Returns the series that the alert follows, for types that judge a count by its past. Their rows come from a
   * `SeriesMonitor`, they have no `measure`, and are evaluated at every tick. `domains`: all of the organization's.
   */
  series?(alert: Alert, domains: readonly WatchedDomain[]): SeriesScope[]
  /** Delay between the last event and its evaluation, such as the time after which a session has ended; 0 when absent. */
  settlingMs?: number
  /**
   * Returns the time ranges whose counts determine the verdict on a window. When collection gaps cover too much of one,
   * the window is not judged. When absent, gaps are ignored.
   */
  countedRanges?(alert: Alert, window: Window): readonly Query['window'][]
  /**
   * Returns a grouping key: alerts with different keys are measured by separate queries. When absent, all are measured
   * together.
   */
  scanKey?(alert: Alert, window: Window): string
  /**
   * Returns one query for all of these alerts: at least one, all of this type and of one organization, judged over one
   * window. `domains`: all domains of the organization. `membersOf`: members of its labels; none when absent. Conditions of the alerts
   * have been through `resolveLabels`.
   */
  measure?(alerts: readonly Alert[], window: Window, domains: readonly WatchedDomain[], membersOf?: MembersOf): Query
  /**
   * As `measure`, for alerts that begin at different instants: `begins` has one instant per alert, not before the window's
   * start. When absent, only alerts that begin together are measured together.
   */
  measureSince?(alerts: readonly Alert[], begins: readonly Instant[], window: Window): Query
  /**
   * As `measure`, for one alert and many adjacent windows at once. Evaluates the rule on the stored events instead of
   * reading the `violations` that were stored when they arrived. When absent, `measure` is called for each window.
   */
  historyQuery?(
    alert: Alert,
    windows: readonly Window[],
    options: HistoryOptions,
    membersOf?: MembersOf,
  ): HistoryQuery<Row>
  /**
   * Limits of one `past` query: events in scope, and windows times domains. Larger requests are split; an absent limit
   * is no limit.
   */
  historyLimits?: { events?: number; rows?: number }
  /**
   * Returns the finding completed from its events: which condition they broke, and out of how many events.
   */
  explain?(alert: Alert, finding: Finding, known: ExplainContext): Finding
  /**
   * Returns the summary of a finding that `explain` completed, and whose figures were added up from several parts of a
   * window. When absent, the summary of the latest part is kept.
   */
  summarize?(finding: Finding): string
  /**
   * Returns a query for the places (`BatchPosition`) of the events that break the rule, newest first. When absent, the samples
   * of findings are shown.
   */
  newestViolations?(alert: Alert, window: Query['window'], options: NewestOptions): Query
  /**
   * Returns the findings of one alert from the rows of `measure`, or of a seriesMonitor of its series; an empty list means
   * that nothing is wrong.
   */
  judge(alert: Alert, rows: readonly Row[], window: Window, domains: readonly WatchedDomain[]): Finding[]
}

/** A type whose rows come from one query. */
export type MeasuredType<Row = unknown> = AlertType<Row> & Required<Pick<AlertType<Row>, 'measure'>>

/** Calls the type's `measure`. Throws for types that have none. */
export function measure(type: AlertType, ...args: Parameters<MeasuredType['measure']>): Query {
  if (!type.measure) throw new Error(`${type.kind} monitors series and has no query`)
  return type.measure(...args)
}

/** Returns `build` with results cached by array of rows, because many alerts are judged with the same array. */
export function cachedByRows<Row, Index>(build: (rows: readonly Row[]) => Index): (rows: readonly Row[]) => Index {
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

/** Returns the one organization of these alerts. Throws when there is no alert or more than one organization. */
export function organizationOf(alerts: readonly Alert[]): string {
  const orgs = new Set(alerts.map(({ orgId }) => orgId))
  const [orgId] = orgs
  if (orgId === undefined || orgs.size > 1) throw new Error('alerts are measured together for one organization')
  return orgId
}
