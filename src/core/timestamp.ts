import { DAY_MS, type Instant } from './clock.ts'

/** Smaller numbers are not times of this century in any unit. */
const MIN_SECONDS = 1e8
/** In seconds the year 5138, in milliseconds 1973. */
const MIN_MS = 1e11
/** In milliseconds the year 5138, in microseconds 1973. */
const MIN_US = 1e14
const MAX_US = 1e17

const FIRST_YEAR = 1970
const LAST_YEAR = 2100

/**
 * Parses a timestamp, inferring the unit from its size: Unix time in seconds, milliseconds or microseconds, or `YYYYMMDD`
 * or `YYYYMMDDHH` (UTC), as in the Google Analytics Data API. Returns null when it is not a time after 1973 in any of
 * them. An ambiguous number such as 2033010100 is an hour: in seconds it would be after 2032.
 */
export function parseTimestamp(number: number): Instant | null {
  const calendar = parseCalendar(number)
  if (calendar !== null) return calendar
  if (number >= MIN_SECONDS && number < MIN_MS) return number * 1000
  if (number >= MIN_MS && number < MIN_US) return number
  if (number >= MIN_US && number < MAX_US) return number / 1000
  return null
}

/** Like `parseTimestamp`, but returns the number itself when it is not a time, such as milliseconds since boot. */
export const toTimestamp = (number: number): number => parseTimestamp(number) ?? number

/** Earlier event times are treated as errors. */
export const EARLIEST = Date.UTC(2000, 0)

/** Ledger note on an event whose time was replaced by the time of receipt. */
export const IMPLAUSIBLE_TIME = 'ts: is no plausible time; the time of receipt is taken'

/** True when `at` is between 2000 and one day after `receivedAt`. */
export const isPlausible = (at: Instant, receivedAt: Instant): boolean => at >= EARLIEST && at <= receivedAt + DAY_MS

function parseCalendar(number: number): Instant | null {
  const [, year = '', month = '', day = '', hour = '0'] = /^(\d{4})(\d\d)(\d\d)(\d\d)?$/.exec(String(number)) ?? []
  if (year === '' || Number(year) < FIRST_YEAR || Number(year) > LAST_YEAR || Number(hour) > 23) return null
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // `Date` rolls a day that the month doesn't have over to the next month.
  const isDay = new Date(at).toISOString().startsWith(`${year}-${month}-${day}`)
  return isDay ? at + Number(hour) * 3_600_000 : null
}
