import { DAY_MS, type Instant } from './clock.ts'

/** Smaller numbers are not times in this century in any unit. */
const MIN_SECONDS = 1e8
/** Year 5138 in seconds, or year 1973 in milliseconds. */
const MIN_MS = 1e11
/** Year 5138 in milliseconds, or year 1973 in microseconds. */
const MIN_US = 1e14
const MAX_US = 1e17

const FIRST_YEAR = 1970
const LAST_YEAR = 2100

/**
 * Parses a timestamp and infers the unit from its size: Unix time in seconds, milliseconds or microseconds, or
 * `YYYYMMDD` or `YYYYMMDDHH` (UTC), as in the Google Analytics Data API. Returns null if the number is not a time after
 * 1973 in any of these formats. An ambiguous number such as 2033010100 is parsed as an hour, because in seconds it
 * would be after 2032.
 */
export function parseTimestamp(number: number): Instant | null {
  const calendar = parseCalendar(number)
  if (calendar !== null) return calendar
  if (number >= MIN_SECONDS && number < MIN_MS) return number * 1000
  if (number >= MIN_MS && number < MIN_US) return number
  if (number >= MIN_US && number < MAX_US) return number / 1000
  return null
}

/** Like `parseTimestamp`, but returns the number itself if it is not a time (for example, milliseconds since boot). */
export const toTimestamp = (number: number): number => parseTimestamp(number) ?? number

/** Event times before this are treated as invalid. */
export const EARLIEST = Date.UTC(2000, 0)

/** Ledger note for an event whose time was replaced with the time of receipt. */
export const IMPLAUSIBLE_TIME = 'ts: is not a plausible time; the time of receipt is used'

/** True if `at` is between the year 2000 and one day after `receivedAt`. */
export const isPlausible = (at: Instant, receivedAt: Instant): boolean => at >= EARLIEST && at <= receivedAt + DAY_MS

function parseCalendar(number: number): Instant | null {
  const [, year = '', month = '', day = '', hour = '0'] = /^(\d{4})(\d\d)(\d\d)(\d\d)?$/.exec(String(number)) ?? []
  if (year === '' || Number(year) < FIRST_YEAR || Number(year) > LAST_YEAR || Number(hour) > 23) return null
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // If the month doesn't have the given day, `Date` rolls over to the next month.
  const isDay = new Date(at).toISOString().startsWith(`${year}-${month}-${day}`)
  return isDay ? at + Number(hour) * 3_600_000 : null
}
