import { HOUR_MS, type Instant } from './clock.ts'

/**
 * Times in sentences for the members of an organization, in its time zone and with the zone named. Times for operators
 * are in UTC, see `timeText`.
 */

interface MomentParts {
  /** `27 Nov 2026` */
  day: string
  /** `20:33` */
  clock: string
  /** `CET`; `GMT+9` for a zone whose abbreviation is uncommon in English. */
  zone: string
}

const FORMAT = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const

/** British and American formats by time zone, cached because creating one is slow. */
const formats = new Map<string, readonly [Intl.DateTimeFormat, Intl.DateTimeFormat]>()
/** Maximum number of cached zones. Names are case-insensitive, so a zone has many spellings. */
const MAX_ZONES = 1000

function formatsOf(timezone: string) {
  const known = formats.get(timezone)
  if (known) return known
  const options = { ...FORMAT, timeZone: timezone }
  const created = [new Intl.DateTimeFormat('en-GB', options), new Intl.DateTimeFormat('en-US', options)] as const
  if (formats.size < MAX_ZONES) formats.set(timezone, created)
  return created
}

function partsOf(instant: Instant, timezone: string): MomentParts {
  const [british, american] = formatsOf(timezone)
  const { day, month, year, hour, minute, timeZoneName: zone = '' } = namedParts(british, instant)
  return {
    day: `${day} ${month} ${year}`,
    clock: `${hour}:${minute}`,
    // British English has abbreviations of European zones, American English those of American ones.
    zone: /^GMT[+-]/.test(zone) ? (namedParts(american, instant).timeZoneName ?? zone) : zone,
  }
}

const namedParts = (format: Intl.DateTimeFormat, instant: Instant): Partial<Record<string, string>> =>
  Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]))

/** Returns a time as `27 Nov 2026, 20:33 CET`. */
export function momentText(instant: Instant, timezone: string): string {
  const { day, clock, zone } = partsOf(instant, timezone)
  return `${day}, ${clock} ${zone}`
}

/**
 * Returns a period as `27 Nov 2026, 20:00 to 21:30 CET`. The end includes its day if that differs, and the start its zone
 * if the clocks change in between.
 */
export function periodText(from: Instant, to: Instant, timezone: string): string {
  const [start, end] = [partsOf(from, timezone), partsOf(to, timezone)]
  const first = `${start.day}, ${start.clock}${start.zone === end.zone ? '' : ` ${start.zone}`}`
  return `${first} to ${start.day === end.day ? '' : `${end.day}, `}${end.clock} ${end.zone}`
}

/** Returns the time of day as `20:33 CET`. */
export function clockText(instant: Instant, timezone: string): string {
  const { clock, zone } = partsOf(instant, timezone)
  return `${clock} ${zone}`
}

/** Returns the hour that begins at this time as `20:00 to 21:00 CET`. */
export const hourText = (instant: Instant, timezone: string): string =>
  `${partsOf(instant, timezone).clock} to ${clockText(instant + HOUR_MS, timezone)}`

/** Returns the day of a time as `27 Nov 2026`. */
export const dayText = (instant: Instant, timezone: string): string => partsOf(instant, timezone).day
