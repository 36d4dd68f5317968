import type { Instant } from '../core/clock.ts'
import { DAY_MS } from '../core/clock.ts'

/** The date and time on a clock in some time zone, as the ms from 1970-01-01T00:00 on that clock. */
export type LocalMs = number

/** Returns the local time at an instant. */
export function localTimeAt(instant: Instant, timezone: string): LocalMs {
  const there = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone)
  return instant + there.offsetNanoseconds / 1e6
}

/**
 * Returns the instant at which clocks show a local time. A time that clocks skip is moved forward by the skipped time;
 * of a time that clocks show twice, returns the first.
 */
export function instantAt(local: LocalMs, timezone: string): Instant {
  const shown = Temporal.Instant.fromEpochMilliseconds(local).toZonedDateTimeISO('UTC').toPlainDateTime()
  return shown.toZonedDateTime(timezone).epochMilliseconds
}

/** Returns the date of a local time as `YYYY-MM-DD`. */
export const dayOfLocal = (local: LocalMs): string => new Date(local).toISOString().slice(0, 10)

/** Returns the first local time of a day given as `YYYY-MM-DD`. */
export const localOfDay = (day: string): LocalMs => Date.parse(`${day}T00:00:00Z`)

/** Returns the start of a local day and of the next one. */
export function instantsOfDay(day: string, timezone: string): { from: Instant; to: Instant } {
  const local = localOfDay(day)
  return { from: instantAt(local, timezone), to: instantAt(local + DAY_MS, timezone) }
}
