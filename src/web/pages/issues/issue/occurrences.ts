import type { IssueDetail } from '#client/types.gen'
import type { BarPoint } from '../../../charts/bars.ts'

const DAY_MS = 86_400_000
/** Fewer days than this say nothing of a rhythm. */
const LEAST_DAYS = 7
/** More days than this have no width to be seen. */
const MOST_DAYS = 90

/**
 * A bar for each UTC day up to today, which is partial: from the first day with an occurrence on, but at least the last 7 and
 * at most the last 90 days. Days that the series leaves out had none.
 */
export function daysOf(series: IssueDetail['occurrenceSeries'], now: number): BarPoint[] {
  const counts = new Map(series.map(({ day, count }) => [Date.parse(day), count]))
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const whole = Math.floor((today - Math.min(...counts.keys(), today)) / DAY_MS) + 1
  const shown = Math.min(MOST_DAYS, Math.max(LEAST_DAYS, whole))
  return Array.from({ length: shown }, (_, index) => {
    const start = today - (shown - 1 - index) * DAY_MS
    return { start, value: counts.get(start) ?? 0, partial: start === today }
  })
}
