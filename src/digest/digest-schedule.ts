import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/** Period after the scheduled hour during which an unsent digest is due. */
export const DUE_MS = 2 * HOUR_MS
/** Weekday on which a digest is sent even without activity: Monday (0 is Sunday). */
const WEEKLY_DAY = 1
/** Weekday of 1 January 1970: Thursday. */
const FIRST_DAY = 4

/** The digest of one UTC day: days since the Unix epoch, and the time at which it becomes due. */
interface DigestDay {
  day: number
  from: Instant
}

const dayAt = (day: number, hourUtc: number): DigestDay => ({ day, from: day * DAY_MS + hourUtc * HOUR_MS })

/** Most recent day whose hour has passed. If the hour is 23, the two-hour period ends on the next day. */
function latestDay(hourUtc: number, now: Instant): DigestDay {
  return dayAt(Math.floor((now - hourUtc * HOUR_MS) / DAY_MS), hourUtc)
}

/** Returns the day whose digest is due at `now`; null outside the two-hour period. */
export function dueDay(hourUtc: number, now: Instant): DigestDay | null {
  const latest = latestDay(hourUtc, now)
  return now < latest.from + DUE_MS ? latest : null
}

/** Returns the time at which the next digest is due, or `now` if a digest is due and has not been started. */
export function nextDue(hourUtc: number, now: Instant, isBegun: (day: number) => boolean): Instant {
  const due = dueDay(hourUtc, now)
  if (due && !isBegun(due.day)) return now
  let next = dayAt(latestDay(hourUtc, now).day + 1, hourUtc)
  // If the system clock was set back, or an earlier digest hour was chosen, digests for later days may already have
  // been sent.
  while (isBegun(next.day)) next = dayAt(next.day + 1, hourUtc)
  return next.from
}

/** True on the day on which a digest is sent even without activity. */
export const isWeekly = (day: number): boolean => (day + FIRST_DAY) % 7 === WEEKLY_DAY

interface TimeWindow {
  from: Instant
  to: Instant
}

/** Time ranges of a digest. */
export interface DigestPeriod {
  /** The 24 hours before the digest is composed, ending at a full minute. */
  window: TimeWindow
  /** The same hours a week earlier. */
  before: TimeWindow
  /** The 7 days before the 24 hours, used to detect new names. */
  days: TimeWindow
}

const WEEK_MS = 7 * DAY_MS

/** Returns the time ranges of a digest, aligned to minutes, which is the resolution of stored counts. */
export function digestPeriod(at: Instant): DigestPeriod {
  const to = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS
  const from = to - DAY_MS
  return {
    window: { from, to },
    before: { from: from - WEEK_MS, to: to - WEEK_MS },
    days: { from: from - WEEK_MS, to: from },
  }
}
