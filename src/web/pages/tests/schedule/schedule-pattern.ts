import { Cron } from 'croner'

/** The choices of a schedule. `custom` is any other cron pattern. */
export const INTERVALS = ['none', 'quarter', 'half', 'hour', 'day', 'weekdays', 'week', 'custom'] as const
type Interval = (typeof INTERVALS)[number]

/** A schedule as a choice in a form. */
export interface Schedule {
  interval: Interval
  /** Minute from 0 to 59; used by `hour`, `day`, `weekdays` and `week`. */
  minute: number
  /** Hour from 0 to 23; used by `day`, `weekdays` and `week`. */
  hour: number
  /** Day from 0 (Sunday) to 6; used by `week`. */
  weekday: number
}

/** Initial values of the fields that an interval has in addition to the pattern it was read from. */
const DEFAULTS = { minute: 0, hour: 6, weekday: 1 }
const ALIASES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
}
const DAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const QUARTERS = ['*/15', '0,15,30,45', '0-59/15']
const HALVES = ['*/30', '0,30', '0-59/30']
const WEEKDAYS = ['1-5', '1,2,3,4,5']

/** Returns the choice that a cron pattern corresponds to; `custom` when there is none, `none` for an empty pattern. */
export function scheduleOf(pattern: string): Schedule {
  const text = pattern.trim()
  if (text === '') return { ...DEFAULTS, interval: 'none' }
  const custom: Schedule = { ...DEFAULTS, interval: 'custom' }
  const fields = (ALIASES[text.toLowerCase()] ?? text).split(/\s+/)
  const [minutes = '', hours = '', date = '', month = '', days = ''] = fields
  if (fields.length !== 5 || date !== '*' || month !== '*') return custom
  const day = DAY_NAMES.reduce((text, name, index) => text.replaceAll(name, String(index)), days.toUpperCase())
  if (hours === '*' && day === '*') {
    if (QUARTERS.includes(minutes)) return { ...DEFAULTS, interval: 'quarter' }
    if (HALVES.includes(minutes)) return { ...DEFAULTS, interval: 'half' }
  }
  const minute = numberOf(minutes, 59)
  if (minute === null) return custom
  if (hours === '*') return day === '*' ? { ...DEFAULTS, interval: 'hour', minute } : custom
  const hour = numberOf(hours, 23)
  if (hour === null) return custom
  const time = { ...DEFAULTS, minute, hour }
  if (day === '*') return { ...time, interval: 'day' }
  if (WEEKDAYS.includes(day)) return { ...time, interval: 'weekdays' }
  const weekday = numberOf(day, 7)
  return weekday === null ? custom : { ...time, interval: 'week', weekday: weekday % 7 }
}

function numberOf(text: string, max: number): number | null {
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value <= max ? value : null
}

/** Returns the cron pattern of a choice; empty for `none` and `custom`. */
export function patternOf({ interval, minute, hour, weekday }: Schedule): string {
  switch (interval) {
    case 'quarter':
      return '*/15 * * * *'
    case 'half':
      return '*/30 * * * *'
    case 'hour':
      return `${minute} * * * *`
    case 'day':
      return `${minute} ${hour} * * *`
    case 'weekdays':
      return `${minute} ${hour} * * 1-5`
    case 'week':
      return `${minute} ${hour} * * ${weekday}`
    default:
      return ''
  }
}

/**
 * Returns the first times after `now` that match a cron pattern in a time zone, in milliseconds since the epoch. Null for
 * an invalid pattern.
 */
export function nextRuns(pattern: string, timezone: string, now: number, count: number): number[] | null {
  // croner parses a string that contains a colon as a date.
  if (pattern.includes(':')) return null
  try {
    return new Cron(pattern, { timezone, paused: true }).nextRuns(count, new Date(now)).map((at) => at.getTime())
  } catch {
    return null
  }
}
