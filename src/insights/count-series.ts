import type { Period } from '../alerts/alert-period.ts'
import { type EventScope, scopeTests } from '../alerts/types/event-scope.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { bucketOf } from '../warehouse/dialect.ts'
import { type Binder, type Query, query, type Statement } from '../warehouse/query.ts'
import { MINUTES_MS } from '../warehouse/relation-columns.ts'
import type { History } from '../warehouse/warehouse.ts'

/** A time bucket. Contains the events with `start <= receivedAt < end`. */
export interface TimeBucket {
  start: Instant
  end: Instant
}

/** Retention time of counts. */
export const COUNT_RETENTION_MS = 400 * DAY_MS
const QUARTER_MS = 15 * MINUTE_MS

/** Returns the earliest instant from which the stored counts are detailed enough for windows of this length. */
export function countsRetainedFrom({ lengthMs }: Pick<Period, 'lengthMs'>, now: Instant): Instant {
  return now - (lengthMs % QUARTER_MS === 0 ? COUNT_RETENTION_MS : MINUTES_MS)
}

/** Unrounded weighted sums for one bucket. */
export interface Sums {
  weight: number
  pageViews: number
}

/** The relation to sum over. `pageViews` is always 0 for `events`. */
export interface Counted {
  over: 'counts' | 'events'
  orgId: string
  /** Returns the WHERE expression as `sql`, and the columns it reads. */
  where(binder: Binder): Statement
}

/** Returns the counts per minute in this scope, as input for `sumsIn`. */
export function countsIn(orgId: string, scope: EventScope): Counted {
  const where = (binder: Binder) => ({ sql: ['true', ...scopeTests(scope, binder)].join(' AND ') })
  return { over: 'counts', orgId, where }
}

/**
 * Returns the sums for adjacent buckets, in order, with one query. Where the history has merged minutes into quarter
 * hours, all counts of a quarter hour belong to its start.
 */
export async function sumsIn(buckets: readonly TimeBucket[], counted: Counted, history: History): Promise<Sums[]> {
  const [first, last] = [buckets.at(0), buckets.at(-1)]
  if (!first || !last) return []
  const stepMs = [...buckets.map(({ start }) => start), last.end].reduce(commonDivisor)
  const window = { from: first.start, to: last.end }
  const rows = await history.query<Sums & { startAt: Instant }>(sumsQuery(counted, stepMs, window))
  const sums = new Map(rows.map((row) => [row.startAt, row]))
  return buckets.map((bucket) => sumOf(bucket, stepMs, sums))
}

function sumsQuery({ over, orgId, where }: Counted, stepMs: number, window: Query['window']): Query {
  const [time, pageViews] = over === 'counts' ? ['minute', 'sum(pageViews)'] : ['receivedAt', '0']
  return query('insights.sums', {
    over,
    orgId,
    window,
    stepMs,
    write(binder) {
      const { sql, ...reads } = where(binder)
      const startAt = bucketOf(binder.dialect, time, stepMs)
      return {
        ...reads,
        sql: `SELECT ${startAt} AS startAt, sum(weight) AS weight, ${pageViews} AS pageViews
          FROM ${over} WHERE ${sql} GROUP BY ALL`,
      }
    },
  })
}

/**
 * Returns the length of the buckets in the query. The greatest common divisor also suits days of 23 or 25 hours and
 * time zones with fractional offsets.
 */
function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}

function sumOf({ start, end }: TimeBucket, stepMs: number, sums: ReadonlyMap<Instant, Sums>): Sums {
  const sum = { weight: 0, pageViews: 0 }
  for (let at = start; at < end; at += stepMs) {
    const part = sums.get(at)
    sum.weight += part?.weight ?? 0
    sum.pageViews += part?.pageViews ?? 0
  }
  return sum
}
