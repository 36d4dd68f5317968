import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'

const UNIT_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }
type Unit = keyof typeof UNIT_MS

const LONGEST_MS = 4 * UNIT_MS.w
const WORDS: Readonly<Record<string, string>> = { hourly: '1h', daily: '1d', weekly: '1w' }

/** The length of an alert's windows. */
export interface Period {
  count: number
  unit: Unit
  /** Assumes days of 24 hours; a day is an hour longer or shorter when clocks change. */
  lengthMs: number
}

/** The time range of one whole window: `start <= receivedAt < end`. */
export interface PeriodWindow {
  start: Instant
  end: Instant
}

/**
 * Parses a period: `15m`, `6h`, `2d`, `4w`, `hourly`, `daily` or `weekly`. Throws `AppError('invalid')` unless it is
 * between 1 minute and 4 weeks.
 */
export function parsePeriod(text: string): Period {
  const [, digits, unit] = /^([1-9]\d*)([mhdw])$/.exec(WORDS[text] ?? text) ?? []
  const count = Number(digits)
  const lengthMs = count * (UNIT_MS[unit as Unit] ?? Number.NaN)
  if (!(lengthMs <= LONGEST_MS)) {
    throw new AppError(
      'invalid',
      'period: must be a whole number followed by m, h, d or w, from 1m to 4w, or one of hourly, daily and weekly',
    )
  }
  return { count, unit: unit as Unit, lengthMs }
}

/** 1970-01-05, in days since the epoch. Weeks are counted from this day, days from the epoch. */
const FIRST_MONDAY = 4

/**
 * Returns the window that contains an instant. Windows are adjacent: every instant is in exactly one window. Minutes
 * and hours are counted from the epoch. Days and weeks begin at midnight in `timezone`, and weeks on Monday. Periods of
 * several days are counted from 1970-01-01, periods of several weeks from 1970-01-05. A day has 23 or 25 hours when
 * clocks change, and begins at 01:00 where midnight is skipped. A day that a country skipped (Samoa's 2011-12-30) has
 * no window.
 */
export function windowAt(period: Period, timezone: string, instant: Instant): PeriodWindow {
  const { count, unit, lengthMs } = period
  if (unit === 'm' || unit === 'h') {
    const start = Math.floor(instant / lengthMs) * lengthMs
    return { start, end: start + lengthMs }
  }
  const days = unit === 'w' ? 7 * count : count
  const origin = unit === 'w' ? FIRST_MONDAY : 0
  const first = Math.floor((dayOf(instant, timezone) - origin) / days) * days + origin
  const end = startOfDay(first + days, timezone)
  // Where clocks were set back across midnight, the old date repeats after the new day has begun.
  if (instant >= end) return { start: end, end: startOfDay(first + 2 * days, timezone) }
  return { start: startOfDay(first, timezone), end }
}

/** Returns the window that begins where the given window ends. */
export function nextWindow(period: Period, timezone: string, { end }: PeriodWindow): PeriodWindow {
  return windowAt(period, timezone, end)
}

/** Returns the window that ends where the given window begins. */
export function previousWindow(period: Period, timezone: string, { start }: PeriodWindow): PeriodWindow {
  return windowAt(period, timezone, start - 1)
}

/** Returns the local date of an instant, in days since 1970-01-01. */
function dayOf(instant: Instant, timezone: string): number {
  const { year, month, day } = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone)
  return Date.UTC(year, month - 1, day) / DAY_MS
}

/** Returns the first instant of a local date, or of the next date where a country skipped this one. */
function startOfDay(day: number, timezone: string): Instant {
  // Without a time, Temporal returns the start of the day, not 00:00,
  // https://tc39.es/proposal-temporal/docs/plaindate.html
  return new Temporal.PlainDate(1970, 1, 1).add({ days: day }).toZonedDateTime(timezone).epochMilliseconds
}
