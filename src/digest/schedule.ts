import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/** For so long from its hour on, a digest that was not sent yet is due. */
export const DUE_MS = 2 * HOUR_MS
/** On this day of the week one is sent even when nothing happened: Monday, where 0 is Sunday. */
const WEEKLY_DAY = 1
/** 1 January 1970 was a Thursday. */
const FIRST_DAY = 4

/** The digest of a UTC day: the number of the day since the Unix epoch, and when it becomes due. */
export interface DigestDay {
  day: number
  from: Instant
}

const dayAt = (day: number, hourUtc: number): DigestDay => ({ day, from: day * DAY_MS + hourUtc * HOUR_MS })

/** The latest day whose hour has come: it ends its two hours on the next one where the hour is 23. */
function latestDay(hourUtc: number, now: Instant): DigestDay {
  return dayAt(Math.floor((now - hourUtc * HOUR_MS) / DAY_MS), hourUtc)
}

/** Returns the day whose digest is due at `now`; null outside the two hours. */
export function dueDay(hourUtc: number, now: Instant): DigestDay | null {
  const latest = latestDay(hourUtc, now)
  return now < latest.from + DUE_MS ? latest : null
}

/** Returns when the next digest is due: `now` while one is, and that of its day was not begun. */
export function nextDue(hourUtc: number, now: Instant, isBegun: (day: number) => boolean): Instant {
  const due = dueDay(hourUtc, now)
  if (due && !isBegun(due.day)) return now
  let next = dayAt(latestDay(hourUtc, now).day + 1, hourUtc)
  // After the clock was put back, or the hour was moved, days to come may have had theirs.
  while (isBegun(next.day)) next = dayAt(next.day + 1, hourUtc)
  return next.from
}

/** True on the day on which a digest is sent although nothing happened. */
export const isWeekly = (day: number): boolean => (day + FIRST_DAY) % 7 === WEEKLY_DAY

interface TimeWindow {
  from: Instant
  to: Instant
}

/** The times that a digest is about. */
export interface DigestPeriod {
  /** The 24 hours before it is composed, up to the end of the present minute. */
  window: TimeWindow
  /** The same hours a week earlier. */
  before: TimeWindow
  /** The 7 days before the 24 hours: what came then is not new. */
  days: TimeWindow
}

const WEEK_MS = 7 * DAY_MS

/** Counts are kept by the minute, so it begins and ends with one. */
export function digestPeriod(at: Instant): DigestPeriod {
  const to = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS
  const from = to - DAY_MS
  return {
    window: { from, to },
    before: { from: from - WEEK_MS, to: to - WEEK_MS },
    days: { from: from - WEEK_MS, to: from },
  }
}
