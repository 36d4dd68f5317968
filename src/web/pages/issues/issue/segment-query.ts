import { formatClockInZone } from '../../../components/format.ts'

/** A segment, as in answers. */
export interface SegmentName {
  dimension: string
  value: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Returns the value of a segment for display. Hours of the day, which are in UTC in answers, are shown in the time zone
 * with its offset at the time `at`.
 */
export function segmentValue({ dimension, value }: SegmentName, timeZone: string, at: number): string {
  const dimensions = dimension.split('+')
  const values = dimensions.length === 1 ? [value] : value.split('+')
  const midnight = Math.floor(at / DAY_MS) * DAY_MS
  const hourOf = (hour: string) => formatClockInZone(midnight + Number.parseInt(hour, 10) * HOUR_MS, timeZone)
  return values.map((one, n) => (dimensions[n] === 'hour' ? hourOf(one) : one)).join(' + ')
}

/** Dimensions by which the dictionary can be filtered; the values of other dimensions are not fields of events. */
const FIELDS = ['browser', 'os', 'device', 'country', 'language', 'consent', 'release', 'pageGroup']

/**
 * Returns the segment as the dictionary's query parameter, such as `$browser=Safari;$browserVersion=18;$os=iOS`. Null
 * if the dictionary can't be filtered by it.
 */
export function segmentQuery({ dimension, value }: SegmentName): string | null {
  const [dimensions, values] = [dimension.split('+'), value.split('+')]
  if (dimensions.length !== values.length || value.includes(';')) return null
  const parts = dimensions.map((name, at) => partsOf(name, values[at] ?? ''))
  return parts.includes(null) ? null : parts.join(';')
}

function partsOf(dimension: string, value: string): string | null {
  // An unknown consent is a value, other unknown properties have none.
  const known = value === 'unknown' && dimension !== 'consent' ? '' : value
  if (dimension === 'browserVersion') {
    const [, browser = '', version = ''] = /^(.*) (\S+)$/.exec(known) ?? []
    return browser === '' ? null : `$browser=${browser};$browserVersion=${version}`
  }
  return FIELDS.includes(dimension) ? `$${dimension}=${known}` : null
}
