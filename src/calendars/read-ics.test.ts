import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { daysCovered } from './calendar-days.ts'
import { dayOfLocal } from './local-time.ts'
import { readIcs } from './read-ics.ts'

const YEARS = { first: 2024, last: 2028 }

const icsOf = (...events: string[]) =>
  `BEGIN:VCALENDAR\n${events.map((lines) => `BEGIN:VEVENT\n${lines}\nEND:VEVENT\n`).join('')}END:VCALENDAR\n`

const daysOf = async (ics: string, timezone = 'UTC') => (await readIcs(ics, YEARS, timezone)).list()

test.each<[string, string, string, string[]]>([
  ['a date', 'DTSTART;VALUE=DATE:20260101', 'UTC', ['2026-01-01']],
  ['several dates', 'DTSTART;VALUE=DATE:20260101\nDTEND;VALUE=DATE:20260103', 'UTC', ['2026-01-01', '2026-01-02']],
  ['a date with a duration', 'DTSTART;VALUE=DATE:20260101\nDURATION:P2D', 'UTC', ['2026-01-01', '2026-01-02']],
  ['an afternoon', 'DTSTART:20261224T140000\nDTEND:20261225T000000', 'UTC', ['2026-12-24']],
  ['an instant', 'DTSTART:20261224T235900Z', 'UTC', ['2026-12-24']],
  ['an instant on the next day of the time zone', 'DTSTART:20261224T235900Z', 'Europe/Berlin', ['2026-12-25']],
  ['from sunset to sunset', 'DTSTART:20260911T180000\nDTEND:20260912T180000', 'UTC', ['2026-09-12']],
  [
    'midnight in another time zone',
    'DTSTART;TZID=America/New_York:20260310T000000\nDURATION:PT24H',
    'Europe/Berlin',
    ['2026-03-10'],
  ],
  ['an unknown time zone', 'DTSTART;TZID=Customized Time Zone:20260310T230000', 'Europe/Berlin', ['2026-03-10']],
  [
    'a rule with a count',
    'DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=WEEKLY;COUNT=2',
    'UTC',
    ['2026-01-01', '2026-01-08'],
  ],
  [
    'a rule until a date',
    'DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=WEEKLY;UNTIL=20260108',
    'UTC',
    ['2026-01-01', '2026-01-08'],
  ],
  ['extra dates', 'DTSTART;VALUE=DATE:20260101\nRDATE;VALUE=DATE:20260105', 'UTC', ['2026-01-01', '2026-01-05']],
  [
    'excluded dates',
    'DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;VALUE=DATE:20260101,20260115',
    'UTC',
    ['2026-01-08'],
  ],
  ['a cancelled event', 'DTSTART;VALUE=DATE:20260101\nSTATUS:CANCELLED', 'UTC', []],
  ['a nested alarm', 'DTSTART;VALUE=DATE:20260101\nBEGIN:VALARM\nDTSTART:garbage\nEND:VALARM', 'UTC', ['2026-01-01']],
])('an event can be %s', async (_name, lines, timezone, expected) => {
  expect((await daysOf(icsOf(lines), timezone)).map(({ day }) => day)).toEqual(expected)
})

test('an occurrence can be moved or cancelled', async () => {
  const rule = 'UID:a\nSUMMARY:Weekly\nDTSTART;VALUE=DATE:20260101\nRRULE:FREQ=WEEKLY;COUNT=3'
  const moved = 'UID:a\nSUMMARY:Moved\nRECURRENCE-ID;VALUE=DATE:20260108\nDTSTART;VALUE=DATE:20260109'
  const cancelled = 'UID:a\nRECURRENCE-ID;VALUE=DATE:20260115\nDTSTART;VALUE=DATE:20260115\nSTATUS:CANCELLED'
  expect(await daysOf(icsOf(rule, moved, cancelled))).toEqual([
    { day: '2026-01-01', name: 'Weekly' },
    { day: '2026-01-09', name: 'Moved' },
  ])
})

test('lines are unfolded and text is unescaped', async () => {
  const lines = 'DTSTART;VALUE=DATE:20260101\nSUMMARY;LANGUAGE=en:New\\, Year\n \\; Day'
  expect(await daysOf(icsOf(lines))).toEqual([{ day: '2026-01-01', name: 'New, Year; Day' }])
})

test('a file of any content is read or rejected with a message', async () => {
  const line = fc.oneof(
    fc.string(),
    fc
      .tuple(
        fc.constantFrom(
          'DTSTART',
          'DTSTART;VALUE=DATE',
          'DTEND',
          'RRULE',
          'EXDATE',
          'RDATE;VALUE=PERIOD',
          'DURATION',
          'UID',
        ),
        fc.oneof(fc.string(), fc.constantFrom('20260101', '20260101T000000Z', 'FREQ=DAILY', 'P1D', '-P1D', 'PT0S')),
      )
      .map((parts) => parts.join(':')),
    fc.constantFrom('BEGIN:VEVENT', 'END:VEVENT', 'BEGIN:VALARM', 'END:VALARM', 'DTSTART:20260101T000000'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
      try {
        await daysOf(`BEGIN:VCALENDAR\n${lines.join('\n')}\nEND:VCALENDAR`)
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
      }
    }),
    { numRuns: 500 },
  )
})

test('an event covers the days of which it covers at least half, or else its longest day', () => {
  const start = Date.UTC(2026, 5, 10)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 100 }), (begins, lasts) => {
      const [from, to] = [start + begins * HOUR_MS, start + (begins + lasts) * HOUR_MS]
      const covered = Array.from({ length: 6 }, (_, index) => {
        const day = start + index * DAY_MS
        return { day: dayOfLocal(day), ms: Math.min(to, day + DAY_MS) - Math.max(from, day) }
      })
      const most = covered.reduce((best, one) => (one.ms > best.ms ? one : best))
      const half = covered.filter(({ ms }) => ms >= DAY_MS / 2).map(({ day }) => day)
      expect(daysCovered({ from, to })).toEqual(half.length > 0 ? half : [lasts === 0 ? dayOfLocal(from) : most.day])
    }),
  )
})
