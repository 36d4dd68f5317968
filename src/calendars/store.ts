import type { Clock, Instant } from '../core/clock.ts'
import { AppError, atField } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { checkName } from '../org/org.ts'
import { timezoneOf } from '../org/store.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { deleteOrgRow, findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import { type Calendar, type CalendarDetail, type CalendarInput, MAX_CALENDARS, NEXT_DAYS } from './calendar.ts'
import { type CalendarDays, type Years, yearsAround } from './calendar-days.ts'
import { countryHolidays } from './country-holidays.ts'
import { Holidays } from './holidays.ts'
import { dayOfLocal, instantsOfDay, localTimeAt } from './local-time.ts'
import { readIcs } from './read-ics.ts'

const NO_SUCH_CALENDAR = 'no such calendar'

type CalendarRow = Omit<Calendar, 'nextDays'> & { orgId: string }

/** Where the days of a calendar come from. One of the two is null. */
interface Source {
  country: string | null
  ics: string | null
}

/** Identifies what the stored days of a calendar depend on. */
const basisOf = ({ first, last }: Years, timezone: string) => `${first}-${last} ${timezone}`

const SELECT_CALENDAR = 'SELECT id, orgId, name, country, createdAt FROM calendar'

/** Returns a page of calendars, oldest first. */
export function listCalendars(db: Db, clock: Clock, orgId: string, page: PageRequest): Page<Calendar> {
  const today = todayIn(db, orgId, clock.now())
  return readPage(db, page, {
    sql: `${SELECT_CALENDAR} WHERE orgId = @orgId`,
    values: { orgId },
    sortBy: 'id',
    itemOf: (row: CalendarRow) => calendarOf(db, row, today),
  })
}

/**
 * Creates a calendar and stores its days. Throws `invalid` for a blank name, an unknown country or an unreadable file,
 * and `conflict` when the organization has too many calendars.
 */
export async function createCalendar(db: Db, clock: Clock, orgId: string, input: CalendarInput): Promise<Calendar> {
  const cells = cellsOf(input)
  refuseAnother(db, orgId)
  const { days, basis } = await readDays(db, clock, orgId, cells)
  return tx(db, () => {
    // Checked again, because another call may have created one while the days were computed.
    refuseAnother(db, orgId)
    const createdAt = clock.now()
    const id = newId('cal', createdAt)
    prepared<[object]>(
      db,
      `INSERT INTO calendar (id, orgId, name, country, ics, basis, createdAt)
       VALUES (@id, @orgId, @name, @country, @ics, '', @createdAt)`,
    ).run({ id, orgId, ...cells, createdAt })
    saveDays(db, id, days, basis)
    const row = findOrgRow<CalendarRow>(db, SELECT_CALENDAR, { orgId, id }, NO_SUCH_CALENDAR)
    return calendarOf(db, row, todayIn(db, orgId, createdAt))
  })
}

/** Returns the calendar with its source. Throws `notFound`. */
export function findCalendar(db: Db, clock: Clock, key: OrgRowKey): CalendarDetail {
  const select = 'SELECT id, orgId, name, country, ics, createdAt FROM calendar'
  const { ics, ...row } = findOrgRow<CalendarRow & Source>(db, select, key, NO_SUCH_CALENDAR)
  return { ...calendarOf(db, row, todayIn(db, key.orgId, clock.now())), ics }
}

/**
 * Replaces the name and the days of a calendar. Throws `notFound`, and `invalid` for a blank name, an unknown country
 * or an unreadable file.
 */
export async function replaceCalendar(
  db: Db,
  clock: Clock,
  key: OrgRowKey,
  input: CalendarInput,
): Promise<CalendarDetail> {
  const cells = cellsOf(input)
  findCalendar(db, clock, key)
  const { days, basis } = await readDays(db, clock, key.orgId, cells)
  return tx(db, () => {
    prepared<[object]>(
      db,
      'UPDATE calendar SET name = @name, country = @country, ics = @ics WHERE orgId = @orgId AND id = @id',
    ).run({ ...key, ...cells })
    saveDays(db, key.id, days, basis)
    return findCalendar(db, clock, key)
  })
}

/** Returns the column values for an input. Throws `invalid`, naming the field. */
function cellsOf({ name, country, ics }: CalendarInput): Source & { name: string } {
  const source: Source = { country: country?.toUpperCase() ?? null, ics: ics ?? null }
  if ((source.country === null) === (source.ics === null)) {
    throw new AppError('invalid', 'country: exactly one of `country` and `ics` is required')
  }
  return { name: checkName(name, 'name'), ...source }
}

/** Computes the days of a calendar. Throws `invalid` when there are none. */
async function readDays(db: Db, clock: Clock, orgId: string, source: Source) {
  const timezone = timezoneOf(db, orgId)
  const years = yearsAround(clock.now(), timezone)
  const days = await daysOf(source, years, timezone)
  if (days.list().length === 0) {
    throw new AppError('invalid', `ics: has no event from ${years.first} to ${years.last}`)
  }
  return { days, basis: basisOf(years, timezone) }
}

/** Deletes a calendar. Its days are then ordinary days. Throws `notFound`. */
export function deleteCalendar(db: Db, key: OrgRowKey): void {
  deleteOrgRow(db, 'DELETE FROM calendar', key, NO_SUCH_CALENDAR)
}

/**
 * Computes the days of calendars again when a year has begun or the time zone of their organization has changed. A
 * calendar whose days can't be computed keeps them and is retried; the promise rejects at the end.
 */
export async function refreshCalendars(db: Db, clock: Clock): Promise<void> {
  const failures: unknown[] = []
  for (const { id, timezone, basis, ...source } of storedCalendars(db)) {
    const years = yearsAround(clock.now(), timezone)
    if (basis === basisOf(years, timezone)) continue
    try {
      const days = await daysOf(withIcs(db, id, source), years, timezone)
      tx(db, () => saveDays(db, id, days, basisOf(years, timezone)))
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Returns the holidays of an organization; null when it has no calendars. Repeated calls are fast. */
export function holidayLookup(db: Db): (orgId: string) => Holidays | null {
  const known = new Map<string, { version: string; holidays: Holidays }>()
  const versionOf = prepared<[string], { version: string | null }>(
    db,
    `SELECT group_concat(calendar.id || basis || timezone) AS version
     FROM calendar JOIN org ON org.id = orgId WHERE orgId = ?`,
  )
  return (orgId) => {
    const { version = null } = versionOf.get(orgId) ?? {}
    if (version === null) {
      known.delete(orgId)
      return null
    }
    const found = known.get(orgId)
    if (found?.version === version) return found.holidays
    const holidays = new Holidays(daysOfOrg(db, orgId), timezoneOf(db, orgId))
    known.set(orgId, { version, holidays })
    return holidays
  }
}

/** A holiday, from midnight to midnight in the time zone of the organization. */
export interface NamedHoliday {
  name: string
  from: Instant
  to: Instant
}

/** Returns the first `limit` holidays of an organization that overlap a period, in order; of one day, one name. */
export function holidaysWithin(
  db: Db,
  orgId: string,
  { from, to, limit }: { from: Instant; to: Instant; limit: number },
): NamedHoliday[] {
  const timezone = timezoneOf(db, orgId)
  const dayAt = (instant: Instant) => dayOfLocal(localTimeAt(instant, timezone))
  return prepared<[string, string, string, number], { day: string; name: string }>(
    db,
    `SELECT day, min(calendarDay.name) AS name FROM calendarDay JOIN calendar ON calendar.id = calendarId
     WHERE orgId = ? AND day >= ? AND day <= ? GROUP BY day ORDER BY day LIMIT ?`,
  )
    .all(orgId, dayAt(from), dayAt(Math.max(from, to - 1)), limit)
    .map(({ day, name }) => ({ name, ...instantsOfDay(day, timezone) }))
}

function daysOfOrg(db: Db, orgId: string): string[] {
  const sql = 'SELECT DISTINCT day FROM calendarDay JOIN calendar ON calendar.id = calendarId WHERE orgId = ?'
  return prepared<[string], { day: string }>(db, sql)
    .all(orgId)
    .map(({ day }) => day)
}

function storedCalendars(db: Db) {
  return prepared<[], { id: string; country: string | null; timezone: string; basis: string }>(
    db,
    'SELECT calendar.id, country, timezone, basis FROM calendar JOIN org ON org.id = orgId',
  ).all()
}

function withIcs(db: Db, id: string, { country }: Pick<Source, 'country'>): Source {
  if (country !== null) return { country, ics: null }
  const row = prepared<[string], { ics: string | null }>(db, 'SELECT ics FROM calendar WHERE id = ?').get(id)
  return { country, ics: row?.ics ?? null }
}

async function daysOf({ country, ics }: Source, years: Years, timezone: string): Promise<CalendarDays> {
  try {
    return country === null ? await readIcs(ics ?? '', years, timezone) : await countryHolidays(country, years)
  } catch (error) {
    return atField(country === null ? 'ics' : 'country', () => {
      throw error
    })
  }
}

function saveDays(db: Db, calendarId: string, days: CalendarDays, basis: string): void {
  prepared(db, 'DELETE FROM calendarDay WHERE calendarId = ?').run(calendarId)
  const add = prepared<[string, string, string]>(
    db,
    // The calendar may have been deleted in the meantime.
    'INSERT INTO calendarDay (calendarId, day, name) SELECT id, ?, ? FROM calendar WHERE id = ?',
  )
  for (const { day, name } of days.list()) add.run(day, name, calendarId)
  prepared(db, 'UPDATE calendar SET basis = ? WHERE id = ?').run(basis, calendarId)
}

function refuseAnother(db: Db, orgId: string): void {
  const sql = 'SELECT count(*) AS count FROM calendar WHERE orgId = ?'
  const { count = 0 } = prepared<[string], { count: number }>(db, sql).get(orgId) ?? {}
  if (count < MAX_CALENDARS) return
  throw new AppError('conflict', `an organization has at most ${MAX_CALENDARS} calendars; delete one first`)
}

const todayIn = (db: Db, orgId: string, now: Instant) => dayOfLocal(localTimeAt(now, timezoneOf(db, orgId)))

function calendarOf(db: Db, { orgId: _orgId, ...row }: CalendarRow, today: string): Calendar {
  const nextDays = prepared<[string, string], Calendar['nextDays'][number]>(
    db,
    `SELECT day, name FROM calendarDay WHERE calendarId = ? AND day >= ? ORDER BY day LIMIT ${NEXT_DAYS}`,
  ).all(row.id, today)
  return { ...row, nextDays }
}
