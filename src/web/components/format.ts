/** Placeholder for unknown values. */
export const UNKNOWN = '–'

/**
 * Returns the locale for numbers and dates: the language of the pages with the user's region. `en` in Germany formats
 * `12.400` and `12 Mar 2026`.
 */
export function localeOf(language: string, reader: string): string {
  try {
    const { region } = new Intl.Locale(reader).maximize()
    return region ? `${language}-${region}` : language
  } catch {
    // Browsers without a system locale report the invalid `en-US@posix`.
    return language
  }
}

let readers: string | null = null
/** Locale for formatting; `en-GB` in tests, which have no document. */
function locale(): string {
  if (typeof document === 'undefined') return 'en-GB'
  readers ??= localeOf(document.documentElement.lang || 'en', navigator.language || 'en')
  return readers
}

const formats = new Map<string, Intl.NumberFormat>()
/** Returns a cached format, because creating one is slow. */
function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options)
  let format = formats.get(key)
  if (!format) {
    format = new Intl.NumberFormat(locale(), options)
    formats.set(key, format)
  }
  return format
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()
function dateFormat(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = timeZone + JSON.stringify(options)
  let format = dateFormats.get(key)
  if (!format) {
    const all = options.hour || options.timeStyle ? { hourCycle: 'h23' as const, ...options } : options
    format = new Intl.DateTimeFormat(locale(), { timeZone, ...all })
    dateFormats.set(key, format)
  }
  return format
}

/** Formats a time (milliseconds since the epoch) in a time zone, with hours from 0 to 23. */
export const formatDate = (at: number, timeZone: string, options: Intl.DateTimeFormatOptions): string =>
  dateFormat(timeZone, options).format(at)

/** Formats a period: `12 Mar 2026, 08:00 – 20:00`, or whole days: `12 – 15 Mar 2026`. The end is exclusive. */
export function formatSpan(from: number, to: number, timeZone: string, isDays = false): string {
  const format = dateFormat(timeZone, isDays ? { dateStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' })
  return format.formatRange(from, Math.max(from, isDays ? to - 1 : to))
}

/** Formats a list: `a, b and c`. */
export const formatList = (names: readonly string[]): string => new Intl.ListFormat(locale()).format(names)

/** Replaces the hyphen with a minus sign. */
const withMinus = (text: string): string => text.replace('-', '−')

/** Formats a number: `12,400`; at most `digits` decimals, 2 by default. */
export const formatNumber = (value: number, digits = 2): string =>
  withMinus(numberFormat({ maximumFractionDigits: digits }).format(value))

/** Formats a number for an axis: `12K`. */
export const formatCompact = (value: number): string =>
  withMinus(numberFormat({ notation: 'compact', maximumFractionDigits: 1 }).format(value))

/** Formats a share from 0 to 1: `42 %`; one decimal below 10 %, and never 0 for a positive share. */
export function formatPercent(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.05) return `< ${formatNumber(0.1)}\u00a0%`
  return `${formatNumber(percent, Math.abs(percent) < 9.95 ? 1 : 0)}\u00a0%`
}

/** Formats an amount: `€12,400`, or only the number without a currency. Decimals are shown only below 100. */
export function formatMoney(value: number, currency: string | null): string {
  const digits = Math.abs(value) < 100 && !Number.isInteger(value) ? 2 : 0
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  if (currency === null) return withMinus(numberFormat(fraction).format(value))
  const format = numberFormat({ style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...fraction })
  return withMinus(format.format(value))
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats a duration in at most two units: `450 ms`, `2.3 s`, `38 min`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `−${formatDuration(-ms)}`
  if (ms < SECOND) return `${formatNumber(ms, ms < 10 ? 1 : 0)}\u00a0ms`
  if (ms < 10 * SECOND) return `${formatNumber(ms / SECOND, 1)}\u00a0s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}\u00a0s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}\u00a0min`
  const [big, name, small, smallName] = ms < DAY ? [HOUR, 'h', MINUTE, 'min'] : ([DAY, 'd', HOUR, 'h'] as const)
  const whole = `${formatNumber(Math.floor(ms / big))}\u00a0${name}`
  const rest = Math.floor((ms % big) / small)
  return rest === 0 ? whole : `${whole} ${rest}\u00a0${smallName}`
}

/** Formats the length of a time range: `24 h`, `3 d`. */
export const formatHours = (hours: number): string =>
  hours <= 48 ? `${formatNumber(hours)}\u00a0h` : `${formatNumber(hours / 24, 1)}\u00a0d`

/** Formats an age in one unit: `38 min`, `2 h`, `6 d`. */
export function formatAge(ms: number): string {
  const [unit, name] = ms < HOUR ? [MINUTE, 'min'] : ms < DAY ? [HOUR, 'h'] : ([DAY, 'd'] as const)
  return `${Math.floor(ms / unit)}\u00a0${name}`
}

/** Formats a date and time: `12 Mar 2026, 14:10`. */
export const formatMoment = (at: number, timeZone: string): string =>
  formatDate(at, timeZone, { dateStyle: 'medium', timeStyle: 'short' })

const CLOCK = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const

/** Formats a date and time with the zone, for texts that are read elsewhere: `12 Mar 2026, 14:10 CET`. */
export const formatMomentInZone = (at: number, timeZone: string): string =>
  formatDate(at, timeZone, { day: 'numeric', month: 'short', year: 'numeric', ...CLOCK })

/** Formats the time of day with the zone: `14:10 CET`. */
export const formatClockInZone = (at: number, timeZone: string): string => formatDate(at, timeZone, CLOCK)

/** Formats a UTC day from the API: `2026-03-12` → `12 Mar 2026`. */
export const formatIsoDay = (day: string): string => formatDay(Date.parse(day), 'UTC')

/** Formats a date: `12 Mar 2026`. */
export const formatDay = (at: number, timeZone: string): string => formatDate(at, timeZone, { dateStyle: 'medium' })

/** Distance between a time and now; a date if it is more than seven days. */
export type Distance = { is: 'now' } | { is: 'ago' | 'ahead'; age: string } | { is: 'date'; date: string }

/** Returns how to show a time relative to `now`. */
export function distanceOf(at: number, now: number, timeZone: string): Distance {
  const away = Math.abs(now - at)
  if (away < MINUTE) return { is: 'now' }
  if (away >= 7 * DAY) return { is: 'date', date: formatDay(at, timeZone) }
  return { is: at < now ? 'ago' : 'ahead', age: formatAge(away) }
}
