import { expect, test } from 'bun:test'
import { barsOf, firedIn, longestOf, perWeek, runsOf, sensitivityFor } from './backtest-summary.ts'

const HOUR_MS = 3_600_000
const buckets = (count: number, fires: readonly number[]) =>
  Array.from({ length: count }, (_, index) => ({
    start: index * HOUR_MS,
    matchCount: 1,
    wouldFire: fires.includes(index),
  }))

test('grouping buckets into bars preserves the numbers of matches and firings', () => {
  const bars = barsOf(buckets(336, [5]))
  expect(bars.length).toBeLessThanOrEqual(90)
  expect(bars.reduce((sum, { value }) => sum + value, 0)).toBe(336)
  expect(bars.filter(({ isBad }) => isBad)).toHaveLength(1)
  expect(new Set(bars.slice(1).map(({ start }, index) => start - (bars[index]?.start ?? 0))).size).toBe(1)
  expect(barsOf([])).toEqual([])
})

test.each([
  [4, 14, 2],
  [1, 30, 0.2],
  [100, 7, 100],
  [0, 14, 0],
])('%d firings in %d days are %d per week', (fired, days, weekly) => {
  expect(perWeek(fired, days)).toBe(weekly)
  expect(firedIn(buckets(200, [...Array(fired).keys()]))).toBe(fired)
})

test.each([
  [1, 5],
  [10, 3],
  [0, null],
])('a maximum of %d per week is met by the sensitivity %p', (most, sensitivity) => {
  const alternatives = [
    { sensitivity: 2, fired: 60 },
    { sensitivity: 3, fired: 20 },
    { sensitivity: 5, fired: 2 },
    { sensitivity: 8, fired: 1 },
  ]
  expect(sensitivityFor(alternatives, 14, most)).toBe(sensitivity)
})

test('consecutive firings form a run, and the longest run is selected, or the most recent of equally long runs', () => {
  const at = (...hours: number[]) =>
    Array.from({ length: 12 }, (_, hour) => ({
      start: hour * HOUR_MS,
      matchCount: hours.includes(hour) ? 1 : 0,
      wouldFire: false,
    }))
  const run = (from: number, to: number) => ({ from: from * HOUR_MS, to: to * HOUR_MS })
  expect(runsOf(at(1, 2, 5, 8, 9))).toEqual([run(1, 3), run(5, 6), run(8, 10)])
  expect(longestOf(runsOf(at(1, 2, 5, 8, 9)))).toEqual(run(8, 10))
  expect(longestOf(runsOf(at()))).toBeNull()
})
