import { formatDate } from '../components/format.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns a time zone's offset from UTC at a given time, in milliseconds. */
export function offsetAt(at: number, timeZone: string): number {
  let format = formats.get(timeZone)
  if (!format) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
    format = new Intl.DateTimeFormat('en', { timeZone, hourCycle: 'h23', second: 'numeric', ...parts })
    formats.set(timeZone, format)
  }
  const named = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = named
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
}

/** Converts local time to milliseconds since the epoch; `local` is the clock time encoded as if it were UTC. */
export function momentOf(local: number, timeZone: string): number {
  const guess = local - offsetAt(local, timeZone)
  return local - offsetAt(guess, timeZone)
}

/** Possible distances between ticks, in local time. */
const STEPS = [
  ...[5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 28, 91].map((days) => days * DAY),
]
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY = 4 * DAY

export interface TimeTick {
  at: number
  label: string
}

/**
 * Returns at most `count` ticks between two times, inclusive. Ticks are at round local times, such as 00:00 and 06:00,
 * whole days or Mondays. Days are labelled with the date, hours with the time.
 */
export function timeTicks(from: number, to: number, timeZone: string, count: number): TimeTick[] {
  const first = from + offsetAt(from, timeZone)
  const last = to + offsetAt(to, timeZone)
  const step = STEPS.find((each) => Math.floor((last - first) / each) + 1 <= Math.max(1, count)) ?? 365 * DAY
  const origin = step > DAY ? FIRST_MONDAY : 0
  const ticks: TimeTick[] = []
  for (let local = Math.ceil((first - origin) / step) * step + origin; local <= last; local += step) {
    const at = momentOf(local, timeZone)
    // Skips local times that do not exist because of daylight saving time.
    if (at + offsetAt(at, timeZone) !== local || at < from || at > to) continue
    ticks.push({ at, label: labelOf(at, local, timeZone, step) })
  }
  return ticks
}

function labelOf(at: number, local: number, timeZone: string, step: number): string {
  if (local % DAY !== 0) return formatDate(at, timeZone, { hour: '2-digit', minute: '2-digit' })
  if (step > 2 * DAY) return formatDate(at, timeZone, { day: 'numeric', month: 'short' })
  return `${formatDate(at, timeZone, { weekday: 'short' })} ${formatDate(at, timeZone, { day: 'numeric' })}`
}

/** Buckets that start at midnight UTC are labelled with their UTC dates in every time zone. */
export const zoneOfDay = (start: number, timeZone: string): string => (start % DAY === 0 ? 'UTC' : timeZone)

/** Returns at most `count` ticks for daily buckets, at their centres. */
function dayTicks(starts: readonly number[], stepMs: number, timeZone: string, count: number): TimeTick[] {
  const every = Math.max(1, Math.ceil(starts.length / Math.max(1, count)))
  return starts
    .filter((_, index) => index % every === 0)
    .map((start) => start + stepMs / 2)
    .map((at) => ({
      at,
      label: formatDate(at, zoneOfDay(at - stepMs / 2, timeZone), { day: 'numeric', month: 'short' }),
    }))
}

/** Formats the start of a bucket: `Wed 12 Mar, 08:00`. Daily buckets have no time. */
export function formatBucket(start: number, timeZone: string, stepMs: number): string {
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const
  if (stepMs >= DAY) return formatDate(start, zoneOfDay(start, timeZone), day)
  return formatDate(start, timeZone, { ...day, hour: '2-digit', minute: '2-digit' })
}

/** Returns the ticks of a series of buckets. */
export function bucketTicks(starts: readonly number[], stepMs: number, timeZone: string, count: number): TimeTick[] {
  const [first] = starts
  const last = starts.at(-1)
  if (first === undefined || last === undefined) return []
  if (stepMs >= DAY) return dayTicks(starts, stepMs, timeZone, count)
  return timeTicks(first, last + stepMs, timeZone, count)
}
