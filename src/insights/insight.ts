import type { WatchedDomain } from '../alerts/types/alert-type.ts'
import type { Privacy } from '../conditions/privacy.ts'
import type { Instant } from '../core/clock.ts'
import type { ErrorCode } from '../core/error.ts'
import type { Static, TObject } from '../core/schema.ts'
import type { Permission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { SeriesScope, Span } from '../signals/series.ts'
import type { SeriesMonitor } from '../signals/series-monitor.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import type { Db } from '../store/database.ts'
import type { History } from '../warehouse/warehouse.ts'

/** A series of a domain: of one vendor, or all when null; of one event of the vendor, or all when null. */
export type Charted = Pick<SeriesScope, 'domainId' | 'vendor' | 'event' | 'stepMs'>

/** The data that an insight may read. */
export interface Sources {
  /** Its queries end when the caller's request is aborted. */
  history: History
  /** Settings and issues of all organizations: every statement must name the caller's. */
  db: Db
  /** All domains of the caller's organization. */
  domains(): readonly WatchedDomain[]
  /** What the caller's organization takes for personal data: for `maskPersonal` and `compileMask`. */
  privacy(): Privacy
  /** As `SeriesMonitor.chart`, with the settings of automatic signals: of the caller's organization, up to now. */
  chart(series: Charted, range: Span): Promise<SeriesChart>
  seriesMonitor: Pick<SeriesMonitor, 'chart' | 'charts' | 'forHistory' | 'signals' | 'verdicts'>
  /** Up to when counts are known. */
  watermark(): Instant
  /** How long events are kept. */
  retentionMs: number
}

/** The caller, and the time of the request. */
export interface Caller {
  principal: Principal
  now: Instant
}

/**
 * A read-only query of the event history. One value defines the REST route `GET /v1/<path>`, its entry in OpenAPI and
 * the tool for assistants.
 */
export interface Insight<
  I extends TObject = TObject,
  O extends TObject = TObject,
  P extends TObject = TObject<Record<never, never>>,
> {
  /** Unique, the route's id: a verb and a noun in camel case. */
  id: string
  /** Heading of its entry in the documentation; default `Insights`. */
  tag?: string
  summary: string
  description?: string
  /** Default: everybody who may read. */
  access?: Exclude<Permission, 'public'>
  /** Path below `/v1`, with its slash; names in braces are in `params`. */
  path: string
  /** True when it looks at little: then it is answered beside search, and never waits for insights that look at much. */
  isQuick?: true
  /** Errors beside those that follow from its input. */
  refusals?: readonly ErrorCode[]
  /** Path parameters. */
  params?: P
  /** Query parameters; none when absent. */
  input?: I
  output: O
  /**
   * Returns the response. `input`: path and query parameters together. Must read the caller's organization only: every
   * query carries its `orgId`.
   */
  answer(sources: Sources, input: Static<P> & Static<I>, caller: Caller): Promise<Static<O>>
}

/** Returns the value unchanged; infers its types. */
export function insight<
  O extends TObject,
  I extends TObject = TObject<Record<never, never>>,
  P extends TObject = TObject<Record<never, never>>,
>(value: Insight<I, O, P>): Insight<I, O, P> {
  return value
}

/** Any insight, for lists; each gets only input that fits its own schemas. */
export type AnyInsight = Omit<Insight, 'params' | 'input' | 'output' | 'answer'> & {
  params?: TObject
  input?: TObject
  output: TObject
  answer(sources: Sources, input: never, caller: Caller): Promise<Static<TObject>>
}
