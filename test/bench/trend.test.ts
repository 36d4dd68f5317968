import { expect, test } from 'bun:test'
import { type Point, trendOf } from '../../bench/soak/trend.ts'

const HOUR_MS = 3_600_000
const points = (of: (index: number) => number): Point[] =>
  Array.from({ length: 121 }, (_, index) => [(index * HOUR_MS) / 120, of(index)])
/** Noise without a trend, in which consecutive values resemble each other. */
const noise = (index: number) => 20 * Math.sin(index / 3) + 10 * Math.sin(index / 7)

test('finds a slope per hour, despite single peaks', () => {
  const { perHour, low, high } = trendOf(points((index) => 300 + index / 2 + (index % 17 === 0 ? 400 : 0)))
  expect(perHour).toBeCloseTo(60, 0)
  expect(low).toBeGreaterThan(40)
  expect(high).toBeLessThan(80)
})

test('has an interval that includes 0 for noise alone, and excludes it for a leak in the same noise', () => {
  const flat = trendOf(points((index) => 300 + noise(index)))
  expect(flat.low).toBeLessThan(0)
  expect(flat.high).toBeGreaterThan(0)
  const leak = trendOf(points((index) => 300 + index + noise(index)))
  expect(leak.low).toBeGreaterThan(60)
  expect(leak.perHour).toBeGreaterThan(100)
})

test('gives the same interval for the same points, and NaN for fewer than three', () => {
  const some = points(noise)
  expect(trendOf(some)).toEqual(trendOf(some))
  expect(trendOf(some.slice(0, 2))).toEqual({ perHour: Number.NaN, low: Number.NaN, high: Number.NaN })
})
