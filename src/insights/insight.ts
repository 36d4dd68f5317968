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

/** Data that an insight may read. */
export interface Sources {
  /** Its queries end when the caller's request is aborted. */
  history: History
  /** Settings and issues of all organizations: every statement must name the caller's. */
  db: Db
  /** All domains of the caller's organization. */
  domains(): readonly WatchedDomain[]
  /** Privacy settings of the caller's organization, for `maskPersonal` and `compileMask`. */
  privacy(): Privacy
  /** Like `SeriesMonitor.chart`, with the settings of automatic signals of the caller's organization, up to now. */
  chart(series: Charted, range: Span): Promise<SeriesChart>
  seriesMonitor: Pick<SeriesMonitor, 'chart' | 'charts' | 'forHistory' | 'signals' | 'verdicts'>
  /** Time up to which counts are known. */
  watermark(): Instant
  /** Retention time of events. */
  retentionMs: number
}

/** The caller, and the time of the request. */
export interface Caller {
  principal: Principal
  now: Instant
}

/**
 * A read-only query of the event history. One value defines the REST route `GET /v1/<path>`, its entry in OpenAPI and
 * the MCP tool.
 */
export interface Insight<
  I extends TObject = TObject,
  O extends TObject = TObject,
  P extends TObject = TObject<Record<never, never>>,
> {
  /** Unique route id: a verb and a noun in camel case. */
  id: string
  /** Heading of its entry in the documentation; default `Insights`. */
  tag?: string
  summary: string
  description?: string
  /** Default: everyone who may read. */
  access?: Exclude<Permission, 'public'>
  /** Path below `/v1`, with a leading slash; names in braces are in `params`. */
  path: string
  /** True for a cheap insight, which is answered in the lane of searches and never waits for expensive ones. */
  isQuick?: true
  /** Errors in addition to those that follow from its input. */
  refusals?: readonly ErrorCode[]
  /** Path parameters. */
  params?: P
  /** Query parameters; absent: none. */
  input?: I
  output: O
  /**
   * Returns the response. `input`: path and query parameters together. Must read only the caller's organization: every
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

/** Any insight, for lists; each receives only input that matches its own schemas. */
export type AnyInsight = Omit<Insight, 'params' | 'input' | 'output' | 'answer'> & {
  params?: TObject
  input?: TObject
  output: TObject
  answer(sources: Sources, input: never, caller: Caller): Promise<Static<TObject>>
}
