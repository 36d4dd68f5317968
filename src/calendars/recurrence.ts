import { RRuleTemporal } from 'rrule-temporal'
import { DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type LocalMs, localTimeAt } from './local-time.ts'

/** Maximum length of a rule in characters. */
export const MAX_RULE_LENGTH = 500

const MAX_INTERVAL = 1000
const MAX_COUNT = 1000
/** Maximum number of steps of one query, which takes a few milliseconds. */
const MAX_STEPS = 5000
/** Rules are checked up to this time after their start. */
const FAR_MS = 20 * 366 * DAY_MS

const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY']

/** Allowed range of the numbers in each list, and whether they may be negative, which counts from the end. */
const LISTS: Record<string, { min: number; max: number; signed?: true }> = {
  BYMONTH: { min: 1, max: 12 },
  BYMONTHDAY: { min: 1, max: 31, signed: true },
  BYYEARDAY: { min: 1, max: 366, signed: true },
  BYWEEKNO: { min: 1, max: 53, signed: true },
  BYSETPOS: { min: 1, max: 366, signed: true },
  BYHOUR: { min: 0, max: 23 },
  BYMINUTE: { min: 0, max: 59 },
  BYSECOND: { min: 0, max: 59 },
}

const fault = (message: string) => new AppError('invalid', message)

/**
 * The local start times of a recurring event: `start` and the times of an RRULE (RFC 5545) after it. Rules apply to the
 * clock in the event's time zone, so an event at 22:00 is always at 22:00 there.
 */
export class Recurrence {
  private constructor(
    private readonly rule: RRuleTemporal,
    private readonly start: LocalMs,
  ) {}

  /**
   * Reads a rule, with or without `RRULE:`. Throws `invalid` with a message without the field's name for a rule that is
   * malformed or repeats more than once a day, or more than once an hour with `hourly`.
   */
  static parse(text: string, start: LocalMs, timezone: string, { hourly = false } = {}): Recurrence {
    if (text.length > MAX_RULE_LENGTH) throw fault(`must have at most ${MAX_RULE_LENGTH} characters`)
    const parts = partsOf(text)
    checkParts(parts, hourly)
    const until = parts.get('UNTIL')
    if (until !== undefined) parts.set('UNTIL', localUntil(until, timezone))
    const rruleString = `RRULE:${[...parts].map(([name, value]) => `${name}=${value}`).join(';')}`
    const dtstart = zoned(start)
    try {
      // Local times are evaluated as if they were UTC, in which no time is skipped or repeated.
      const rule = new RRuleTemporal({
        rruleString,
        dtstart,
        tzid: 'UTC',
        strict: true,
        includeDtstart: true,
        cache: false,
        maxIterations: MAX_STEPS,
        maxCandidateEvaluations: 4 * MAX_STEPS,
      })
      return new Recurrence(rule, start)
    } catch (error) {
      throw fault(`is not a recurrence rule: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Throws `invalid` for a rule that takes too long to evaluate, such as one for 30 February. */
  checkCost(): void {
    try {
      this.rule.next(new Date(this.start), false)
      this.rule.previous(new Date(this.start + FAR_MS), true)
    } catch (error) {
      if (!isExhausted(error)) throw error
      throw fault('has no further date, or takes too long to evaluate')
    }
  }

  /** Returns the last start at or before a local time; null before the first one. */
  lastAt(at: LocalMs): LocalMs | null {
    if (at < this.start) return null
    return orNever(null, () => this.rule.previous(new Date(at), true)?.epochMilliseconds ?? null)
  }

  /** Returns the first start after a local time; null when there is none. */
  nextAfter(at: LocalMs): LocalMs | null {
    if (at < this.start) return this.start
    return orNever(null, () => this.rule.next(new Date(at), false)?.epochMilliseconds ?? null)
  }

  /** Returns the starts in `from <= t < to` in order. The time range should be a few years at most. */
  between(from: LocalMs, to: LocalMs): LocalMs[] {
    if (to <= this.start) return []
    const [first, last] = [new Date(Math.max(from, this.start)), new Date(to - 1)]
    return orNever([], () => this.rule.between(first, last, true).map((at) => at.epochMilliseconds))
  }
}

const isExhausted = (error: unknown) => error instanceof Error && error.message.includes('exceeded')

/** Returns the result of a query, or `never` when it takes too many steps. */
function orNever<T>(never: T, query: () => T): T {
  try {
    return query()
  } catch (error) {
    if (isExhausted(error)) return never
    throw error
  }
}

const zoned = (local: LocalMs) => Temporal.Instant.fromEpochMilliseconds(local).toZonedDateTimeISO('UTC')

function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>()
  const trimmed = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
  for (const part of trimmed.split(';')) {
    const [, name, value] = /^([A-Z]+)=([A-Z0-9,+-]+)$/.exec(part.trim()) ?? []
    if (!name || !value) throw fault('must have a format such as FREQ=WEEKLY;BYDAY=SU')
    if (parts.has(name)) throw fault(`${name} occurs twice`)
    parts.set(name, value)
  }
  return parts
}

function checkParts(parts: ReadonlyMap<string, string>, hourly: boolean): void {
  const frequency = parts.get('FREQ')
  if (frequency === undefined || !FREQUENCIES.includes(frequency)) {
    throw fault(`FREQ must be one of ${FREQUENCIES.join(', ')}`)
  }
  if (parts.has('COUNT') && parts.has('UNTIL')) throw fault('COUNT and UNTIL exclude each other')
  for (const [name, value] of parts) {
    if (name === 'FREQ' || name === 'UNTIL') continue
    if (name === 'INTERVAL') checkNumber(name, value, { min: 1, max: MAX_INTERVAL })
    else if (name === 'COUNT') checkNumber(name, value, { min: 1, max: MAX_COUNT })
    else if (name === 'WKST') checkDays(name, value, /^(?:MO|TU|WE|TH|FR|SA|SU)$/)
    else if (name === 'BYDAY') checkDays(name, value, /^(?:[+-]?[1-9]\d?)?(?:MO|TU|WE|TH|FR|SA|SU)$/)
    else checkList(name, value)
  }
  const several = ['BYSECOND', 'BYMINUTE', ...(hourly ? [] : ['BYHOUR'])].find((name) => parts.get(name)?.includes(','))
  if (several) throw fault(`${several} must have one value, because it repeats too often otherwise`)
}

function checkNumber(name: string, text: string, { min, max, signed }: { min: number; max: number; signed?: true }) {
  const value = /^[+-]?\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  const size = signed ? Math.abs(value) : value
  if (!(size >= min && size <= max)) throw fault(`${name} must be from ${min} to ${max}`)
}

function checkDays(name: string, text: string, pattern: RegExp): void {
  if (!text.split(',').every((day) => pattern.test(day))) throw fault(`${name} must name days such as MO or -1SU`)
}

function checkList(name: string, text: string): void {
  const range = LISTS[name]
  if (!range) throw fault(`${name} is not supported`)
  for (const value of text.split(',')) checkNumber(name, value, range)
}

/** Returns UNTIL as a local time. A date without a time includes the whole day. */
function localUntil(text: string, timezone: string): string {
  const [, year, month, day, hours, minutes, seconds, isUtc] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(text) ?? []
  const shown = `${year}-${month}-${day}T${hours ?? '00'}:${minutes ?? '00'}:${seconds ?? '00'}Z`
  const at = Date.parse(shown)
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 19) !== shown.slice(0, 19)) {
    throw fault('UNTIL must be a date such as 20261231 or 20261231T220000Z')
  }
  const local = hours === undefined ? at + DAY_MS - 1000 : isUtc ? localTimeAt(at, timezone) : at
  return `${new Date(local).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}
