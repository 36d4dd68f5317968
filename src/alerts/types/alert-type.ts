import type { Condition, RuleCheck } from '../../conditions/condition.ts'
import type { Instant } from '../../core/clock.ts'
import type { TSchema } from '../../core/schema.ts'
import type { MembersOf } from '../../labels/label.ts'
import type { SeriesScope } from '../../signals/series.ts'
import type { Query } from '../../warehouse/query.ts'
import type { Alert, AlertInput, AlertKind } from '../alert.ts'
import type { ExplainContext } from '../event-totals.ts'
import type { Finding, Window } from '../finding.ts'
import type { NamedEvents } from './event-scope.ts'
import type { Evidence } from './evidence.ts'
import type { HistoryMeasure, NewestOptions } from './history-query.ts'
import type { IssueMessages } from './issue-messages.ts'

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
  /** Time zone of the organization, for times in summaries. Default: that of the alert. */
  timezone?: string
}

/** The form of an alert of this type: its input, examples and descriptions. */
interface AlertForm {
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
  notes: Readonly<Record<string, string>>
  /** Example input. */
  example: object
  /** Null when the type has no type-specific field. */
  configuration: Configuration | null
  /**
   * Throws `AppError('invalid')` naming a field of `input` that this type requires or does not allow. Called after
   * `input` has passed its schema and the type-specific field has been read. `rule` checks conditions in the
   * type-specific field.
   */
  check(input: AlertInput, rule: RuleCheck): void
}

/**
 * Returns one query for all of these alerts: at least one alert, all of one type and one organization, evaluated over one
 * window. `domains`: all domains of the organization. `membersOf`: returns the members of the organization's
 * labels; without it, labels have no members. The alerts' conditions must have been processed by `resolveLabels`.
 */
type Measure = (
  alerts: readonly Alert[],
  window: Window,
  domains: readonly WatchedDomain[],
  membersOf?: MembersOf,
) => Query

/** The members that all alert types share. */
interface AnyAlertType<Row> {
  kind: AlertKind
  form: AlertForm
  messages: IssueMessages
  evidence: Evidence
  /**
   * Returns the conditions in the type-specific field. Parameters that these conditions test for personal data are
   * masked, as for all conditions.
   */
  ownConditions(alert: Alert): readonly Condition[]
  /**
   * Returns the selection of events that the alert evaluates, ignoring its filters. `finding`: restricts the selection
   * to the events of this finding.
   */
  scope(alert: Alert, finding?: Pick<Finding, 'vendor' | 'event'> | null): NamedEvents
  /**
   * Returns the findings of one alert in a window. `rows`: those of `measure`, or those of a series monitor. An empty
   * list means that there are no violations.
   */
  judge(alert: Alert, rows: readonly Row[], window: Window, domains: readonly WatchedDomain[]): Finding[]
}

/**
 * A type whose rule is evaluated for each event on arrival. The result is stored in the event's `violations`, which
 * `measure` reads. Partial windows are evaluated, so that violations are reported immediately.
 */
export interface ArrivalType<Row = unknown> extends AnyAlertType<Row> {
  evaluated: 'on arrival'
  measure: Measure
  /**
   * Like `measure`, for alerts whose evaluation begins at different instants: `begins` has one instant per alert, at or
   * after the window's start.
   */
  measureSince(alerts: readonly Alert[], begins: readonly Instant[], window: Window): Query
  history: HistoryMeasure<Row>
  /** Returns a query for the positions (`BatchPosition`) of the events that violate the rule, newest first. */
  newestViolations(alert: Alert, window: Query['window'], options: NewestOptions): Query
  /** Returns the finding with details from its events: the violated condition, and the total number of events. */
  explain(alert: Alert, finding: Finding, known: ExplainContext): Finding
}

/** A type whose rows for a window come from one query. */
export interface WindowType<Row = unknown> extends AnyAlertType<Row> {
  evaluated: 'by window'
  /** True when partial windows are evaluated; otherwise only whole windows are. */
  partial: boolean
  /** Delay between the last event and its evaluation, such as the time after which a session ends. */
  settlingMs: number
  /**
   * Returns the time ranges whose counts determine the verdict on a window. When collection gaps cover too much of a
   * range, or a range contains imported events, the window is not evaluated. Null when gaps are ignored.
   */
  countedRanges(alert: Alert, window: Window): readonly Query['window'][] | null
  /** Returns a grouping key: alerts with different keys are measured by separate queries. */
  scanKey(alert: Alert, window: Window): string
  measure: Measure
  history: HistoryMeasure<Row>
}

/** A type that compares counts with their own history. Its rows come from a `SeriesMonitor`, at every tick. */
export interface SeriesType<Row = unknown> extends AnyAlertType<Row> {
  evaluated: 'along a series'
  /** Returns the series that the alert monitors. `domains`: all domains of the organization. */
  series(alert: Alert, domains: readonly WatchedDomain[]): SeriesScope[]
  /** Returns the sensitivity in deviations. */
  sensitivityOf(alert: Alert): number
}

/** A type whose rows come from queries. */
export type MeasuredType<Row = unknown> = ArrivalType<Row> | WindowType<Row>

/**
 * An alert type: its form, messages, evidence, queries and findings. Each type has its own file or folder, and is listed
 * in `index.ts`. All functions are pure: they return queries for the event history, and convert the rows of a query into
 * findings.
 */
export type AlertType<Row = unknown> = MeasuredType<Row> | SeriesType<Row>

/** True when the type evaluates partial windows. */
export function isPartial(type: AlertType): boolean {
  return type.evaluated !== 'by window' || type.partial
}

/** Returns the ranges of `WindowType.countedRanges`; null for other types. */
export function countedRangesOf(type: AlertType, alert: Alert, window: Window): readonly Query['window'][] | null {
  return type.evaluated === 'by window' ? type.countedRanges(alert, window) : null
}

/** Returns the key of `WindowType.scanKey`; alerts of other types are all measured together. */
export function scanKeyOf(type: AlertType, alert: Alert, window: Window): string {
  return type.evaluated === 'by window' ? type.scanKey(alert, window) : ''
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
