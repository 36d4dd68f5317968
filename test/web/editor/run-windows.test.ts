import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isInRunWindow } from '../../../src/alerts/allowed-run-hours.ts'
import {
  consecutiveDays,
  formatDays,
  intervalsOf,
  isActive,
  isAlways,
  WEEK,
  withWindows,
} from '../../../src/web/pages/alerts/editor/weekly-active-hours.ts'

const windows = fc.record(
  { hours: fc.tuple(fc.nat(23), fc.nat(23)), days: fc.array(fc.nat(6), { maxLength: 7 }) },
  { requiredKeys: [] },
)
// 2026-01-04 was a Sunday.
const at = (day: number, hour: number) => Date.UTC(2026, 0, 4 + day, hour, 30)
const everyHour = WEEK.flatMap((day) => Array.from({ length: 24 }, (_, hour) => ({ day, hour })))

test('the chart shows the hours in which notifications are sent', () => {
  fc.assert(
    fc.property(windows, (given) => {
      const shown = everyHour.map(({ day, hour }) => isActive(given, day, hour))
      expect(shown).toEqual(everyHour.map(({ day, hour }) => isInRunWindow(given, 'UTC', at(day, hour))))
      expect(isAlways(given)).toBe(shown.every(Boolean))
      const drawn = WEEK.flatMap((day) => intervalsOf(given, day)).reduce((sum, { from, to }) => sum + to - from, 0)
      expect(drawn).toBe(shown.filter(Boolean).length)
    }),
  )
})

test.each<[number[], [number, number][], string]>([
  [[1, 2, 3, 4, 5], [[1, 5]], 'Mon–Fri'],
  [
    [0, 6, 2],
    [
      [2, 2],
      [6, 0],
    ],
    'Tue, Sat–Sun',
  ],
  [[], [], ''],
])('the days %p are grouped as %p', (days, rows, formatted) => {
  expect(consecutiveDays(days)).toEqual(rows)
  expect(formatDays(days)).toBe(formatted)
})

test('an empty selection is omitted from the request', () => {
  expect(withWindows(undefined, { days: [1] })).toEqual({ days: [1] })
  expect(withWindows({ days: [1], hours: [8, 20] }, { days: [] })).toEqual({ hours: [8, 20] })
  expect(withWindows({ hours: [8, 20] }, { hours: undefined })).toBeUndefined()
})
