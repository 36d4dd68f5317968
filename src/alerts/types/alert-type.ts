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

/** The type-specific configuration: one required field of the alert. */
export interface Configuration {
  /** The field's name. Types may share a field name, each with its own shape. */
  field: string
  /** A part of `AlertInput`, with a description and examples. */
  schema: TSchema
  /**
   * Returns the value at `path` in the shape of the schema, or throws `AppError('invalid')` naming the first invalid
   * field.
   */
  read(value: unknown, path: string): unknown
  /** Introduces the field's description when types share the field: `Firing condition`. */
  about?: string
}

/** A domain of the organization whose alerts are evaluated. */
export interface WatchedDomain {
  id: string
  createdAt: Instant
}

/**
 * An alert type: its configuration, queries, findings, texts and evidence. Each type has its own file or folder, and is
 * listed in `index.ts`. All functions are pure: they return queries for the event history, and convert the rows of a
 * query into findings.
 */
export interface AlertType<Row = unknown> {
  kind: AlertKind
  /** The name shown to users. */
  title: string
  /**
   * For the documentation: the data that the type evaluates and the field that configures it, such as ``single events
   * by `conditions` ``.
   */
  judges: string
  /**
   * The type's row in the guide (`docs/use/alerts.md`), in Markdown: when an alert fires, and which fields it requires.
   */
  guide: { fires: string; needs: string }
  /** Type-specific notes that are appended to the descriptions of shared fields, by field name. */
  notes?: Readonly<Record<string, string>>
  /** Example input. */
  example: object
  /** Absent when the type has no type-specific field. */
  configuration?: Configuration
  unit: Unit
  text: AlertText
  evidence: Evidence
  /**
   * True when partial windows are evaluated, so that violations are reported immediately; otherwise only whole windows
   * are evaluated.
   */
  partial: boolean
  /**
   * True when a finding is about a window with an unexpected count; false when it is about single events or sessions.
   */
  countsFirings: boolean
  /**
   * True when the rule is evaluated for each event on arrival, and the result is stored in the event's `violations`.
   */
  judgedOnArrival?: boolean
  /**
   * True when issues without a subject are about all traffic of their domain. Such an issue explains the drops of
   * single signals.
   */
  explainsDrops?: boolean
  /**
   * Throws `AppError('invalid')` naming a field of `input` that this type requires or does not allow. Called after
   * `input` has passed its schema and the type-specific field has been read. `rule` checks conditions in the
   * type-specific field.
   */
  check(input: AlertInput, rule: RuleCheck): void
  /**
   * Returns the conditions in the type-specific field. Parameters that these conditions test for personal data are
   * masked, as for all conditions.
   */
  ownConditions?(alert: Alert): readonly Condition[]
  /**
   * Returns the selection of events that the alert evaluates, ignoring its filters. `finding`: restricts the selection
   * to the events of this finding.
   */
  scope(alert: Alert, finding?: Pick<Finding, 'vendor' | 'event'> | null): NamedEvents
  /**
   * True when the alert fires on counts that are too high. When absent, a finding is a rise if more was observed than
   * expected.
   */
  isRise?(alert: Alert): boolean
  /** Returns the sensitivity in deviations. Defined only for types that monitor series. */
  sensitivityOf?(alert: Alert): number
  /**
   * Returns the series that the alert monitors, for types that compare a count with its own history. Rows for such
   * types come from a `SeriesMonitor`; the types have no `measure`, and are evaluated at every tick. `domains`: all
   * domains of the organization.
   */
  series?(alert: Alert, domains: readonly WatchedDomain[]): SeriesScope[]
  /** Delay between the last event and its evaluation, such as the time after which a session ends; 0 when absent. */
  settlingMs?: number
  /**
   * Returns the time ranges whose counts determine the verdict on a window. When collection gaps cover too much of a
   * range, the window is not evaluated. When absent, gaps are ignored.
   */
  countedRanges?(alert: Alert, window: Window): readonly Query['window'][]
  /**
   * Returns a grouping key: alerts with different keys are measured by separate queries. When absent, all alerts are
   * measured together.
   */
  scanKey?(alert: Alert, window: Window): string
  /**
   * Returns one query for all of these alerts: at least one alert, all of this type and of one organization, evaluated
   * over one window. `domains`: all domains of the organization. `membersOf`: members of its labels; labels have no
   * members when absent. The alerts' conditions must have been processed by `resolveLabels`.
   */
  measure?(alerts: readonly Alert[], window: Window, domains: readonly WatchedDomain[], membersOf?: MembersOf): Query
  /**
   * Like `measure`, for alerts whose evaluation begins at different instants: `begins` has one instant per alert, at or
   * after the window's start. When absent, only alerts that begin together are measured together.
   */
  measureSince?(alerts: readonly Alert[], begins: readonly Instant[], window: Window): Query
  /**
   * Like `measure`, for one alert and many adjacent windows at once. Evaluates the rule on the stored events instead of
   * reading the `violations` stored on arrival. When absent, `measure` is called for each window.
   */
  historyQuery?(
    alert: Alert,
    windows: readonly Window[],
    options: HistoryOptions,
    membersOf?: MembersOf,
  ): HistoryQuery<Row>
  /**
   * Limits per history query: events in scope, and windows times domains. Larger requests are split. An absent limit
   * means unlimited.
   */
  historyLimits?: { events?: number; rows?: number }
  /** Returns the finding with details from its events: the violated condition, and the total number of events. */
  explain?(alert: Alert, finding: Finding, known: ExplainContext): Finding
  /**
   * Returns the summary of a finding that `explain` completed and whose numbers were summed over several parts of a
   * window. When absent, the summary of the latest part is used.
   */
  summarize?(finding: Finding): string
  /**
   * Returns a query for the positions (`BatchPosition`) of the events that violate the rule, newest first. When absent,
   * the samples of findings are shown.
   */
  newestViolations?(alert: Alert, window: Query['window'], options: NewestOptions): Query
  /**
   * Returns the findings of one alert from the rows of `measure`, or from the rows of a series monitor. An empty list
   * means that there are no violations.
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

/** Returns `build` with its results cached by array of rows, because many alerts are evaluated on the same array. */
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

/**
 * Returns the organization of these alerts. Throws when there is no alert, or when the alerts belong to different
 * organizations.
 */
export function organizationOf(alerts: readonly Alert[]): string {
  const orgs = new Set(alerts.map(({ orgId }) => orgId))
  const [orgId] = orgs
  if (orgId === undefined || orgs.size > 1) throw new Error('alerts measured together must belong to one organization')
  return orgId
}
