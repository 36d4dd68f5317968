import { describe, expect, test } from 'bun:test'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testClock } from '../../test/fixtures.ts'
import { DAY_MS } from '../core/clock.ts'
import { updateOrg } from '../org/store.ts'
import { MAX_CALENDARS } from './calendar.ts'
import { calendarRoutes } from './routes.ts'
import { holidayLookup, refreshCalendars } from './store.ts'

/** The tests run on Monday, 5 January 2026. */
const icsOf = (...events: string[][]) =>
  ['BEGIN:VCALENDAR', ...events.flatMap((lines) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']), 'END:VCALENDAR'].join(
    '\r\n',
  )
const FAIR = ['UID:1', 'SUMMARY:Trade fair', 'DTSTART;VALUE=DATE:20260310', 'DTEND;VALUE=DATE:20260312']
const valid = { name: 'Company', ics: icsOf(FAIR) }

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const call = client({ db, clock }, ...calendarRoutes({ db, clock }))
  const create = (body: unknown, as = people.bob.key) => {
    clock.advance(1)
    return call('POST', '/v1/calendars', { as, body })
  }
  const list = async (as = people.bob.key) => (await call('GET', '/v1/calendars', { as })).body.calendars
  return { db, clock, people, orgId: people.orgId, call, create, list }
}

type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
const readers: Expected = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 200 }
const writers: Expected = { viewer: 403, readOnly: 403, member: 200, admin: 200, owner: 200, otherOrg: 404 }
const created: Expected = { viewer: 403, readOnly: 403, member: 201, admin: 201, owner: 201, otherOrg: 201 }

test.each(
  [
    ['GET', '/v1/calendars', undefined, readers] as const,
    ['POST', '/v1/calendars', valid, created] as const,
    ['DELETE', '/v1/calendars/{id}', undefined, writers] as const,
  ].flatMap(([method, path, body, expected]) =>
    CALLERS.map((caller) => [method, path, body, caller, expected[caller as keyof Expected] ?? 401] as const),
  ),
)('%s %s %j as %s: %i', async (method, path, body, caller, status) => {
  const { db, call, create, people } = setUp()
  const { id } = (await create({ ...valid, name: 'Before' })).body
  const dump = () => JSON.stringify(db.prepare('SELECT * FROM calendar').all())
  const before = dump()
  const answer = await call(method, path.replace('{id}', id), { as: credentialsOf(people)[caller], body })
  expect(answer.status).toBe(status)
  if (status >= 400) expect(dump()).toBe(before)
  if (caller === 'otherOrg' && method === 'GET') expect(answer.body.calendars).toEqual([])
})

describe('a calendar', () => {
  test('of a country lists its next days', async () => {
    const { create, list } = setUp()
    const made = await create({ name: 'Bavaria', country: 'de-by' })
    expect(made).toMatchObject({ status: 201, body: { name: 'Bavaria', country: 'DE-BY' } })
    expect(made.body.nextDays.slice(0, 3)).toEqual([
      { day: '2026-01-06', name: 'Epiphany' },
      { day: '2026-04-03', name: 'Good Friday' },
      { day: '2026-04-06', name: 'Easter Monday' },
    ])
    expect(await list()).toEqual([made.body])
  })

  test('of a region differs from that of its country', async () => {
    const { create } = setUp()
    const { nextDays } = (await create({ name: 'Germany', country: 'DE' })).body
    expect(nextDays[0]).toEqual({ day: '2026-04-03', name: 'Good Friday' })
  })

  test('that was uploaded lists the days of its events', async () => {
    const { create } = setUp()
    const yearly = [
      'SUMMARY:Founding\\, day',
      'DTSTART;VALUE=DATE:20200601',
      'RRULE:FREQ=YEARLY',
      'EXDATE;VALUE=DATE:20270601',
    ]
    const { status, body } = await create({ name: 'Company', ics: icsOf(FAIR, yearly) })
    expect(status).toBe(201)
    expect(body).toMatchObject({ country: null })
    expect(body.nextDays).toEqual([
      { day: '2026-03-10', name: 'Trade fair' },
      { day: '2026-03-11', name: 'Trade fair' },
      { day: '2026-06-01', name: 'Founding, day' },
      { day: '2028-06-01', name: 'Founding, day' },
    ])
  })

  test('is computed again when a year begins and when the time zone changes', async () => {
    const { db, clock, orgId, create, list } = setUp()
    // From midnight to midnight in Berlin, most of which is on the next day in Kiritimati.
    const ics = icsOf(
      ['SUMMARY:Berlin', 'DTSTART;TZID=Europe/Berlin:20260310T000000', 'DURATION:PT24H'],
      ['SUMMARY:Yearly', 'DTSTART;VALUE=DATE:20200601', 'RRULE:FREQ=YEARLY'],
    )
    updateOrg(db, orgId, { timezone: 'Europe/Berlin' })
    await create({ name: 'Company', ics })
    expect((await list())[0].nextDays[0].day).toBe('2026-03-10')
    updateOrg(db, orgId, { timezone: 'Pacific/Kiritimati' })
    await refreshCalendars(db, clock)
    expect((await list())[0].nextDays[0].day).toBe('2026-03-11')
    clock.advance(3 * 366 * DAY_MS)
    expect((await list())[0].nextDays).toEqual([])
    await refreshCalendars(db, clock)
    expect((await list())[0].nextDays[0]).toEqual({ day: '2029-06-01', name: 'Yearly' })
  })

  test('makes its days holidays of the organization until it is deleted', async () => {
    const { db, orgId, people, call, create } = setUp()
    const holidaysOf = holidayLookup(db)
    expect(holidaysOf(orgId)).toBeNull()
    updateOrg(db, orgId, { timezone: 'Asia/Kolkata' })
    const { id } = (await create(valid)).body
    const [from, to] = [Date.UTC(2026, 2, 9, 18, 30), Date.UTC(2026, 2, 11, 18, 30)]
    const within = holidaysOf(orgId)?.within(from - DAY_MS, to + DAY_MS)
    const days = [from - 1, from, to - 1, to].map((at) => within?.isHoliday(at))
    expect(days).toEqual([false, true, true, false])
    expect(holidaysOf(orgId)?.within(to, to + DAY_MS)).toBeNull()
    expect(holidaysOf(people.mallory.orgId)).toBeNull()
    await call('DELETE', `/v1/calendars/${id}`, { as: people.bob.key })
    expect(holidaysOf(orgId)).toBeNull()
  })
})

const daily = ['DTSTART;VALUE=DATE:20260101', 'RRULE:FREQ=DAILY']

test.each<[string, object]>([
  ['name: must not be blank', { name: ' ' }],
  ['name: is missing', { name: undefined }],
  ['country: exactly one of `country` and `ics` is required', { ics: undefined }],
  ['country: exactly one of `country` and `ics` is required', { country: 'DE' }],
  ['country: XX is not a known country or region; use a code such as DE or DE-BY', { country: 'XX', ics: undefined }],
  [
    'country: DE-XX is not a known country or region; use a code such as DE or DE-BY',
    { country: 'DE-XX', ics: undefined },
  ],
  [
    'country: CONSTRUCTOR is not a known country or region; use a code such as DE or DE-BY',
    { country: 'constructor', ics: undefined },
  ],
  ['ics: is not an iCalendar file, which begins with BEGIN:VCALENDAR', { ics: '' }],
  ['ics: is not an iCalendar file, which begins with BEGIN:VCALENDAR', { ics: '<html>' }],
  ['ics: has no event from 2024 to 2028', { ics: icsOf() }],
  ['ics: has no event from 2024 to 2028', { ics: icsOf(['DTSTART;VALUE=DATE:20100101']) }],
  ['ics: ends in the middle of an event', { ics: valid.ics.slice(0, -30) }],
  ['ics: event 1: DTSTART is missing', { ics: icsOf(['SUMMARY:x']) }],
  ['ics: event 2: DTSTART is not a date', { ics: icsOf(FAIR, ['DTSTART;VALUE=DATE:20260230']) }],
  ['ics: event 1: DTEND is before DTSTART', { ics: icsOf([...FAIR.slice(0, 3), 'DTEND;VALUE=DATE:20260301']) }],
  ['ics: event 1: is longer than 366 days', { ics: icsOf([...FAIR.slice(0, 3), 'DTEND;VALUE=DATE:20300301']) }],
  [
    'ics: event 1: RRULE: FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY',
    { ics: icsOf([...FAIR, 'RRULE:FREQ=SECONDLY']) },
  ],
  ['ics: has more than 120 days in 2026; list only holidays', { ics: icsOf(daily) }],
  ['ics: has more than 5000 events', { ics: icsOf(...Array.from({ length: 5001 }, () => FAIR)) }],
  [
    'ics: has more than 500 recurring events',
    { ics: icsOf(...Array.from({ length: 501 }, () => [...FAIR, 'RRULE:FREQ=YEARLY'])) },
  ],
])('%s', async (error, values) => {
  const { create, list } = setUp()
  expect(await create({ ...valid, ...values })).toMatchObject({ status: 400, body: { error } })
  expect(await list()).toEqual([])
})

test('a file over 1 MB is rejected', async () => {
  const { create } = setUp()
  const ics = `${valid.ics}\r\n${'X'.repeat(1024 * 1024)}`
  expect((await create({ ...valid, ics })).body.error).toStartWith('ics: must have at most')
})

test(`an organization has at most ${MAX_CALENDARS} calendars`, async () => {
  const { create } = setUp()
  for (let count = 0; count < MAX_CALENDARS; count++) expect((await create(valid)).status).toBe(201)
  expect((await create(valid)).status).toBe(409)
})

test('countries and regions are listed', async () => {
  const { call, people } = setUp()
  const { body } = await call('GET', '/v1/calendars/countries', { as: people.bob.key })
  expect(body.countries.length).toBeGreaterThan(200)
  expect(body.countries).toContainEqual({ code: 'DE-BY', name: 'Germany: Bayern' })
})
