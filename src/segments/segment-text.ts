import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { hourText } from '../core/moment-text.ts'
import { countText, shareText } from '../core/text.ts'
import { type ComparedSegment, MIN_SESSIONS } from './rank-segments.ts'
import type { Dimension, SegmentKey } from './segment.ts'
import { UNKNOWN } from './segment-query.ts'

/** How hours of the day are shown. Their values are in UTC. */
export interface HourContext {
  /** Time zone of the organization. */
  timezone: string
  /** An instant of the compared period. It determines whether daylight saving time applies. */
  at: Instant
}

/** Options of `violationSummary`. */
export interface SummaryContext extends HourContext {
  /** Weighted number of violating events and of all events. */
  violating: number
  total: number
  sessions: number
  /** One in this many sessions was read. */
  oneIn: number
  unit: CountedUnit
}

/** What is counted. */
export type CountedUnit = 'events' | 'sessions'

/** Returns the summary of the segments in one or two sentences. */
export function violationSummary(segments: readonly ComparedSegment[], context: SummaryContext): string {
  const { violating, total, unit } = context
  const sample = sampleText(context.oneIn)
  if (segments.length === 0) return `No segment stands out: ${reasonOf(context)}.${sample}`
  const parts = segments.map(
    (segment, at) =>
      `${shareText(segment.violating / violating)}${at === 0 ? ' of violations' : ''} come from ${segmentText(segment, context)}`,
  )
  const rest = segments.reduce(
    (sum, segment) => ({ violating: sum.violating - segment.violating, total: sum.total - segment.total }),
    { violating, total },
  )
  const elsewhere =
    rest.total > 0 ? `; elsewhere ${shareText(Math.max(0, rest.violating) / rest.total)} of ${unit} violate` : ''
  return `${joinParts(parts)}${elsewhere}.${sample}`
}

/** Returns the sentence about the sample, with a leading space; empty if all sessions were read. */
export const sampleText = (oneIn: number): string =>
  oneIn > 1 ? ` Based on a sample of 1 in ${countText(oneIn)} sessions.` : ''

function reasonOf({ violating, total, sessions, unit }: SummaryContext): string {
  if (total === 0) return `there are no ${unit} to compare`
  if (violating === 0) return `no ${unit} violate in this period`
  if (violating >= total) return `all ${unit} violate`
  if (sessions >= MIN_SESSIONS) return `about ${shareText(violating / total)} of ${unit} violate overall`
  const isFew = violating < 2 * MIN_SESSIONS
  return isFew ? `too few ${unit} violate to tell` : 'the violations come from too few sessions to tell'
}

/** Returns `a`, `a and b` or `a, b and c`. */
function joinParts(parts: readonly string[]): string {
  const last = parts.at(-1) ?? ''
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`
}

/** Returns a segment in words: `Safari 18 on iOS`, `pages like /product/:id`, `consent denied in Germany`. */
export function segmentText({ dimensions, values }: SegmentKey, hours: HourContext): string {
  const [first = '', second] = values
  const [dimension, other] = dimensions
  const subject = TEXTS[dimension].alone(first, hours)
  return other === undefined || second === undefined ? subject : `${subject} ${TEXTS[other].joined(second, hours)}`
}

/** The wording of a dimension on its own, and after another one. */
interface DimensionText {
  alone(value: string, hours: HourContext): string
  joined(value: string, hours: HourContext): string
}

const named = (noun: string, joint: string): DimensionText => ({
  alone: (value) => (value === UNKNOWN ? `an unknown ${noun}` : value),
  joined: (value) => `${joint} ${value === UNKNOWN ? `an unknown ${noun}` : value}`,
})

const prefixed = (noun: string, joint: string): DimensionText => ({
  alone: (value) => `${noun} ${value}`,
  joined: (value) => `${joint} ${noun} ${value}`,
})

const DEVICES: Readonly<Record<string, string>> = {
  desktop: 'desktops',
  phone: 'phones',
  tablet: 'tablets',
  bot: 'bots',
}
const deviceText = (value: string) => DEVICES[value] ?? 'unknown devices'

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' })
function countryText(value: string): string {
  return /^[A-Z]{2}$/.test(value) ? (COUNTRIES.of(value) ?? value) : 'an unknown country'
}

/** Returns the hour `14:00` (UTC) as `15:00 to 16:00 CET`. */
function hourOfDay(value: string, { timezone, at }: HourContext): string {
  const midnight = Math.floor(at / DAY_MS) * DAY_MS
  return hourText(midnight + Number.parseInt(value, 10) * HOUR_MS, timezone)
}

const TEXTS: Readonly<Record<Dimension, DimensionText>> = {
  browser: named('browser', 'in'),
  browserVersion: named('browser version', 'in'),
  os: named('operating system', 'on'),
  device: { alone: deviceText, joined: (value) => `on ${deviceText(value)}` },
  country: { alone: countryText, joined: (value) => `in ${countryText(value)}` },
  language: prefixed('language', 'with'),
  consent: prefixed('consent', 'with'),
  release: prefixed('release', 'in'),
  account: prefixed('account', 'in'),
  pageGroup: {
    alone: (value) => (value === UNKNOWN ? 'unknown pages' : `pages like ${value}`),
    joined: (value) => (value === UNKNOWN ? 'on unknown pages' : `on ${value}`),
  },
  hour: {
    alone: (value, hours) => `the hour from ${hourOfDay(value, hours)}`,
    joined: (value, hours) => `from ${hourOfDay(value, hours)}`,
  },
}
