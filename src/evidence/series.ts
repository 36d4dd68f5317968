import { type Period, type PeriodWindow, parsePeriod, previousWindow, windowAt } from '../alerts/period.ts'
import type { CountedSeries } from '../alerts/types/evidence.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import { countsKeptFrom, sumsIn } from '../insights/count-series.ts'
import { describeByKind, issueKindOf } from '../issues/kinds.ts'
import { type ChartPoint, pointFields, roundEvents, roundPoint } from '../signals/chart-point.ts'
import { rowStart, type SeriesScope, type Span } from '../signals/series.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Problem } from './problem.ts'

/** The most buckets of a series. */
export const MAX_BUCKETS = 400
/** Buckets shown before the first occurrence, for comparison. */
const LEAD_BUCKETS = 6
/** Rows shown before an anomaly, for comparison. */
const LEAD_ROWS = 48
/** Violations over a longer time are shown by day. */
const LONGEST_BY_HOUR_MS = 7 * DAY_MS

/** Fields of a response with a series. */
export const seriesFields = {
  series: Type.Array(Closed(pointFields), {
    maxItems: MAX_BUCKETS,
    description:
      `Oldest first, without gaps, up to now. ${describeByKind(({ evidence }) => evidence.seriesDescription)}. ` +
      'Empty when nobody knows any more what an alert counted. What is no longer kept is not in it',
  }),
  grain: OneOf(['hour', 'day']),
}

export interface Series {
  series: ChartPoint[]
  /** `day` where buckets are a day or several days. */
  grain: 'hour' | 'day'
}

/** The data for a series. */
export interface SeriesSources {
  history: History
  /** As `SeriesMonitor.chart`, up to now. */
  chart(scope: SeriesScope, range: Span): Promise<SeriesChart>
}

/** The bucket boundaries. */
interface Grid {
  period: Period
  timezone: string
  /** Data before this is no longer stored. */
  keptFrom: Instant
}

/** Returns the counts of the issue over time, from a little before its first occurrence until now. */
export async function seriesOf(trouble: Problem, sources: SeriesSources): Promise<Series> {
  const { issue, followed } = trouble
  if (followed !== null) return followedRows(trouble, followed, sources)
  const counted = issueKindOf(issue.alertType).evidence.series(trouble)
  if (counted === 'occurrences') return occurrencesByDay(trouble)
  if (counted === null) return { series: [], grain: 'hour' }
  const { over, where, boundsOf, isRelative = false } = counted
  const grid = gridOf(trouble, counted)
  const { period, timezone, keptFrom } = grid
  const buckets = bucketsOf(trouble, grid)
  const [first] = buckets
  if (!first) return { series: [], grain: grainOf(period) }
  const before = previousWindow(period, timezone, first)
  const all = isRelative && before.start >= keptFrom ? [before, ...buckets] : buckets
  const counts = (await sumsIn(all, { over, where, orgId: issue.orgId }, sources.history)).map(({ weight }) =>
    roundEvents(weight),
  )
  const series = all.map((bucket, index) => ({
    start: bucket.start,
    observed: counts[index] ?? 0,
    ...boundsOf(counts[index - 1] ?? null),
    partial: bucket.end > trouble.now,
  }))
  return { series: series.slice(all.length - buckets.length), grain: grainOf(period) }
}

/** The alert's own windows, or hours; days for an issue that lasts long. */
function gridOf({ issue, rule, now, keptFrom }: Problem, { by, over }: CountedSeries): Grid {
  const own = by === 'windows' ? rule : null
  const hours = now - issue.firstSeenAt > LONGEST_BY_HOUR_MS ? '1d' : '1h'
  const period = parsePeriod(own?.period ?? hours)
  const kept = over === 'counts' ? countsKeptFrom(period, now) : keptFrom
  return { period, timezone: own?.timezone ?? 'UTC', keptFrom: kept }
}

const grainOf = ({ unit }: Period) => (unit === 'm' || unit === 'h' ? 'hour' : 'day')

function occurrencesByDay(trouble: Problem): Series {
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

/** Returns rows, not windows, where their boundaries differ: the rows were judged. */
async function followedRows(trouble: Problem, scope: SeriesScope, { chart }: SeriesSources): Promise<Series> {
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
  return { series: points.map(roundPoint), grain: 'hour' }
}

function bucketsOf(trouble: Problem, { period, timezone, keptFrom }: Grid): PeriodWindow[] {
  return stretchesOf(trouble, {
    at: (instant) => windowAt(period, timezone, instant),
    before: (window) => previousWindow(period, timezone, window),
    leadMs: LEAD_BUCKETS * period.lengthMs,
    keptFrom,
  })
}

/** The bucket boundaries, and how much is shown before the first occurrence. */
interface Cut {
  at(instant: Instant): PeriodWindow
  before(window: PeriodWindow): PeriodWindow
  leadMs: number
  keptFrom: Instant
}

/**
 * Returns the buckets. When there are too many, the latest ones; those at the end of the incident when it ended before
 * all of these.
 */
function stretchesOf({ issue, domainSince, now }: Problem, { at, before, leadMs, keptFrom }: Cut): PeriodWindow[] {
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
