import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { DUE_MS, dueDay, isWeekly, nextDue } from './digest-schedule.ts'

const at = (text: string) => Date.parse(`${text}Z`)
const dayOf = (text: string) => Date.parse(text) / DAY_MS

describe('the two-hour due period of a digest', () => {
  test.each<[hourUtc: number, now: string, day: string | null]>([
    [7, '2026-01-06T06:59:59.999', null],
    [7, '2026-01-06T07:00', '2026-01-06'],
    [7, '2026-01-06T08:59:59.999', '2026-01-06'],
    [7, '2026-01-06T09:00', null],
    [0, '2026-01-06T00:00', '2026-01-06'],
    [0, '2026-01-06T01:59', '2026-01-06'],
    // This period starts on one day and ends on the next. It belongs to the first day.
    [23, '2026-01-06T23:00', '2026-01-06'],
    [23, '2026-01-07T00:59', '2026-01-06'],
    [23, '2026-01-07T01:00', null],
    [22, '2026-01-06T23:59', '2026-01-06'],
    // Daylight saving time has no effect, because hours are in UTC.
    [1, '2026-03-29T01:30', '2026-03-29'],
    [1, '2026-10-25T01:30', '2026-10-25'],
  ])('for hour %i at %s belongs to day %p', (hourUtc, now, day) => {
    expect(dueDay(hourUtc, at(now))?.day ?? null).toBe(day === null ? null : dayOf(day))
  })

  test('occurs once a day for every hour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 20_000, max: 20_400 }), (hourUtc, first) => {
        const due = new Map<number, number>()
        for (let now = first * DAY_MS; now < (first + 3) * DAY_MS; now += 30 * MINUTE_MS) {
          const day = dueDay(hourUtc, now)?.day
          if (day !== undefined) due.set(day, (due.get(day) ?? 0) + 1)
        }
        for (const day of [first, first + 1]) expect(due.get(day)).toBe(DUE_MS / (30 * MINUTE_MS))
      }),
    )
  })
})

describe('the next digest', () => {
  const now = at('2026-01-06T08:00')
  const today = dayOf('2026-01-06')
  const none = () => false
  test.each<[what: string, hourUtc: number, isBegun: (day: number) => boolean, next: number]>([
    ['due now', 7, none, now],
    ['already sent today', 7, (day) => day === today, at('2026-01-07T07:00')],
    ['due later today', 9, none, at('2026-01-06T09:00')],
    ['due tomorrow, because the due period of today has ended', 5, none, at('2026-01-07T05:00')],
    ['moved to a later hour after it was sent', 20, (day) => day === today, at('2026-01-07T20:00')],
    ['the clock was set back by two days', 7, (day) => day <= today + 2, at('2026-01-09T07:00')],
  ])('is scheduled correctly: %s', (_, hourUtc, isBegun, next) => expect(nextDue(hourUtc, now, isBegun)).toBe(next))

  test('is never in the past, and is due at its scheduled time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 4 * 24 * 60 }), (hourUtc, minutes) => {
        const now = 20_000 * DAY_MS + minutes * MINUTE_MS
        const next = nextDue(hourUtc, now, none)
        expect(next).toBeGreaterThanOrEqual(now)
        expect(next - now).toBeLessThanOrEqual(DAY_MS - 2 * HOUR_MS)
        expect(dueDay(hourUtc, next)).not.toBeNull()
      }),
    )
  })
})

test('Monday digests are weekly', () => {
  const days = ['2026-01-04', '2026-01-05', '2026-01-06', '2026-01-12', '1970-01-01', '1970-01-05']
  expect(days.map((day) => isWeekly(dayOf(day)))).toEqual([false, true, false, true, false, true])
})
