import ICAL from 'ical.js'
import { DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { CalendarDays, daysCovered, type Years } from './calendar-days.ts'
import { dayOfLocal, type LocalMs, localOfDay, localTimeAt } from './local-time.ts'
import { Recurrence } from './recurrence.ts'

/** Maximum number of events in a file, and of those that recur. */
const MAX_EVENTS = 5000
const MAX_RECURRING = 500
const MAX_EVENT_DAYS = 366
const MAX_LISTED_DATES = 1000

/** The properties that are read. Other lines, such as attachments, are ignored. */
const PROPERTIES = /^(?:UID|SUMMARY|STATUS|DTSTART|DTEND|DURATION|RRULE|RDATE|EXDATE|RECURRENCE-ID)[;:]/i

/** An event, with its times on the clock of the calendar's time zone. */
interface IcsEvent {
  uid: string
  name: string
  isDate: boolean
  start: LocalMs
  durationMs: number
  rule: Recurrence | null
  extra: LocalMs[]
  excluded: Set<LocalMs>
  /** The start of the occurrence that this event replaces; null when it replaces none. */
  replaces: LocalMs | null
  isCancelled: boolean
}

/**
 * Returns the days that the events of an iCalendar file (RFC 5545) cover, in the given years. Events with a time cover
 * days in `timezone`, as `daysCovered`. Throws `invalid` with a message without the field's name.
 */
export async function readIcs(text: string, years: Years, timezone: string): Promise<CalendarDays> {
  const blocks = eventBlocks(text)
  const yielder = new Yielder()
  const events: IcsEvent[] = []
  let recurring = 0
  for (const [index, block] of blocks.entries()) {
    const event = atEvent(index, () => eventOf(block, timezone))
    if (event.rule && ++recurring > MAX_RECURRING) {
      throw new AppError('invalid', `has more than ${MAX_RECURRING} recurring events`)
    }
    events.push(event)
    if (yielder.isDue) await yielder.yieldNow()
  }
  const replaced = Map.groupBy(
    events.filter(({ replaces }) => replaces !== null),
    ({ uid }) => uid,
  )
  const days = new CalendarDays(years)
  for (const [index, event] of events.entries()) {
    const others = event.replaces === null ? (replaced.get(event.uid) ?? []) : []
    atEvent(index, () => addDays(days, event, new Set(others.map(({ replaces }) => replaces))), false)
    if (yielder.isDue) await yielder.yieldNow()
  }
  return days
}

function atEvent<T>(index: number, read: () => T, isNamed = true): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError && !isNamed) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('invalid', `event ${index + 1}: ${reason.slice(0, 200)}`)
  }
}

/** Returns the relevant lines of each event, without the lines of nested components. */
function eventBlocks(text: string): string[] {
  // https://www.rfc-editor.org/rfc/rfc5545#section-3.1: a line that begins with white space continues the previous one.
  const lines = text
    .replace(/^\uFEFF/, '')
    .replace(/\r?\n[ \t]/g, '')
    .split(/\r?\n|\r/)
  if (!/^BEGIN:VCALENDAR\s*$/i.test(lines.find((line) => line.trim() !== '') ?? '')) {
    throw new AppError('invalid', 'is not an iCalendar file, which begins with BEGIN:VCALENDAR')
  }
  const blocks: string[] = []
  let [block, depth]: [string[] | null, number] = [null, 0]
  for (const line of lines) {
    const [, edge, component] = /^(BEGIN|END):([\w-]+)\s*$/i.exec(line) ?? []
    if (edge && component) {
      const isEvent = component.toUpperCase() === 'VEVENT'
      if (edge.toUpperCase() === 'BEGIN') {
        if (block) depth++
        else if (isEvent) block = []
      } else if (block && depth > 0) depth--
      else if (block && isEvent) {
        blocks.push(`BEGIN:VEVENT\r\n${block.join('\r\n')}\r\nEND:VEVENT`)
        if (blocks.length > MAX_EVENTS) throw new AppError('invalid', `has more than ${MAX_EVENTS} events`)
        block = null
      }
    } else if (block && depth === 0 && PROPERTIES.test(line)) block.push(line)
  }
  if (block) throw new AppError('invalid', 'ends in the middle of an event')
  return blocks
}

type Property = [name: string, params: Record<string, string | string[]>, type: string, ...values: unknown[]]

function eventOf(block: string, timezone: string): IcsEvent {
  const properties = ICAL.parse(block)[1] as Property[]
  const find = (name: string) => properties.find(([other]) => other === name)
  const all = (name: string) => properties.filter(([other]) => other === name)
  const timesOf = (some: Property[]) => {
    const times = some.flatMap((property) => property.slice(3).map((value) => localOf(property, value, timezone)))
    if (times.length > MAX_LISTED_DATES) throw new Error(`lists more than ${MAX_LISTED_DATES} dates`)
    return times
  }
  const begin = find('dtstart')
  if (!begin) throw new Error('DTSTART is missing')
  const start = localOf(begin, begin[3], timezone)
  const isDate = begin[2] === 'date'
  const rule = find('rrule')
  const [replaces = null] = timesOf(all('recurrence-id').slice(0, 1))
  return {
    uid: String(find('uid')?.[3] ?? ''),
    name: String(find('summary')?.[3] ?? '').trim() || 'Holiday',
    isDate,
    start,
    durationMs: durationOf(start, isDate, find('dtend'), find('duration'), timezone),
    rule: rule ? ruleOf(rule, start, timezone) : null,
    extra: timesOf(all('rdate')),
    excluded: new Set(timesOf(all('exdate'))),
    replaces,
    isCancelled: String(find('status')?.[3] ?? '').toUpperCase() === 'CANCELLED',
  }
}

function ruleOf([, , , value]: Property, start: LocalMs, timezone: string): Recurrence {
  try {
    return Recurrence.parse(ICAL.Recur.fromData(value as never).toString(), start, timezone)
  } catch (error) {
    throw error instanceof AppError ? new Error(`RRULE: ${error.message}`) : error
  }
}

function durationOf(
  start: LocalMs,
  isDate: boolean,
  end: Property | undefined,
  duration: Property | undefined,
  timezone: string,
): number {
  const lasts = end
    ? localOf(end, end[3], timezone) - start
    : duration
      ? ICAL.Duration.fromString(String(duration[3])).toSeconds() * 1000
      : 0
  if (lasts < 0) throw new Error('DTEND is before DTSTART')
  if (lasts > MAX_EVENT_DAYS * DAY_MS) throw new Error(`is longer than ${MAX_EVENT_DAYS} days`)
  return isDate ? Math.max(DAY_MS, lasts) : lasts
}

/** Returns a DATE, DATE-TIME or start of a PERIOD as the time on clocks in `timezone`. */
function localOf([name, { tzid }, type]: Property, value: unknown, timezone: string): LocalMs {
  const text = String(type === 'period' && Array.isArray(value) ? value[0] : value)
  const [, day, time = 'T00:00:00', isUtc] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d)?(Z)?$/.exec(text) ?? []
  const shown = day === undefined ? Number.NaN : Date.parse(`${day}${time}Z`)
  if (Number.isNaN(shown) || dayOfLocal(shown) !== day) throw new Error(`${name.toUpperCase()} is not a date`)
  if (type === 'date') return localOfDay(day)
  if (isUtc) return localTimeAt(shown, timezone)
  // A time zone that is only defined in the file, such as "Customized Time Zone", is treated like the calendar's own.
  const own = typeof tzid === 'string' && isTimezone(tzid) ? tzid : timezone
  if (own === timezone) return shown
  const there = Temporal.PlainDateTime.from(`${day}${time}`).toZonedDateTime(own)
  return localTimeAt(there.epochMilliseconds, timezone)
}

function isTimezone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

function addDays(days: CalendarDays, event: IcsEvent, replaced: ReadonlySet<LocalMs | null>): void {
  if (event.isCancelled) return
  const { first, last } = days.years
  const [from, to] = [localOfDay(`${first}-01-01`) - event.durationMs, localOfDay(`${last}-12-31`) + DAY_MS]
  const starts = [...(event.rule?.between(from, to) ?? [event.start]), ...event.extra]
  for (const start of starts) {
    if (start < from || start >= to || event.excluded.has(start) || replaced.has(start)) continue
    for (const day of daysCovered({ from: start, to: start + event.durationMs })) days.add(day, event.name)
  }
}
