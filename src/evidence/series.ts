import type { Alert } from '../alerts/alert.ts'
import { type Period, type PeriodWindow, parsePeriod, previousWindow, windowAt } from '../alerts/period.ts'
import { countsFirings } from '../alerts/types/index.ts'
import { volumeSource } from '../alerts/types/volume/count.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import {
  type Bounds,
  type Counted,
  countsIn,
  countsKeptFrom,
  NO_BOUNDS,
  type Point,
  pointFields,
  shownPoint,
  sumsIn,
  wholeEvents,
} from '../insights/count-series.ts'
import { rowStart, type SeriesScope, type Span } from '../signals/series.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import type { Binder, Warehouse } from '../warehouse/query.ts'
import { changeLimits, thresholdLimits } from './count-limits.ts'
import { countScope, scopeSql, type Trouble, violatingSql } from './trouble.ts'

/** A series has at most so many buckets. */
export const MAX_BUCKETS = 400
/** So many buckets before the first occurrence show how it was before. */
const LEAD_BUCKETS = 6
/** So many rows before an anomaly show what is usual. */
const LEAD_ROWS = 48
/** A longer stretch of violations is shown by the day. */
const LONGEST_BY_HOUR_MS = 7 * DAY_MS

/** Fields of an answer that has a series. */
export const seriesFields = {
  series: Type.Array(Closed(pointFields), {
    maxItems: MAX_BUCKETS,
    description:
      'Oldest first, without gaps, up to now. Of a data_validation alert: violating events; of a journey: sessions ' +
      'that did not go as expected; of a volume alert: events in scope in each of its own windows, or the rows by ' +
      'which an anomaly is judged. Empty when a volume alert is gone. What is no longer kept is not in it',
  }),
  grain: OneOf(['hour', 'day']),
}

export interface Series {
  series: Point[]
  /** `day` where buckets are days or several of them. */
  grain: 'hour' | 'day'
}

/** What a series is made from. */
export interface SeriesSources extends Pick<Warehouse, 'query'> {
  /** As `Follower.chart`, up to now. */
  chart(scope: SeriesScope, range: Span): Promise<SeriesChart>
}

/** How the time is cut, what is counted in each piece, and what it is held against. */
interface Plan {
  period: Period
  timezone: string
  /** Nothing older is known. */
  keptFrom: Instant
  count(binder: Binder): Counted
  /** True when a bucket is held against the one before it. */
  isRelative: boolean
  /** `before`: the count of the bucket before; null where that is not known. */
  boundsOf(before: number | null): Bounds
}

/** How often the trouble was to be seen, from a little before it began until now. */
export async function seriesOf(trouble: Trouble, sources: SeriesSources): Promise<Series> {
  const { issue, followed } = trouble
  if (issue.alertType === 'journey') return sessionsByDay(trouble)
  if (followed !== null) return followedRows(trouble, followed, sources)
  const plan = planOf(trouble)
  if (plan === null) return { series: [], grain: 'hour' }
  const { period, timezone, keptFrom, boundsOf } = plan
  const buckets = bucketsOf(trouble, plan)
  const [first] = buckets
  if (!first) return { series: [], grain: grainOf(period) }
  const before = previousWindow(period, timezone, first)
  const all = plan.isRelative && before.start >= keptFrom ? [before, ...buckets] : buckets
  const counts = (await sumsIn(all, plan.count, sources)).map(({ weight }) => wholeEvents(weight))
  const series = all.map((bucket, index) => ({
    start: bucket.start,
    observed: counts[index] ?? 0,
    ...boundsOf(counts[index - 1] ?? null),
    partial: bucket.end > trouble.now,
  }))
  return { series: series.slice(all.length - buckets.length), grain: grainOf(period) }
}

const grainOf = ({ unit }: Period) => (unit === 'm' || unit === 'h' ? 'hour' : 'day')

/** Which sessions they were is not in the events; how many, the issue knows. */
function sessionsByDay(trouble: Trouble): Series {
  const counts = new Map(trouble.occurrences.map(({ day, count }) => [day, count]))
  const buckets = bucketsOf(trouble, { period: parsePeriod('1d'), timezone: 'UTC', keptFrom: 0 })
  const series = buckets.map(({ start, end }) => ({
    start,
    observed: counts.get(new Date(start).toISOString().slice(0, 10)) ?? 0,
    ...{ expected: 0, low: null, high: null },
    partial: end > trouble.now,
  }))
  return { series, grain: 'day' }
}

/** Where rows and windows begin differently, it is the rows that were judged. */
async function followedRows(trouble: Trouble, scope: SeriesScope, { chart }: SeriesSources): Promise<Series> {
  const { stepMs } = scope
  const rowAt = (instant: Instant) => {
    const start = rowStart(scope, instant)
    return { start, end: start + stepMs }
  }
  const cut = { at: rowAt, before: ({ start }: PeriodWindow) => rowAt(start - 1), leadMs: LEAD_ROWS * stepMs }
  const rows = stretchesOf(trouble, { ...cut, keptFrom: countsKeptFrom({ lengthMs: stepMs }, trouble.now) })
  const [first, last] = [rows.at(0), rows.at(-1)]
  if (!first || !last) return { series: [], grain: 'hour' }
  const { points } = await chart(scope, { from: first.start, to: last.end })
  return { series: points.map(shownPoint), grain: 'hour' }
}

/** Null when nobody knows any more what was counted. */
function planOf(trouble: Trouble): Plan | null {
  const { issue, rule, now, keptFrom } = trouble
  if (!countsFirings(issue.alertType)) {
    return {
      period: parsePeriod(now - issue.firstSeenAt > LONGEST_BY_HOUR_MS ? '1d' : '1h'),
      timezone: 'UTC',
      keptFrom,
      count: (binder) => ({ over: 'events', sql: violatingSql(trouble, binder), keys: [], orgId: issue.orgId }),
      isRelative: false,
      boundsOf: () => ({ ...NO_BOUNDS, expected: 0 }),
    }
  }
  if (rule === null) return null
  const period = parsePeriod(rule.period)
  const isRelative = rule.alertType === 'tag_volume_change'
  const shared = { period, timezone: rule.timezone, isRelative, boundsOf: boundsFor(rule) }
  if (volumeSource(rule) === 'counts') {
    const count = (binder: Binder) => countsIn(issue.orgId, countScope(trouble, rule), binder)
    return { ...shared, count, keptFrom: countsKeptFrom(period, now) }
  }
  return {
    ...shared,
    keptFrom,
    count(binder) {
      const { sql, keys, wholeParams } = scopeSql(trouble, rule, binder)
      return { over: 'events', sql, keys, wholeParams, orgId: issue.orgId }
    },
  }
}

function boundsFor({ volume }: Alert): Plan['boundsOf'] {
  if (volume && 'op' in volume) return () => thresholdLimits(volume)
  if (volume && 'direction' in volume) return (before) => changeLimits(volume, before)
  return () => NO_BOUNDS
}

function bucketsOf(
  trouble: Trouble,
  { period, timezone, keptFrom }: Pick<Plan, 'period' | 'timezone' | 'keptFrom'>,
): PeriodWindow[] {
  return stretchesOf(trouble, {
    at: (instant) => windowAt(period, timezone, instant),
    before: (window) => previousWindow(period, timezone, window),
    leadMs: LEAD_BUCKETS * period.lengthMs,
    keptFrom,
  })
}

/** How time is cut, and how much of it is of interest before the first occurrence. */
interface Cut {
  at(instant: Instant): PeriodWindow
  before(window: PeriodWindow): PeriodWindow
  leadMs: number
  keptFrom: Instant
}

/** Of windows too many to be shown the latest ones; those of the trouble's end where it ended before all of these. */
function stretchesOf({ issue, domainSince, now }: Trouble, { at, before, leadMs, keptFrom }: Cut): PeriodWindow[] {
  const upTo = (instant: Instant) => {
    const buckets: PeriodWindow[] = []
    const isMeant = ({ start, end }: PeriodWindow) =>
      end > issue.firstSeenAt - leadMs && end > domainSince && start >= keptFrom
    let bucket = at(instant)
    while (buckets.length < MAX_BUCKETS && isMeant(bucket)) {
      buckets.push(bucket)
      bucket = before(bucket)
    }
    return buckets.reverse()
  }
  const latest = upTo(now)
  const [first] = latest
  if (latest.length < MAX_BUCKETS || !first || first.start <= issue.lastSeenAt) return latest
  return upTo(Math.min(now, issue.lastSeenAt + leadMs))
}
