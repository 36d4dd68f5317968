import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { isInRunWindow, meetsRunWindow, type RunWindows } from './allowed-run-hours.ts'

const BERLIN = 'Europe/Berlin'
const SUNDAY = 0
const MONDAY = 1
const FRIDAY = 5
const SATURDAY = 6

describe('an instant in or outside the run windows', () => {
  test.each<[string, RunWindows, string, string, boolean]>([
    ['no run windows', undefined, BERLIN, '2026-01-05T03:00Z', true],
    ['run windows without hours and days', {}, BERLIN, '2026-01-05T03:00Z', true],
    ['an empty list of days', { days: [] }, BERLIN, '2026-01-05T03:00Z', true],
    ['first moment', { hours: [9, 17] }, 'UTC', '2026-01-05T09:00:00.000Z', true],
    ['just before the first moment', { hours: [9, 17] }, 'UTC', '2026-01-05T08:59:59.999Z', false],
    ['last moment', { hours: [9, 17] }, 'UTC', '2026-01-05T16:59:59.999Z', true],
    ['end', { hours: [9, 17] }, 'UTC', '2026-01-05T17:00:00.000Z', false],
    ['local hours in winter', { hours: [9, 17] }, BERLIN, '2026-01-05T08:00Z', true],
    ['local hours in summer', { hours: [9, 17] }, BERLIN, '2026-07-06T07:00Z', true],
    ['after local hours in summer', { hours: [9, 17] }, BERLIN, '2026-07-06T15:00Z', false],
    ['local hours in a half-hour zone', { hours: [9, 17] }, 'Asia/Kolkata', '2026-01-05T03:30Z', true],
    ['before local hours in a half-hour zone', { hours: [9, 17] }, 'Asia/Kolkata', '2026-01-05T03:29:59Z', false],
    ['hours from midnight', { hours: [0, 6] }, 'UTC', '2026-01-05T00:00Z', true],
    ['hours until midnight', { hours: [20, 0] }, 'UTC', '2026-01-05T23:59:59.999Z', true],
    ['after hours until midnight', { hours: [20, 0] }, 'UTC', '2026-01-05T00:00Z', false],
    ['overnight hours, before midnight', { hours: [22, 6] }, 'UTC', '2026-01-05T22:00Z', true],
    ['overnight hours, after midnight', { hours: [22, 6] }, 'UTC', '2026-01-05T05:59Z', true],
    ['outside overnight hours', { hours: [22, 6] }, 'UTC', '2026-01-05T06:00Z', false],
    ['equal hours, all day', { hours: [8, 8] }, 'UTC', '2026-01-05T07:00Z', true],
    ['equal hours, on a selected day', { hours: [8, 8], days: [MONDAY] }, 'UTC', '2026-01-05T00:00Z', true],
    ['equal hours, on the next morning', { hours: [8, 8], days: [MONDAY] }, 'UTC', '2026-01-06T07:00Z', false],
    ['Sunday', { days: [SUNDAY] }, 'UTC', '2026-01-04T12:00Z', true],
    ['Sunday in local time', { days: [SUNDAY] }, 'Pacific/Apia', '2026-01-03T11:00Z', true],
    ['Monday in local time', { days: [SUNDAY] }, 'Pacific/Apia', '2026-01-04T11:00Z', false],
    ['Friday night, on Friday', { hours: [22, 6], days: [FRIDAY] }, 'UTC', '2026-01-02T23:00Z', true],
    ['Friday night, on Saturday morning', { hours: [22, 6], days: [FRIDAY] }, 'UTC', '2026-01-03T05:59Z', true],
    ['Friday night, on Friday morning', { hours: [22, 6], days: [FRIDAY] }, 'UTC', '2026-01-02T05:59Z', false],
    ['Friday night, on Saturday evening', { hours: [22, 6], days: [FRIDAY] }, 'UTC', '2026-01-03T23:00Z', false],
    ['Saturday night, on Sunday morning', { hours: [22, 6], days: [SATURDAY] }, 'UTC', '2026-01-04T01:00Z', true],
    ['Sunday night, on Monday morning', { hours: [22, 6], days: [SUNDAY] }, 'UTC', '2026-01-05T01:00Z', true],
    // Clocks go from 02:00 to 03:00 on 2026-03-29, and from 03:00 to 02:00 on 2026-10-25.
    ['after the skipped hour in spring', { hours: [3, 4] }, BERLIN, '2026-03-29T01:00Z', true],
    ['hours that are skipped', { hours: [2, 3] }, BERLIN, '2026-03-29T01:00Z', false],
    ['repeated hour, first time', { hours: [2, 3] }, BERLIN, '2026-10-25T00:30Z', true],
    ['repeated hour, second time', { hours: [2, 3] }, BERLIN, '2026-10-25T01:30Z', true],
    ['after the repeated hour', { hours: [2, 3] }, BERLIN, '2026-10-25T02:00Z', false],
    ['standard time, on the day before clocks go forward', { hours: [9, 17] }, BERLIN, '2026-03-28T07:30Z', false],
    ['summer time, on the day clocks go forward', { hours: [9, 17] }, BERLIN, '2026-03-29T07:30Z', true],
    ['summer time, on the day before clocks go back', { hours: [9, 17] }, BERLIN, '2026-10-24T15:30Z', false],
    ['standard time, on the day clocks go back', { hours: [9, 17] }, BERLIN, '2026-10-25T15:30Z', true],
    ['start of the short night', { hours: [22, 6], days: [SATURDAY] }, BERLIN, '2026-03-28T21:00Z', true],
    ['end of the short night', { hours: [22, 6], days: [SATURDAY] }, BERLIN, '2026-03-29T03:59:59Z', true],
    ['after the short night', { hours: [22, 6], days: [SATURDAY] }, BERLIN, '2026-03-29T04:00Z', false],
    ['end of the long night', { hours: [22, 6], days: [SATURDAY] }, BERLIN, '2026-10-25T04:59:59Z', true],
    ['after the long night', { hours: [22, 6], days: [SATURDAY] }, BERLIN, '2026-10-25T05:00Z', false],
    ['New York, repeated hour, second time', { hours: [1, 2] }, 'America/New_York', '2026-11-01T06:30Z', true],
    ['New York, repeated hour, first time', { hours: [1, 2] }, 'America/New_York', '2026-11-01T05:30Z', true],
    ['New York, after the repeated hour', { hours: [1, 2] }, 'America/New_York', '2026-11-01T07:00Z', false],
    ['New York, after the skipped hour in spring', { hours: [3, 4] }, 'America/New_York', '2026-03-08T07:00Z', true],
    ['New York, hours that are skipped', { hours: [2, 3] }, 'America/New_York', '2026-03-08T07:00Z', false],
    ['New York, before the skipped hour', { hours: [1, 2] }, 'America/New_York', '2026-03-08T06:59:59Z', true],
    ['end of a night in New York', { hours: [22, 6], days: [SUNDAY] }, 'America/New_York', '2026-11-02T10:59Z', true],
    ['after a night in New York', { hours: [22, 6], days: [SUNDAY] }, 'America/New_York', '2026-11-02T11:00Z', false],
    ['start of a night in Kolkata', { hours: [23, 1], days: [MONDAY] }, 'Asia/Kolkata', '2026-01-05T17:30Z', true],
    ['end of a night in Kolkata', { hours: [23, 1], days: [MONDAY] }, 'Asia/Kolkata', '2026-01-05T19:29Z', true],
    ['after a night in Kolkata', { hours: [23, 1], days: [MONDAY] }, 'Asia/Kolkata', '2026-01-05T19:30Z', false],
    // Clocks go half an hour forward at 02:00 on 2026-10-04: 02:00 to 02:30 is skipped.
    ['Lord Howe, rest of a partly skipped hour', { hours: [2, 3] }, 'Australia/Lord_Howe', '2026-10-03T15:30Z', true],
    [
      'Lord Howe, before a partly skipped hour',
      { hours: [2, 3] },
      'Australia/Lord_Howe',
      '2026-10-03T15:29:59Z',
      false,
    ],
    ['Lord Howe, after a partly skipped hour', { hours: [2, 3] }, 'Australia/Lord_Howe', '2026-10-03T16:00Z', false],
    // Clocks go half an hour back at 02:00 on 2026-04-05: 01:30 to 02:00 occurs twice.
    ['Lord Howe, repeated half hour', { hours: [1, 2] }, 'Australia/Lord_Howe', '2026-04-04T15:15Z', true],
    ['Lord Howe, after the repeated half hour', { hours: [1, 2] }, 'Australia/Lord_Howe', '2026-04-04T15:30Z', false],
  ])('is classified correctly: %s', (_, runWindows, timezone, at, expected) => {
    expect(isInRunWindow(runWindows, timezone, Date.parse(at))).toBe(expected)
  })

  const hours = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 23 }))
  const week = Array.from({ length: 7 * 24 * 4 }, (_, quarter) => Date.UTC(2026, 0, 4) + quarter * 15 * MINUTE_MS)

  test('is inside for the given hours of the given days only', () => {
    fc.assert(
      fc.property(hours, fc.uniqueArray(fc.integer({ min: 0, max: 6 })), ([from, to], days) => {
        const length = (to - from + 24) % 24 || 24
        const on = week.filter((at) => isInRunWindow({ hours: [from, to], days }, 'UTC', at))
        expect(on).toHaveLength((days.length || 7) * length * 4)
      }),
      { numRuns: 50 },
    )
  })

  test('is inside exactly one of two complementary run windows', () => {
    const zone = fc.constantFrom('UTC', BERLIN, 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe')
    const instant = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) })
    fc.assert(
      fc.property(hours, zone, instant, ([from, to], timezone, at) => {
        fc.pre(from !== to)
        const inside = isInRunWindow({ hours: [from, to] }, timezone, at)
        expect(isInRunWindow({ hours: [to, from] }, timezone, at)).toBe(!inside)
      }),
    )
  })
})

describe('an overlap of a window with the run windows', () => {
  const window = (from: string, to: string) => ({ from: Date.parse(from), to: Date.parse(to), complete: true })
  test.each<[string, RunWindows, string, string, string, boolean]>([
    ['no run windows', undefined, 'UTC', '2026-01-05T03:00Z', '2026-01-05T04:00Z', true],
    ['last hour', { hours: [9, 17] }, 'UTC', '2026-01-05T16:00Z', '2026-01-05T17:00Z', true],
    ['hour before', { hours: [9, 17] }, 'UTC', '2026-01-05T08:00Z', '2026-01-05T09:00Z', false],
    ['hour after', { hours: [9, 17] }, 'UTC', '2026-01-05T17:00Z', '2026-01-05T18:00Z', false],
    ['half an hour', { hours: [9, 17] }, 'Asia/Kolkata', '2026-01-05T03:00Z', '2026-01-05T04:00Z', true],
    ['whole day', { hours: [9, 17] }, BERLIN, '2026-01-04T23:00Z', '2026-01-05T23:00Z', true],
    [
      'whole day that is selected',
      { hours: [9, 17], days: [MONDAY] },
      BERLIN,
      '2026-01-04T23:00Z',
      '2026-01-05T23:00Z',
      true,
    ],
    [
      'whole day that is not selected',
      { hours: [9, 17], days: [SUNDAY] },
      BERLIN,
      '2026-01-04T23:00Z',
      '2026-01-05T23:00Z',
      false,
    ],
    ['week', { hours: [9, 10], days: [SATURDAY] }, BERLIN, '2026-01-04T23:00Z', '2026-01-11T23:00Z', true],
    ['four weeks', { hours: [2, 3], days: [SUNDAY] }, BERLIN, '2026-03-20T00:00Z', '2026-04-17T00:00Z', true],
    ['only the last moment', { hours: [9, 17] }, 'UTC', '2026-01-05T08:50Z', '2026-01-05T09:00:00.001Z', true],
    ['empty window', { hours: [9, 17] }, 'UTC', '2026-01-05T10:00Z', '2026-01-05T10:00Z', false],
  ])('is detected correctly: %s', (_, runWindows, timezone, from, to, expected) => {
    expect(meetsRunWindow(runWindows, timezone, window(from, to))).toBe(expected)
  })

  test('exists exactly when a minute of the window is in the run windows', () => {
    const runWindows = fc.record({
      hours: fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 23 })),
      days: fc.uniqueArray(fc.integer({ min: 0, max: 6 })),
    })
    const zone = fc.constantFrom('UTC', BERLIN, 'Asia/Kathmandu', 'Australia/Lord_Howe')
    const start = fc.integer({ min: Date.UTC(2026, 2, 25) / MINUTE_MS, max: Date.UTC(2026, 3, 7) / MINUTE_MS })
    fc.assert(
      fc.property(
        runWindows,
        zone,
        start,
        fc.integer({ min: 1, max: 1500 }),
        (runWindows, timezone, start, minutes) => {
          const at = (minute: number) => (start + minute) * MINUTE_MS
          const expected = Array.from({ length: minutes }, (_, minute) => at(minute)).some((instant) =>
            isInRunWindow(runWindows, timezone, instant),
          )
          const evaluated = { from: at(0), to: at(minutes), complete: true }
          expect(meetsRunWindow(runWindows, timezone, evaluated)).toBe(expected)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('always exists for eight days or more, even across clock changes', () => {
    const from = Date.parse('2026-03-22T00:30Z')
    for (let hour = 0; hour < 24; hour++) {
      const only = { hours: [hour, (hour + 1) % 24], days: [SUNDAY] }
      const hoursOn = Array.from({ length: 8 * 24 }, (_, n) => isInRunWindow(only, BERLIN, from + n * HOUR_MS))
      expect(hoursOn.includes(true)).toBe(true)
    }
  })
})
