import { DAY_MS, type Instant } from './clock.ts'

/** Smaller numbers are no times of this century in any unit. */
const LEAST_SECONDS = 1e8
/** In seconds the year 5138, in milliseconds 1973. */
const LEAST_MS = 1e11
/** In milliseconds the year 5138, in microseconds 1973. */
const LEAST_US = 1e14
const BEYOND = 1e17

const FIRST_YEAR = 1970
const LAST_YEAR = 2100

/**
 * Returns the instant that a number means, in the unit that its size allows: Unix time in seconds, milliseconds or
 * microseconds, or, as the Data API of Google Analytics writes it, `YYYYMMDD` or `YYYYMMDDHH` (UTC). Null for a number
 * that is a time after 1973 in none of them. A number that could be both, such as 2033010100, is an hour: in seconds it
 * lies beyond 2032.
 */
export function instantOf(number: number): Instant | null {
  const calendar = ofCalendar(number)
  if (calendar !== null) return calendar
  if (number >= LEAST_SECONDS && number < LEAST_MS) return number * 1000
  if (number >= LEAST_MS && number < LEAST_US) return number
  if (number >= LEAST_US && number < BEYOND) return number / 1000
  return null
}

/** As `instantOf`; a number that is no time in any unit is itself, such as milliseconds since a device was started. */
export const timeOf = (number: number): number => instantOf(number) ?? number

/** No event is older: an earlier time is a mistake. */
export const EARLIEST = Date.UTC(2000, 0)

/** The note on an event whose time was replaced by the time of receipt. */
export const IMPLAUSIBLE_TIME = 'ts: is no plausible time; the time of receipt is taken'

/** True when an event received at `receivedAt` can have happened at `at`: since 2000, and at most a day after its receipt. */
export const isPlausible = (at: Instant, receivedAt: Instant): boolean => at >= EARLIEST && at <= receivedAt + DAY_MS

function ofCalendar(number: number): Instant | null {
  const [, year = '', month = '', day = '', hour = '0'] = /^(\d{4})(\d\d)(\d\d)(\d\d)?$/.exec(String(number)) ?? []
  if (year === '' || Number(year) < FIRST_YEAR || Number(year) > LAST_YEAR || Number(hour) > 23) return null
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // `Date` would turn a day that a month does not have into one of the next month.
  const isDay = new Date(at).toISOString().startsWith(`${year}-${month}-${day}`)
  return isDay ? at + Number(hour) * 3_600_000 : null
}
