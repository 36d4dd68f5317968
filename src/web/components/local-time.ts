import { formatClockInZone } from './format.ts'

/** Returns the time in a time zone as the value of a `datetime-local` input, such as `2026-03-12T14:10`. */
export function toLocalInput(at: number, timeZone: string): string {
  // Swedish dates have the order of ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return format.format(at).replace(' ', 'T')
}

/**
 * Returns the instant of a `datetime-local` value in a time zone, in milliseconds since the epoch. A time that clocks
 * skip is moved to a time that exists. NaN for an empty value.
 */
export function fromLocalInput(text: string, timeZone: string): number {
  const shown = Date.parse(`${text}Z`)
  if (Number.isNaN(shown)) return shown
  let at = shown
  // The offset at the first guess may differ from that at the result.
  for (let guess = 0; guess < 2; guess++) at += shown - Date.parse(`${toLocalInput(at, timeZone)}Z`)
  return at
}

/** All time zones that the browser knows, and the given one. */
export const timeZones = (own: string): string[] => [...new Set([own, 'UTC', ...Intl.supportedValuesOf('timeZone')])]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Choices for an hour of the day that is stored in UTC, in the order of the time zone: `14` is labelled `15:00 CET`.
 * `at` determines whether daylight saving time applies.
 */
export function utcHourChoices(timeZone: string, at: number): { value: string; label: string }[] {
  const midnight = Math.floor(at / DAY_MS) * DAY_MS
  const choices = Array.from({ length: 24 }, (_, hour) => ({
    value: String(hour),
    label: formatClockInZone(midnight + hour * HOUR_MS, timeZone),
  }))
  return choices.sort((one, other) => (one.label < other.label ? -1 : 1))
}
