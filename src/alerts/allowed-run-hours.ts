import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { AlertInput } from './alert.ts'
import type { Window } from './finding.ts'

/** The times at which an alert may open issues and send notifications. When absent, it always may. */
export type RunWindows = AlertInput['runWindows']

/** In every time zone, local hours begin at a multiple of 15 minutes (https://data.iana.org/time-zones/theory.html). */
const STEP_MS = 15 * MINUTE_MS
/** A time range of this length contains every hour of every weekday, even when clocks change during that time. */
const WEEK_AND_DAY_MS = 8 * DAY_MS

/**
 * True when the local time in `timezone` is in the hours `[from, to)` on one of the days (0 = Sunday; no days: every
 * day). Hours may wrap around midnight; such a range belongs to the day on which it begins, so `[22, 6)` on Fridays
 * ends on Saturday at 6:00. Equal hours mean the whole calendar day.
 */
export function isInRunWindow(runWindows: RunWindows, timezone: string, instant: Instant): boolean {
  if (!runWindows) return true
  const { hour, dayOfWeek } = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone)
  const [from = 0, to = 0] = runWindows.hours ?? []
  const days = runWindows.days ?? []
  const isOn = (day: number) => days.length === 0 || days.includes(day % 7)
  if (from === to) return isOn(dayOfWeek)
  if (from < to) return hour >= from && hour < to && isOn(dayOfWeek)
  return (hour >= from && isOn(dayOfWeek)) || (hour < to && isOn(dayOfWeek + 6))
}

/** Returns the first instant at or after `from` that is in a run window. */
export function nextInRunWindow(runWindows: RunWindows, timezone: string, from: Instant): Instant {
  // An hour that is skipped when clocks change exists a week later.
  const end = from + 2 * WEEK_AND_DAY_MS
  for (let at = from; at < end; at = (Math.floor(at / STEP_MS) + 1) * STEP_MS) {
    if (isInRunWindow(runWindows, timezone, at)) return at
  }
  return from
}

/**
 * True when any instant of an evaluated window is in a run window. For `[9, 17)`, the hour from 16 to 17 qualifies and
 * the hour from 8 to 9 does not. A window of a day or longer, which ends at midnight, can therefore still open issues.
 */
export function meetsRunWindow(runWindows: RunWindows, timezone: string, { from, to }: Window): boolean {
  if (!runWindows || to - from >= WEEK_AND_DAY_MS) return true
  for (let at = from; at < to; at = (Math.floor(at / STEP_MS) + 1) * STEP_MS) {
    if (isInRunWindow(runWindows, timezone, at)) return true
  }
  return false
}
