import type { WatchedDomain } from '../alerts/types/alert-type.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Instant } from '../core/clock.ts'
import type { ErrorCode } from '../core/error.ts'
import type { Static, TObject } from '../core/schema.ts'
import type { Permission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { ExportOf } from '../http/route.ts'
import type { RowExport } from '../http/row-export.ts'
import type { SeriesScope, Span } from '../signals/series.ts'
import type { SeriesMonitor } from '../signals/series-monitor.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import type { Db } from '../store/database.ts'
import type { History } from '../warehouse/warehouse.ts'

/** A series in one domain. `vendor` is null for all vendors, and `event` is null for all events of the vendor. */
export type Charted = Pick<SeriesScope, 'domainId' | 'vendor' | 'event' | 'stepMs'>

/** The data sources that an insight may read. */
export interface Sources {
  /** The event history. Queries are cancelled when the caller's request is aborted. */
  history: History
  /** Settings and issues of all organizations. Every statement must filter by the caller's organization. */
  db: Db
  /** All domains of the caller's organization. */
  domains(): readonly WatchedDomain[]
  /** Privacy settings of the caller's organization, as required by `maskPersonal` and `compileMask`. */
  privacy(): Privacy
  /**
   * Like `SeriesMonitor.chart`, for the time up to now. Uses the automatic signal settings of the caller's
   * organization.
   */
  chart(series: Charted, range: Span): Promise<SeriesChart>
  seriesMonitor: Pick<SeriesMonitor, 'chart' | 'charts' | 'forHistory' | 'signals' | 'verdicts'>
  /** Returns the time up to which counts are complete. */
  watermark(): Instant
  /** Retention time of events. */
  retentionMs: number
  /** Number of events above which dictionaries, session flows and suggestions are sampled by session. */
  maxEventsRead: number
}

/** The caller and the time of the request. */
export interface Caller {
  principal: Principal
  now: Instant
}

/**
 * A read-only query on the event history. One definition provides the REST route `GET /v1/<path>`, its OpenAPI entry
 * and, unless it opts out, the MCP tool.
 */
export interface Insight<
  I extends TObject = TObject,
  O extends TObject = TObject,
  P extends TObject = TObject<Record<never, never>>,
> {
  /** Unique route id: a verb and a noun in camel case. */
  id: string
  /** Section of the API documentation that contains the insight. Default: `Insights`. */
  tag?: string
  summary: string
  description?: string
  /** Required permission. Default: read access. */
  access?: Exclude<Permission, 'public'>
  /** Path below `/v1`, with a leading slash. Names in braces are path parameters, declared in `params`. */
  path: string
  /** True for a cheap insight. It runs in the same lane as searches, so it does not wait for expensive insights. */
  isQuick?: true
  /** False if assistants don't need the insight; it is then not an MCP tool. */
  isTool?: false
  /** Error codes in addition to those implied by the input. */
  refusals?: readonly ErrorCode[]
  /** Path parameters. */
  params?: P
  /** Query parameters. Default: none. */
  input?: I
  output: O
  /** Name of the list in the response whose items are the rows of an export, or a description of these rows. */
  exports?: ExportOf<O>
  /**
   * Returns the response. `input` contains the path and query parameters. Every query must include the caller's
   * `orgId`, so that no other organization's data is read.
   */
  answer(sources: Sources, input: Static<P> & Static<I>, caller: Caller): Promise<Static<O>>
}

/** Returns the value unchanged and infers its types. */
export function insight<
  O extends TObject,
  I extends TObject = TObject<Record<never, never>>,
  P extends TObject = TObject<Record<never, never>>,
>(value: Insight<I, O, P>): Insight<I, O, P> {
  return value
}

/** Any insight, for use in lists. `answer` only receives input that is valid according to the insight's own schemas. */
export type AnyInsight = Omit<Insight, 'params' | 'input' | 'output' | 'exports' | 'answer'> & {
  params?: TObject
  input?: TObject
  output: TObject
  exports?: string | RowExport
  answer(sources: Sources, input: never, caller: Caller): Promise<Static<TObject>>
}
