import { DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { dayOfLocal, type LocalMs, localOfDay, localTimeAt } from './local-time.ts'

/** Maximum number of holidays per year. With more, too few ordinary days would remain to learn from. */
export const MAX_DAYS_PER_YEAR = 120
const MAX_NAME_LENGTH = 200
/** Number of years before and after the current one for which days are stored. */
const YEARS = 2

/** The years for which the days of a calendar are stored, inclusive. */
export interface Years {
  first: number
  last: number
}

/** Returns the years around the one that has begun in the time zone. */
export function yearsAround(now: Instant, timezone: string): Years {
  const year = new Date(localTimeAt(now, timezone)).getUTCFullYear()
  return { first: year - YEARS, last: year + YEARS }
}

/** The days of a calendar with their names, collected in any order. */
export class CalendarDays {
  private readonly names = new Map<string, string>()
  private readonly perYear = new Map<number, number>()

  constructor(readonly years: Years) {}

  /** Adds a day as `YYYY-MM-DD`. Ignores other years. Of two names of one day, the first is kept. */
  add(day: string, name: string): void {
    const year = Number(day.slice(0, 4))
    if (year < this.years.first || year > this.years.last || this.names.has(day)) return
    const count = (this.perYear.get(year) ?? 0) + 1
    if (count > MAX_DAYS_PER_YEAR) {
      throw new AppError('invalid', `has more than ${MAX_DAYS_PER_YEAR} days in ${year}; list only holidays`)
    }
    this.perYear.set(year, count)
    this.names.set(day, name.slice(0, MAX_NAME_LENGTH))
  }

  /** Returns the days in order. */
  list(): { day: string; name: string }[] {
    return [...this.names].map(([day, name]) => ({ day, name })).sort((a, b) => (a.day < b.day ? -1 : 1))
  }
}

/** The local time range of an event. */
export interface LocalSpan {
  from: LocalMs
  to: LocalMs
}

/**
 * Returns the days that an event covers: those of which it covers at least half or, when there are none, the day that it
 * covers most. An event from 14:00 to midnight covers its day. One from sunset to sunset covers the second day.
 */
export function daysCovered({ from, to }: LocalSpan): string[] {
  const days: string[] = []
  let [most, longest] = [dayOfLocal(from), 0]
  for (let start = localOfDay(dayOfLocal(from)); start < to; start += DAY_MS) {
    const covered = Math.min(to, start + DAY_MS) - Math.max(from, start)
    if (covered >= DAY_MS / 2) days.push(dayOfLocal(start))
    if (covered > longest) [most, longest] = [dayOfLocal(start), covered]
  }
  return days.length > 0 ? days : [most]
}
