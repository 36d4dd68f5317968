import { expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { randomOf } from '../detector/series.fixture.ts'
import { INITIAL_SHARE, judgeShare } from './judge-share.ts'
import { slicesOf, storedAt } from './shop.fixture.ts'

/** Returns how many issues 50 unchanged shops open in five weeks. */
function falseAlarms(seed: number): number {
  const random = randomOf(seed)
  let opened = 0
  for (let n = 0; n < 50; n++) {
    const shop = {
      perDay: Math.round(20 * 250 ** random()),
      loss: random() * 0.3,
      rhythm: random() * 0.03,
      weekend: random() * 0.03,
      hourNoise: random() * 0.01,
      dayNoise: random() * 0.01,
      random,
    }
    const slices = slicesOf(shop, 0, 42 * DAY_MS)
    let state = INITIAL_SHARE
    for (let now = 7 * DAY_MS; now < 42 * DAY_MS; now += 2 * HOUR_MS) {
      const next = judgeShare(storedAt(slices, now), state).state
      if (state.since === null && next.since !== null) opened++
      state = next
    }
  }
  return opened
}

test('50 unchanged shops with losses of 0 to 30 %, rhythm and noise open no issue in five weeks', () => {
  expect(falseAlarms(2)).toBe(0)
}, 120_000)

test('300 such shops open about as many issues as designed: 0.1 a year each', () => {
  const shopYears = (300 * 35) / 365
  const opened = [1, 2, 3, 4, 5, 6].reduce((sum, seed) => sum + falseAlarms(seed), 0)
  expect(opened).toBeLessThanOrEqual(0.1 * shopYears)
}, 300_000)

/** Returns after how many orders an additional loss of 10 % is found in 24 shops; infinite if it is not found. */
function ordersUntilFound(loss: number, perDay: number, stepMs: number): number[] {
  const random = randomOf(7)
  return Array.from({ length: 24 }, () => {
    const shop = { perDay, loss, rhythm: 0, weekend: 0, hourNoise: 0, dayNoise: 0, random }
    const start = 28 * DAY_MS + Math.floor(random() * 24) * HOUR_MS
    const slices = slicesOf(shop, 0, 56 * DAY_MS, (at) => (at >= start ? 0.1 : 0))
    let { state } = judgeShare(storedAt(slices, start), INITIAL_SHARE)
    for (let at = start; at < 55 * DAY_MS; at += stepMs) {
      state = judgeShare(storedAt(slices, at), state).state
      if (state.since === null) continue
      return slices.reduce((sum, slice) => (slice.at >= start && slice.at < at ? sum + slice.count : sum), 0)
    }
    return Number.POSITIVE_INFINITY
  }).sort((a, b) => a - b)
}

// The documented figures.
test.each([
  [0, 3600, 10 * MINUTE_MS, 200, 24],
  [0.02, 3600, 10 * MINUTE_MS, 200, 24],
  [0.01, 480, 30 * MINUTE_MS, 180, 24],
  [0.01, 100, 3 * HOUR_MS, 180, 22],
  [0.01, 20, 3 * HOUR_MS, 220, 13],
  [0.12, 3600, 10 * MINUTE_MS, 500, 24],
  [0.12, 480, 30 * MINUTE_MS, 800, 14],
])('with a usual loss of %p and %p orders a day, a loss of 10 %% is found', (loss, perDay, stepMs, median, count) => {
  const found = ordersUntilFound(loss, perDay, stepMs)
  expect(found[11]).toBeLessThanOrEqual(median)
  expect(found.filter(Number.isFinite).length).toBeGreaterThanOrEqual(count)
})
