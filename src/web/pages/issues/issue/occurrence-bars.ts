import type { IssueDetail } from '#client/types.gen'
import type { BarPoint } from '../../../charts/bar-layout.ts'

const DAY_MS = 86_400_000
/** Minimum number of days shown, because fewer days show no pattern. */
const MIN_DAYS = 7
/** Maximum number of days shown, because narrower bars would be unreadable. */
const MAX_DAYS = 90

/**
 * One bar for each UTC day, from the first day with an occurrence up to today, which is partial. There are at least 7
 * and at most 90 bars. Days missing from the series had no occurrences.
 */
export function daysOf(series: IssueDetail['occurrenceSeries'], now: number): BarPoint[] {
  const counts = new Map(series.map(({ day, count }) => [Date.parse(day), count]))
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const whole = Math.floor((today - Math.min(...counts.keys(), today)) / DAY_MS) + 1
  const shown = Math.min(MAX_DAYS, Math.max(MIN_DAYS, whole))
  return Array.from({ length: shown }, (_, index) => {
    const start = today - (shown - 1 - index) * DAY_MS
    return { start, value: counts.get(start) ?? 0, partial: start === today }
  })
}
