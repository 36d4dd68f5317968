import type { Alert } from '../alerts/alert.ts'
import { type Period, type PeriodWindow, parsePeriod, previousWindow, windowAt } from '../alerts/period.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { isVolumeType } from '../issues/issue.ts'
import { Binder, type Query, type Warehouse } from '../warehouse/query.ts'
import { scopeSql, type Trouble, violatingSql } from './evidence-trouble.ts'

/** A series has at most so many buckets. */
export const MAX_BUCKETS = 400
/** So many buckets before the first occurrence show how it was before. */
const LEAD_BUCKETS = 6
/** A longer stretch of violations is shown by the day. */
const LONGEST_BY_HOUR_MS = 7 * DAY_MS

const PointSchema = Closed({
  start: InstantSchema,
  observed: Int({ description: 'Weighted count, rounded to whole events' }),
  expected: Nullable(Type.Number({ description: 'Null where nothing in particular is expected' })),
  low: Nullable(Type.Number({ description: 'The alert fires at this count and below; null: no such limit' })),
  high: Nullable(Type.Number({ description: 'The alert fires at this count and above; null: no such limit' })),
  partial: Type.Boolean({ description: 'The bucket still runs' }),
})

/** Fields of an answer that has a series. */
export const seriesFields = {
  series: Type.Array(PointSchema, {
    maxItems: MAX_BUCKETS,
    description:
      'Oldest first, without gaps, up to now. Of a data_validation alert: violating events; of a volume alert: events ' +
      'in scope in each of its own windows. Empty when a volume alert is gone. Events that are no longer kept are not in it',
  }),
  grain: OneOf(['hour', 'day']),
}

type Point = Static<typeof PointSchema>
export interface Series {
  series: Point[]
  /** `day` where buckets are days or several of them. */
  grain: 'hour' | 'day'
}

/** How the time is cut, what is counted in each piece, and what it is held against. */
interface Plan {
  period: Period
  timezone: string
  count(binder: Binder): Pick<Query, 'sql' | 'keys'> & { wholeParams: boolean }
  bounds: Pick<Point, 'expected' | 'low' | 'high'>
}

/** How often the trouble was to be seen, from a little before it began until now. */
export async function seriesOf(trouble: Trouble, warehouse: Pick<Warehouse, 'query'>): Promise<Series> {
  const plan = planOf(trouble)
  if (plan === null) return { series: [], grain: 'hour' }
  const grain = plan.period.unit === 'm' || plan.period.unit === 'h' ? 'hour' : 'day'
  const buckets = bucketsOf(trouble, plan)
  const [first, last] = [buckets.at(0), buckets.at(-1)]
  if (!first || !last) return { series: [], grain }
  const stepMs = [...buckets.map(({ start }) => start), last.end].reduce(commonDivisor)
  const binder = new Binder()
  const { sql, ...reads } = plan.count(binder)
  const rows = await warehouse.query<{ startAt: Instant; count: number }>({
    sql: `SELECT receivedAt // ${stepMs} * ${stepMs} AS startAt, sum(weight) AS count FROM events WHERE ${sql} GROUP BY ALL`,
    params: binder.params,
    ...reads,
    orgId: trouble.issue.orgId,
    window: { from: first.start, to: last.end },
  })
  const counts = new Map(rows.map(({ startAt, count }) => [startAt, count]))
  const series = buckets.map((bucket) => ({
    start: bucket.start,
    observed: countIn(bucket, stepMs, counts),
    ...plan.bounds,
    partial: bucket.end > trouble.now,
  }))
  return { series, grain }
}

/** Null when nobody knows any more what was counted. */
function planOf(trouble: Trouble): Plan | null {
  const { issue, rule, now } = trouble
  if (!isVolumeType(issue.alertType)) {
    return {
      period: parsePeriod(now - issue.firstSeenAt > LONGEST_BY_HOUR_MS ? '1d' : '1h'),
      timezone: 'UTC',
      count: (binder) => ({ sql: violatingSql(trouble, binder), keys: [], wholeParams: false }),
      bounds: { expected: 0, low: null, high: null },
    }
  }
  if (rule === null) return null
  return {
    period: parsePeriod(rule.period),
    timezone: rule.timezone,
    count(binder) {
      const { sql, keys, wholeParams } = scopeSql(trouble, rule, binder)
      return { sql, keys, wholeParams }
    },
    bounds: { expected: null, ...limitsOf(rule) },
  }
}

function limitsOf({ volume }: Alert): Pick<Point, 'low' | 'high'> {
  if (!volume || !('op' in volume)) return { low: null, high: null }
  return volume.op === 'lte' ? { low: volume.count, high: null } : { low: null, high: volume.count }
}

/** Of windows too many to be shown the latest ones; those of the trouble's end where it ended before all of these. */
function bucketsOf(trouble: Trouble, { period, timezone }: Plan): PeriodWindow[] {
  const { issue, domainSince, now, keptFrom } = trouble
  const leadMs = LEAD_BUCKETS * period.lengthMs
  const upTo = (instant: Instant) => {
    const buckets: PeriodWindow[] = []
    const isMeant = ({ start, end }: PeriodWindow) =>
      end > issue.firstSeenAt - leadMs && end > domainSince && start >= keptFrom
    let bucket = windowAt(period, timezone, instant)
    while (buckets.length < MAX_BUCKETS && isMeant(bucket)) {
      buckets.push(bucket)
      bucket = previousWindow(period, timezone, bucket)
    }
    return buckets.reverse()
  }
  const latest = upTo(now)
  const [first] = latest
  if (latest.length < MAX_BUCKETS || !first || first.start <= issue.lastSeenAt) return latest
  return upTo(Math.min(now, issue.lastSeenAt + leadMs))
}

/** Where days are an hour longer or shorter, and where zones are not whole hours apart, it is this that fits into all. */
function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}

function countIn({ start, end }: PeriodWindow, stepMs: number, counts: ReadonlyMap<Instant, number>): number {
  let sum = 0
  for (let at = start; at < end; at += stepMs) sum += counts.get(at) ?? 0
  return Math.round(sum)
}
