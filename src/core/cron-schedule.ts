import { Cron } from 'croner'
import type { Instant } from './clock.ts'
import { AppError } from './error.ts'

/**
 * Returns the first time after `after` that matches a cron pattern in a time zone; null if there is none. Throws
 * `invalid` if the pattern is invalid.
 */
export function nextTime(pattern: string, timezone: string, after: Instant): Instant | null {
  return cronOf(pattern, timezone).nextRun(new Date(after))?.getTime() ?? null
}

/** Returns up to `count` times before `before` that match a cron pattern, most recent first. */
export function previousTimes(pattern: string, timezone: string, before: Instant, count: number): Instant[] {
  return cronOf(pattern, timezone)
    .previousRuns(count, new Date(before))
    .map((date) => date.getTime())
}

/** Throws `invalid`, with the name of the field, if the pattern is invalid or never matches after `now`. */
export function checkSchedule(pattern: string, timezone: string, now: Instant): void {
  if (nextTime(pattern, timezone, now) === null) {
    throw new AppError('invalid', `schedule: "${pattern}" has no future run`)
  }
}

function cronOf(pattern: string, timezone: string): Cron {
  const fault = new AppError(
    'invalid',
    `schedule: "${pattern}" is not a valid cron pattern; use five fields such as 0 6 * * *`,
  )
  // croner parses a string that contains a colon as a date.
  if (pattern.includes(':')) throw fault
  try {
    return new Cron(pattern, { timezone, paused: true })
  } catch {
    // croner throws several kinds of errors.
    throw fault
  }
}
