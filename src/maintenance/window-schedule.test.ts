import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { WindowSchedule } from './window-schedule.ts'

const instantOf = (local: string, timezone: string) =>
  Temporal.PlainDateTime.from(local).toZonedDateTime(timezone).epochMilliseconds

interface Rule {
  timezone: string
  /** Local start and end of the first occurrence. */
  from: string
  to: string
  /** Days between occurrences, and days of the week on which it may begin (Monday is 1). */
  everyDays: number
  weekdays: readonly number[]
  rrule: string
}

/** Walks day by day on the local calendar. */
function occurrencesOf({ timezone, from, to, everyDays, weekdays }: Rule, count: number) {
  const [start, end] = [Temporal.PlainDateTime.from(from), Temporal.PlainDateTime.from(to)]
  const found: { from: Instant; to: Instant }[] = []
  for (let day = 0; found.length < count; day += everyDays) {
    const [begins, ends] = [start.add({ days: day }), end.add({ days: day })]
    if (day > 0 && !weekdays.includes(begins.dayOfWeek)) continue
    found.push({
      from: begins.toZonedDateTime(timezone).epochMilliseconds,
      to: ends.toZonedDateTime(timezone).epochMilliseconds,
    })
  }
  return found
}

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']

const rules = fc
  .record({
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'),
    day: fc.integer({ min: 0, max: 400 }),
    minute: fc.integer({ min: 0, max: 1439 }),
    lasts: fc.integer({ min: 61, max: 1440 }),
    everyDays: fc.integer({ min: 1, max: 9 }),
    weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
    isWeekly: fc.boolean(),
  })
  .map(({ timezone, day, minute, lasts, everyDays, weekdays, isWeekly }): Rule => {
    const start = Temporal.PlainDateTime.from('2026-01-01').add({ days: day, minutes: minute })
    const names = weekdays.map((one) => WEEKDAYS[one - 1]).join(',')
    return {
      timezone,
      from: start.toString(),
      to: start.add({ minutes: lasts }).toString(),
      ...(isWeekly
        ? { everyDays: 1, weekdays, rrule: `FREQ=WEEKLY;BYDAY=${names}` }
        : { everyDays, weekdays: [1, 2, 3, 4, 5, 6, 7], rrule: `FREQ=DAILY;INTERVAL=${everyDays}` }),
    }
  })

const scheduleFor = ({ from, to, timezone, rrule }: Pick<Rule, 'from' | 'to' | 'timezone' | 'rrule'>) =>
  new WindowSchedule({ from: instantOf(from, timezone), to: instantOf(to, timezone), timezone, rrule })

test('a window is in force when a walk along the local calendar says so', () => {
  fc.assert(
    fc.property(
      rules,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 20 }),
      (rule, places) => {
        const schedule = scheduleFor(rule)
        const expected = occurrencesOf(rule, 120)
        const [first, last] = [expected[0]?.from ?? 0, expected.at(-2)?.to ?? 0]
        const edges = expected.slice(0, 40).flatMap(({ from, to }) => [from - 1, from, to - 1, to])
        const instants = [
          ...places.map((place) => Math.floor(first - DAY_MS + place * (last - first + DAY_MS))),
          ...edges,
        ]
        for (const at of instants) {
          const inForce = expected.filter(({ from, to }) => from <= at && at < to)
          // Around a change of clocks, one occurrence may begin before the previous one has ended.
          if (inForce.length > 1) expect<unknown[]>(inForce).toContainEqual(schedule.at(at))
          else expect([at, schedule.at(at)]).toEqual([at, inForce[0] ?? null])
        }
        expect(schedule.next(first - 1, 100)).toEqual(expected.slice(0, 100))
      },
    ),
    { numRuns: 150 },
  )
})

test.each([
  ['a night in which clocks go forward is an hour shorter', '2026-03-27T22:00', '2026-03-28T06:00', 7],
  ['a night in which clocks go back is an hour longer', '2026-10-23T22:00', '2026-10-24T06:00', 9],
])('%s', (_name, from, to, hours) => {
  const [, second] = scheduleFor({ from, to, timezone: 'Europe/Berlin', rrule: 'FREQ=DAILY' }).next(
    instantOf(from, 'Europe/Berlin'),
    2,
  )
  expect((second?.to ?? 0) - (second?.from ?? 0)).toBe(hours * HOUR_MS)
})

test('a time that clocks skip is moved forward, and the next day has the usual time', () => {
  const timezone = 'Europe/Berlin'
  const schedule = scheduleFor({ from: '2026-03-28T02:15', to: '2026-03-28T02:45', timezone, rrule: 'FREQ=DAILY' })
  const local = schedule
    .next(0, 3)
    .map(({ from }) =>
      Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone).toPlainTime().toString(),
    )
  expect(local).toEqual(['02:15:00', '03:15:00', '02:15:00'])
})

describe('a rule', () => {
  const check = (rrule: string, lasts = HOUR_MS) => {
    const from = Date.UTC(2026, 0, 7, 22)
    new WindowSchedule({ from, to: from + lasts, timezone: 'UTC', rrule }).check()
  }

  test.each([
    ['FREQ=SECONDLY', 'FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY'],
    ['FREQ=MINUTELY', 'FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY'],
    ['FREQ=HOURLY;INTERVAL=2', 'FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY'],
    ['', 'must have a format such as FREQ=WEEKLY;BYDAY=SU'],
    ['every sunday', 'must have a format such as FREQ=WEEKLY;BYDAY=SU'],
    ['FREQ=DAILY\nDTSTART:20260101T000000Z', 'must have a format such as FREQ=WEEKLY;BYDAY=SU'],
    ['BYDAY=SU', 'FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY'],
    ['FREQ=DAILY;FREQ=DAILY', 'FREQ occurs twice'],
    ['FREQ=DAILY;INTERVAL=0', 'INTERVAL must be from 1 to 1000'],
    ['FREQ=DAILY;INTERVAL=1001', 'INTERVAL must be from 1 to 1000'],
    ['FREQ=DAILY;COUNT=1001', 'COUNT must be from 1 to 1000'],
    ['FREQ=DAILY;COUNT=1;UNTIL=20270101', 'COUNT and UNTIL exclude each other'],
    ['FREQ=DAILY;UNTIL=20270230', 'UNTIL must be a date such as 20261231 or 20261231T220000Z'],
    ['FREQ=WEEKLY;BYDAY=XX', 'BYDAY must name days such as MO or -1SU'],
    ['FREQ=DAILY;BYMONTH=13', 'BYMONTH must be from 1 to 12'],
    ['FREQ=DAILY;BYHOUR=24', 'BYHOUR must be from 0 to 23'],
    ['FREQ=DAILY;BYMINUTE=0,1', 'BYMINUTE must have one value, because it repeats too often otherwise'],
    ['FREQ=DAILY;RSCALE=HEBREW', 'RSCALE is not supported'],
    ['FREQ=DAILY;BYHOUR=22,23', 'the window would begin again before it has ended'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'has no further date, or takes too long to evaluate'],
    ['FREQ=MONTHLY;BYDAY=1SU;BYMONTHDAY=20', 'has no further date, or takes too long to evaluate'],
    [`FREQ=DAILY;BYMONTHDAY=${'1,'.repeat(300)}1`, 'must have at most 500 characters'],
  ])('%j is rejected', (rrule, message) => {
    expect(() => check(rrule, 2 * HOUR_MS)).toThrow(new AppError('invalid', message))
  })

  test.each([
    'FREQ=DAILY',
    'rrule:freq=weekly;byday=su',
    'FREQ=MONTHLY;BYDAY=-1SU',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29',
    'FREQ=DAILY;UNTIL=20270101T120000Z',
    'FREQ=WEEKLY;COUNT=3;WKST=SU',
  ])('%s is accepted', (rrule) => expect(() => check(rrule)).not.toThrow())

  test('of any content is read or rejected with a message, and then costs little', () => {
    const names = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYDAY', 'BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO']
    const part = fc.tuple(
      fc.constantFrom(...names, 'BYSETPOS', 'BYHOUR', 'WKST'),
      fc.oneof(
        fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY', 'MO', '-1SU', '5FR,TU', '20261231'),
        fc.array(fc.integer({ min: -400, max: 1100 }), { minLength: 1, maxLength: 4 }).map((list) => list.join(',')),
      ),
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(part, { maxLength: 5 }).map((parts) => ['FREQ=MONTHLY', ...parts.map((one) => one.join('='))].join(';')),
    )
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 3000 }), (rrule, days) => {
        const from = Date.UTC(2026, 0, 7, 22)
        try {
          const schedule = new WindowSchedule({ from, to: from + MINUTE_MS, timezone: 'Europe/Berlin', rrule })
          schedule.check()
          const now = from + days * DAY_MS
          const found = schedule.next(now, 5)
          expect(found.length).toBeLessThanOrEqual(5)
          expect(schedule.at(now)).toEqual(found.find((one) => one.from <= now && now < one.to) ?? null)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
      { numRuns: 500 },
    )
  })
})
