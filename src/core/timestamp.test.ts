import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseTimestamp } from './timestamp.ts'

const at = Date.UTC(2026, 6, 13, 14, 30, 5)

test.each([
  ['seconds', at / 1000, at],
  ['fractional seconds', at / 1000 + 0.25, at + 250],
  ['milliseconds', at, at],
  ['microseconds', at * 1000, at],
  ['a date', 20_260_713, Date.UTC(2026, 6, 13)],
  ['a date with an hour', 2_026_071_314, Date.UTC(2026, 6, 13, 14)],
  ['an invalid date', 20_260_230, null],
  ['a date with an invalid hour, which is parsed as seconds', 2_026_071_324, 2_026_071_324_000],
  ['a number that is too small', 3600, null],
  ['zero', 0, null],
  ['a negative number', -at, null],
  ['nanoseconds', at * 1e6, null],
  ['infinity', Number.POSITIVE_INFINITY, null],
])('parseTimestamp handles %s', (_, number, expected) => {
  expect(parseTimestamp(number)).toBe(expected)
})

test('every instant from 1974 to 2031 is parsed to the same time in each unit', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(1974, 0), max: Date.UTC(2031, 0) }), (instant) => {
      const whole = instant - (instant % 1000)
      expect([parseTimestamp(whole / 1000), parseTimestamp(whole), parseTimestamp(whole * 1000)]).toEqual([
        whole,
        whole,
        whole,
      ])
    }),
  )
})
