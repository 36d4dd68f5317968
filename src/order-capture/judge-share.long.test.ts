import { expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
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
