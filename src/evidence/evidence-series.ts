import { type Period, type PeriodWindow, parsePeriod, previousWindow, windowAt } from '../alerts/alert-period.ts'
import type { CountedSeries } from '../alerts/types/evidence.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import { countsRetainedFrom, sumsIn } from '../insights/count-series.ts'
import { describeByKind, issueKindOf } from '../issues/issue-kinds.ts'
import { type ChartPoint, pointFields, roundEvents, roundPoint } from '../signals/chart-point.ts'
import { rowStart, type SeriesScope, type Span } from '../signals/series.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { IssueProblem } from './issue-problem.ts'

/** Maximum number of buckets. */
export const MAX_BUCKETS = 400
/** Number of buckets shown before the first occurrence, for comparison. */
const LEAD_BUCKETS = 6
/** Number of rows shown before an anomaly, for comparison. */
const LEAD_ROWS = 48
/** Maximum duration shown by hour. Longer durations are shown by day. */
const MAX_HOURLY_MS = 7 * DAY_MS

/** The fields of a response that contains a series. */
export const seriesFields = {
  series: Type.Array(Closed(pointFields), {
    maxItems: MAX_BUCKETS,
    description:
      `Buckets without gaps up to now, oldest first. ${describeByKind(({ evidence }) => evidence.seriesDescription)}. ` +
      "Empty if the alert's rule is no longer known. Deleted data is not included",
  }),
  grain: OneOf(['hour', 'day']),
}

export interface Series {
  series: ChartPoint[]
  /** `day` if each bucket is one or more days. */

  grain: 'hour' | 'day'
}

/** Data sources of a series. */
export interface SeriesSources {
  history: History
  /** Returns a chart from the series monitor, up to now. */
  chart(scope: SeriesScope, range: Span): Promise<SeriesChart>
}

/** The bucket boundaries. */
interface Grid {
  period: Period
  timezone: string
  /** Data before this has been deleted. */
  retainedFrom: Instant
}

/** Returns the counts over time, from shortly before the first occurrence until now. */
export async function seriesOf(problem: IssueProblem, sources: SeriesSources): Promise<Series> {
  const { issue, followed } = problem
  if (followed !== null) return followedRows(problem, followed, sources)
  const counted = issueKindOf(issue.alertType).evidence.series(problem)
  if (counted === 'occurrences') return occurrencesByDay(problem)
  if (counted === null) return { series: [], grain: 'hour' }
  const { over, where, boundsOf, isRelative = false } = counted
  const grid = gridOf(problem, counted)
  const { period, timezone, retainedFrom } = grid
  const buckets = bucketsOf(problem, grid)
  const [first] = buckets
  if (!first) return { series: [], grain: grainOf(period) }
  const before = previousWindow(period, timezone, first)
  const all = isRelative && before.start >= retainedFrom ? [before, ...buckets] : buckets
  const counts = (await sumsIn(all, { over, where, orgId: issue.orgId }, sources.history)).map(({ weight }) =>
    roundEvents(weight),
  )
  const series = all.map((bucket, index) => ({
    start: bucket.start,
    observed: counts[index] ?? 0,
    ...boundsOf(counts[index - 1] ?? null),
    partial: bucket.end > problem.now,
  }))
  return { series: series.slice(all.length - buckets.length), grain: grainOf(period) }
}

/** Returns the windows of the alert, or hours; days for a long issue. */
function gridOf({ issue, rule, now, retainedFrom }: IssueProblem, { by, over }: CountedSeries): Grid {
  const own = by === 'windows' ? rule : null
  const hours = now - issue.firstSeenAt > MAX_HOURLY_MS ? '1d' : '1h'
  const period = parsePeriod(own?.period ?? hours)
  const kept = over === 'counts' ? countsRetainedFrom(period, now) : retainedFrom
  return { period, timezone: own?.timezone ?? 'UTC', retainedFrom: kept }
}

const grainOf = ({ unit }: Period) => (unit === 'm' || unit === 'h' ? 'hour' : 'day')

function occurrencesByDay(problem: IssueProblem): Series {
  const counts = new Map(problem.occurrences.map(({ day, count }) => [day, count]))
  const buckets = bucketsOf(problem, { period: parsePeriod('1d'), timezone: 'UTC', retainedFrom: 0 })
  const series = buckets.map(({ start, end }) => ({
    start,
    observed: counts.get(new Date(start).toISOString().slice(0, 10)) ?? 0,
    expected: 0,
    low: null,
    high: null,
    partial: end > problem.now,
  }))
  return { series, grain: 'day' }
}

/** Returns evaluated rows instead of windows, where row and window boundaries differ. */
async function followedRows(problem: IssueProblem, scope: SeriesScope, { chart }: SeriesSources): Promise<Series> {
  const { stepMs } = scope
  const rowAt = (instant: Instant) => {
    const start = rowStart(scope, instant)
    return { start, end: start + stepMs }
  }
  const cut = { at: rowAt, before: ({ start }: PeriodWindow) => rowAt(start - 1), leadMs: LEAD_ROWS * stepMs }
  const rows = bucketRanges(problem, { ...cut, retainedFrom: countsRetainedFrom({ lengthMs: stepMs }, problem.now) })
  const [first, last] = [rows.at(0), rows.at(-1)]
  if (!first || !last) return { series: [], grain: 'hour' }
  const { points } = await chart(scope, { from: first.start, to: last.end })
  return { series: points.map(roundPoint), grain: 'hour' }
}

function bucketsOf(problem: IssueProblem, { period, timezone, retainedFrom }: Grid): PeriodWindow[] {
  return bucketRanges(problem, {
    at: (instant) => windowAt(period, timezone, instant),
    before: (window) => previousWindow(period, timezone, window),
    leadMs: LEAD_BUCKETS * period.lengthMs,
    retainedFrom,
  })
}

/** Bucket boundaries, and the length of time shown before the first occurrence. */
interface Cut {
  at(instant: Instant): PeriodWindow
  before(window: PeriodWindow): PeriodWindow
  leadMs: number
  retainedFrom: Instant
}

/**
 * Returns the buckets. If there are too many, returns the latest ones, or the ones at the end of the incident if it
 * ended earlier.
 */
function bucketRanges(
  { issue, domainSince, now }: IssueProblem,
  { at, before, leadMs, retainedFrom }: Cut,
): PeriodWindow[] {
  const upTo = (instant: Instant) => {
    const buckets: PeriodWindow[] = []
    const isMeant = ({ start, end }: PeriodWindow) =>
      end > issue.firstSeenAt - leadMs && end > domainSince && start >= retainedFrom
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
