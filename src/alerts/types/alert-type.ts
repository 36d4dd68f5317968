import type { Condition } from '../../conditions/condition.ts'
import type { Instant } from '../../core/clock.ts'
import type { TSchema } from '../../core/schema.ts'
import type { SeriesScope } from '../../signals/series.ts'
import type { Query } from '../../warehouse/query.ts'
import type { Alert, AlertInput, AlertKind } from '../alert.ts'
import type { Finding, Window } from '../finding.ts'
import type { Known } from '../totals.ts'
import type { Evidence } from './evidence.ts'
import type { NewestOptions, Past, PastOptions } from './past.ts'
import type { NamedEvents } from './scope.ts'
import type { Unit, Words } from './words.ts'

/** What an alert of a type has beside what all alerts have: one field, required. */
export interface Configuration {
  /** Its name. Types may share one; then each has a shape of its own there. */
  field: string
  /** With description and examples: it is a part of `AlertInput`. */
  schema: TSchema
  /** The value at `path` as the schema has it, or `AppError('invalid')` naming the first field that does not fit. */
  read(value: unknown, path: string): unknown
  /** What the field is about, where types share it: `Which count is wrong`. */
  about?: string
}

/** A domain of the organization whose alerts are evaluated. */
export interface WatchedDomain {
  id: string
  createdAt: Instant
}

/**
 * All there is to one type of alert, in a file or folder of its own and a line in `index.ts`: its shape, what it asks and
 * finds, its words, its evidence. All of it is pure: what is to be asked of the event history comes back as a query, and
 * what its answer means as findings.
 */
export interface AlertType<Row = unknown> {
  kind: AlertKind
  /** For people. */
  title: string
  /** For the documentation, what it looks at and by which field: ``single events by `conditions` ``. */
  looksAt: string
  /** Its row in the guide (`docs/alerts.md`): when it fires, and what an alert of it can't do without. Markdown. */
  guide: { fires: string; needs: string }
  /** What is to be known of fields that all alerts have, to stand behind their description; by name of the field. */
  notes?: Readonly<Record<string, string>>
  /** An alert of it, as it is made. */
  example: object
  /** Absent: it has nothing of its own. */
  configuration?: Configuration
  unit: Unit
  words: Words
  evidence: Evidence
  /** True when part of a window may be judged, so that trouble shows at once; otherwise windows are judged whole. */
  partial: boolean
  /** True when what it finds are windows whose count is wrong; otherwise they are single events or sessions. */
  countsFirings: boolean
  /** True when its rule is decided for each event that comes in, and stands in the event's `violations`. */
  atTheDoor?: boolean
  /** True when an issue of it without a subject is about the whole traffic of its domain, which explains falls of others. */
  explainsFalls?: boolean
  /**
   * Throws `AppError('invalid')` naming the field of `input` that this type needs, or has no use for. Everything fits its
   * schema, and its own field is there.
   */
  check(input: AlertInput): void
  /** Conditions in its own field. What these call personal is masked, as of all conditions. */
  ownConditions?(alert: Alert): readonly Condition[]
  /** Which events it looks at, whatever its filters say. `finding`: only those that this one is about. */
  scope(alert: Alert, finding?: Pick<Finding, 'vendor' | 'event'> | null): NamedEvents
  /** Which way is wrong: true when it fires on more. Without it a finding that observed more than was expected is a rise. */
  isRise?(alert: Alert): boolean
  /** Of a type that follows series: how sensitive it is, in deviations. */
  sensitivityOf?(alert: Alert): number
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
