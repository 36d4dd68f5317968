import { Cron } from 'croner'
import type { Instant } from './clock.ts'
import { AppError } from './error.ts'

/**
 * Returns the first time after `after` that a cron pattern names in a time zone; null when none comes. Fails with
 * `invalid` for a text that is no pattern.
 */
export function nextTime(pattern: string, timezone: string, after: Instant): Instant | null {
  return cronOf(pattern, timezone).nextRun(new Date(after))?.getTime() ?? null
}

/** Fails with `invalid`, naming the field, for a text that is no pattern, or one that names no time after `now`. */
export function checkTimetable(pattern: string, timezone: string, now: Instant): void {
  if (nextTime(pattern, timezone, now) === null) {
    throw new AppError('invalid', `schedule: "${pattern}" names no time to come`)
  }
}

function cronOf(pattern: string, timezone: string): Cron {
  const fault = new AppError('invalid', `schedule: "${pattern}" is no cron pattern; expected one such as 0 6 * * *`)
  // croner takes a text with a colon for a date.
  if (pattern.includes(':')) throw fault
  try {
    return new Cron(pattern, { timezone, paused: true })
  } catch {
    // It throws errors of several kinds.
    throw fault
  }
}
