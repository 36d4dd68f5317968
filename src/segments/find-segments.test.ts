import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { findSegments, type SegmentCounts } from './find-segments.ts'
import { plantCause } from './plant-cause.fixture.ts'
import { plantedResults, rightShares } from './planted-causes.fixture.ts'
import { compareSegment, standOut } from './rank-segments.ts'
import type { Dimension, SegmentTally } from './segment.ts'
import { randomOf, Shop } from './shop-traffic.fixture.ts'

test.each([
  ['all events', false, 300_000],
  ['sampled events', true, 400_000],
])('planted causes are found in shops of all sizes: %s', async (_, sampled, seed) => {
  const results = await plantedResults({ shops: 40, largest: 50_000, seed, sampled })
  const { cause, none } = rightShares(results)
  expect(cause).toBeGreaterThanOrEqual(0.9)
  expect(none).toBeGreaterThanOrEqual(0.95)
})

test('one session does not name its browser, however many violating events it has', async () => {
  const shop = new Shop({ events: 4000, seed: 11, robot: 5000 })
  const violates = new Uint8Array(shop.length).fill(1, shop.robotAt)
  for (let n = 0; n < shop.robotAt; n += 120) violates[n] = 1
  const { all, segments } = await findSegments(shop.counts(violates))
  expect(all.violating).toBeGreaterThan(5000)
  expect(segments).toEqual([])
})

test('two causes are both named', async () => {
  const shop = new Shop({ events: 40_000, seed: 12 })
  const [first, second] = [
    shop.members({ dimensions: ['browser'], values: ['Firefox'] }),
    shop.members({ dimensions: ['pageGroup'], values: ['/cart'] }),
  ]
  const random = randomOf(1)
  const rateOf = (n: number) => (first[n] ? 0.3 : second[n] ? 0.3 : 0.001)
  const violates = Uint8Array.from({ length: shop.length }, (_, n) => (random() < rateOf(n) ? 1 : 0))
  const { all, segments } = await findSegments(shop.counts(violates))
  expect(segments.map(({ values }) => values[0]).toSorted()).toEqual(['/cart', 'Firefox'])
  // An event in both segments is counted once.
  expect(segments.reduce((sum, { total }) => sum + total, 0)).toBe(
    first.filter((isMember, n) => isMember || second[n]).length,
  )
  expect(segments.reduce((sum, { violating }) => sum + violating, 0)).toBeLessThanOrEqual(all.violating)
})

test('nothing stands out if all events violate, or none, or there are no events', async () => {
  const shop = new Shop({ events: 3000, seed: 13 })
  const nothing: SegmentCounts = { single: async () => ({ all: null, tallies: [] }), pairs: async () => [] }
  for (const violates of [new Uint8Array(shop.length), new Uint8Array(shop.length).fill(1)]) {
    expect((await findSegments(shop.counts(violates))).segments).toEqual([])
  }
  expect((await findSegments(nothing)).segments).toEqual([])
})

test('a sampled event does not count as several', async () => {
  const shop = new Shop({ events: 3000, seed: 14 })
  shop.weights.fill(100)
  const planted = await plantCause(shop, 'none', 0.02)
  const { segments } = await findSegments(shop.counts(planted?.violates ?? new Uint8Array(shop.length)))
  expect(segments).toEqual([])
})

/** Returns the sums over independent events. */
function tallyOf(violating: number, total: number, dimension: Dimension = 'os'): SegmentTally {
  return {
    dimensions: [dimension],
    values: ['x'],
    violating,
    total,
    cappedViolating: violating,
    cappedTotal: total,
    violatingSquares: violating,
    products: violating,
    totalSquares: total,
  }
}

test('the risk ratio and its interval equal those of published examples', () => {
  // Physicians' Health Study: 104 of 11,037 with aspirin, 189 of 11,034 with placebo (Agresti, Categorical Data Analysis,
  // table 2.2): 1.82, from 1.43 to 2.31.
  const compared = compareSegment(tallyOf(293, 22_071), tallyOf(189, 11_034), 'risk')
  expect([compared.ratio, compared.low, compared.high].map((value) => value.toFixed(2))).toEqual([
    '1.82',
    '1.43',
    '2.31',
  ])
  const odds = compareSegment(tallyOf(293, 22_071), tallyOf(189, 11_034), 'odds')
  expect([odds.ratio, odds.low, odds.high].map((value) => value.toFixed(2))).toEqual(['1.83', '1.44', '2.33'])
})

test('the ratio is finite and inside its interval', () => {
  const aTable = fc.tuple(fc.nat(50), fc.nat(50), fc.nat(500), fc.nat(500))
  fc.assert(
    fc.property(aTable, fc.constantFrom('risk' as const, 'odds' as const), ([v, w, a, b], measure) => {
      const [own, others] = [tallyOf(v, v + a + 1), tallyOf(w, w + b + 1)]
      const all = tallyOf(own.violating + others.violating, own.total + others.total)
      const { ratio, low, high } = compareSegment(all, own, measure)
      expect(Number.isFinite(ratio) && Number.isFinite(high) && low > 0).toBe(true)
      expect(low).toBeLessThanOrEqual(ratio)
      expect(high).toBeGreaterThanOrEqual(ratio)
    }),
    { numRuns: 500 },
  )
})

test('the better explanation is chosen, and the coarser dimension if both explain the same', () => {
  const all = tallyOf(100, 10_000)
  const named = (tally: SegmentTally, dimension: Dimension) => ({ ...tally, dimensions: [dimension] as const })
  const [cause, correlate] = [tallyOf(95, 1000), tallyOf(95, 3000)]
  expect(standOut(all, [named(correlate, 'browser'), named(cause, 'os')], 'risk')?.dimensions).toEqual(['os'])
  expect(standOut(all, [named(cause, 'browser'), named(cause, 'browserVersion')], 'risk')?.dimensions).toEqual([
    'browser',
  ])
})
