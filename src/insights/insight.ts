import type { WatchedDomain } from '../alerts/types/alert-type.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import type { Instant } from '../core/clock.ts'
import type { ErrorCode } from '../core/error.ts'
import type { Static, TObject } from '../core/schema.ts'
import type { Permission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { Follower } from '../signals/follower.ts'
import type { SeriesScope, Span } from '../signals/series.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import type { Db } from '../store/database.ts'
import type { History } from '../warehouse/warehouse.ts'

/** A series of a domain: of a vendor of it, or of all where that is null; of one event, or of all of the vendor. */
export type Charted = Pick<SeriesScope, 'domainId' | 'vendor' | 'event' | 'stepMs'>

/** What an insight may ask. */
export interface Sources {
  /** Its queries end when the caller's request is aborted. */
  history: History
  /** Settings and issues, which know of all organizations: every statement names the caller's. */
  db: Db
  /** All domains of the caller's organization. */
  domains(): readonly WatchedDomain[]
  /** Countries whose national phone numbers the caller's organization looks for. */
  regions(): PhoneRegions
  /** As `Follower.chart`, as automatic signals see it: of the caller's organization, up to now. */
  chart(series: Charted, range: Span): Promise<SeriesChart>
  follower: Pick<Follower, 'chart' | 'charts' | 'signals' | 'verdicts'>
  /** Up to when counts are known. */
  watermark(): Instant
  /** How long events are kept. */
  retentionMs: number
}

/** Who asks, and when. */
export interface Caller {
  principal: Principal
  now: Instant
}

/**
 * A question to the event history. One value gives the REST route `GET /v1/<path>`, its entry in OpenAPI and
 * the tool for assistants.
 */
export interface Insight<
  I extends TObject = TObject,
  O extends TObject = TObject,
  P extends TObject = TObject<Record<never, never>>,
> {
  /** Unique, a verb and a noun in camel case: the route's. */
  id: string
  /** Heads its entry in the documentation; default `Insights`. */
  tag?: string
  summary: string
  description?: string
  /** Default: whoever may read. */
  access?: Exclude<Permission, 'public'>
  /** Below `/v1`, with its slash; with names in braces where it has `params`. */
  path: string
  /** What it refuses beside what follows from its input. */
  refusals?: readonly ErrorCode[]
  /** What stands in the path. */
  params?: P
  /** What stands in the query; nothing when absent. */
  input?: I
  output: O
  /** `input`: of path and query together. Sees only the caller's organization: every query carries its `orgId`. */
  answer(sources: Sources, input: Static<P> & Static<I>, caller: Caller): Promise<Static<O>>
}

/** Keeps an insight's own types while it is written. */
export function insight<
  O extends TObject,
  I extends TObject = TObject<Record<never, never>>,
  P extends TObject = TObject<Record<never, never>>,
>(value: Insight<I, O, P>): Insight<I, O, P> {
  return value
}

/** Any insight, in lists: each is given only what fits its own schemas. */
export type AnyInsight = Omit<Insight, 'params' | 'input' | 'output' | 'answer'> & {
  params?: TObject
  input?: TObject
  output: TObject
  answer(sources: Sources, input: never, caller: Caller): Promise<Static<TObject>>
}
