import { describe, expect, test } from 'bun:test'
import { randomOf } from '../detector/series.fixture.ts'
import { countInterval, oneInFor, rateOf, samplingOf, shareInterval, sumOf } from './sample-estimates.ts'

const PARTS = 32

/** Draws one in `oneIn` sessions. Returns the sums of both counts by part. */
function draw(sessions: readonly { all: number; some: number }[], oneIn: number, random: () => number) {
  const [all, some] = [0, 1].map(() => Array.from({ length: PARTS }, (_, samplePart) => ({ samplePart, weight: 0 })))
  for (const session of sessions) {
    if (random() >= 1 / oneIn) continue
    const part = Math.floor(random() * PARTS)
    for (const [sums, weight] of [
      [all, session.all],
      [some, session.some],
    ] as const) {
      const sum = sums?.[part]
      if (sum) sum.weight += weight
    }
  }
  return { all: all ?? [], some: some ?? [] }
}

const SIZES: readonly [string, number, (random: () => number) => number][] = [
  ['1 event', 400, () => 1],
  ['1 to 9 events', 2000, (random) => Math.ceil(9 * random())],
  ['1 to 150 events, mostly few', 4000, (random) => Math.ceil(Math.exp(5 * random() ** 3))],
]

describe.each(SIZES)('sessions of %s', (_, count, sizeOf) => {
  test.each([2, 8, 64])(
    'are estimated from 1 in %p with intervals that cover the truth at the stated rate',
    (oneIn) => {
      const random = randomOf(17 + oneIn)
      const sessions = Array.from({ length: count }, () => {
        const all = sizeOf(random)
        return { all, some: random() < 0.3 ? all : random() < 0.5 ? Math.floor(all / 2) : 0 }
      })
      const truth = sessions.reduce((sum, { all }) => sum + all, 0)
      const share = (100 * sessions.reduce((sum, { some }) => sum + some, 0)) / truth
      const RUNS = 800
      let [counts, shares, estimates] = [0, 0, 0]
      for (let run = 0; run < RUNS; run++) {
        const { all, some } = draw(sessions, oneIn, random)
        const [count, ratio] = [countInterval(sumOf(all), oneIn).interval, shareInterval(some, all, oneIn).interval]
        if (count && count.low <= truth && truth <= count.high) counts++
        if (ratio && ratio.low <= share && share <= ratio.high) shares++
        estimates += sumOf(all).weight * oneIn
      }
      expect(Math.abs(estimates / RUNS / truth - 1)).toBeLessThan(0.05)
      // The standard deviation of the rate is 0.8 %. Few sessions with very different sizes are covered less often.
      expect([counts / RUNS, counts / RUNS > 0.9, counts / RUNS < 0.99]).toEqual([counts / RUNS, true, true])
      expect([shares / RUNS, shares / RUNS > 0.89, shares / RUNS < 0.995]).toEqual([shares / RUNS, true, true])
    },
  )
})

test('without a sample there is no interval', () => {
  expect([countInterval({ weight: 5, squares: 25 }, 1), shareInterval([], [], 1)]).toEqual([{}, {}])
  expect([rateOf(1), samplingOf(1, 0, { weight: 5, squares: 25 })]).toEqual([null, null])
})

test('nothing in a sample does not mean nothing at all', () => {
  const { interval } = countInterval({ weight: 0, squares: 0 }, 8)
  expect(interval?.low).toBe(0)
  expect(interval?.high).toBeGreaterThanOrEqual(rateOf(8)?.detectableSessions ?? 0)
})

test.each([
  [0, 1],
  [100, 1],
  [101, 2],
  [200, 2],
  [201, 4],
  [100 * 2 ** 20, 2 ** 20],
])('of %p events, at most 100 are read from 1 in %p sessions', (events, oneIn) => {
  expect(oneInFor(events, 100)).toBe(oneIn)
})

test('what occurs in 23 sessions is found in 1 of 8 sessions with a probability of 95 %', () => {
  expect(rateOf(8)).toEqual({ oneIn: 8, detectableSessions: 23 })
  expect(1 - (7 / 8) ** 23).toBeGreaterThanOrEqual(0.95)
  expect(1 - (7 / 8) ** 22).toBeLessThan(0.95)
})
