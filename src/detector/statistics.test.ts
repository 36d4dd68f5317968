import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { anscombe, inverseAnscombe } from './anscombe.ts'
import { SlotRing } from './baseline.ts'
import { BurstRarity } from './burst-rarity.ts'
import { NoiseLevel } from './noise-level.ts'
import { medianOf, quantileOf, toDistances } from './quantile.ts'
import { calendarOf, MAX_SCALE_BLOCKS } from './season-lengths.ts'
import { normal, poisson, randomOf } from './series.fixture.ts'
import { LocalTimeSlots, SlidingSum } from './series-statistics.ts'
import { SilenceRarity } from './silence-rarity.ts'
import { tailDeviations } from './tail-deviations.ts'

const rising = (values: readonly number[]) => values.toSorted((a, b) => a - b)
const plainMedian = (values: readonly number[]) => {
  const sorted = rising(values)
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}
const numbers = (minLength: number) => fc.array(fc.integer({ min: -50, max: 50 }), { minLength, maxLength: 90 })

test('inverseAnscombe returns the original count', () => {
  fc.assert(fc.property(fc.nat(1e9), (count) => expect(inverseAnscombe(anscombe(count))).toBeCloseTo(count, 3)))
  expect([inverseAnscombe(0), inverseAnscombe(-3), anscombe(-5)]).toEqual([0, 0, anscombe(0)])
})

test('transformed Poisson counts have a variance of 1', () => {
  const random = randomOf(1)
  for (const mean of [4, 30, 900]) {
    const roots = Array.from({ length: 20_000 }, () => anscombe(poisson(mean, random)))
    const middle = roots.reduce((a, b) => a + b) / roots.length
    const variance = roots.reduce((sum, root) => sum + (root - middle) ** 2, 0) / roots.length
    expect(Math.abs(variance - 1)).toBeLessThan(0.06)
  }
})

describe('order statistics', () => {
  test('agree with sorting and leave later elements unchanged', () => {
    fc.assert(
      fc.property(numbers(1), (values) => {
        const typed = Float64Array.from([...values, -99])
        expect(medianOf(typed, values.length)).toBe(plainMedian(values))
        expect(rising([...typed.subarray(0, values.length)])).toEqual(rising(values))
        for (const share of [0, 0.3, 0.5, 0.9, 0.95, 1]) {
          const place = Math.floor(share * (values.length - 1))
          expect(quantileOf(typed, values.length, share)).toBe(rising(values)[place] ?? Number.NaN)
        }
        toDistances(typed, values.length)
        const middle = plainMedian(values)
        const distances = values.map((value) => Math.abs(value - middle))
        expect(rising([...typed.subarray(0, values.length)])).toEqual(rising(distances))
        expect(typed.at(-1)).toBe(-99)
      }),
    )
    expect(medianOf(new Float64Array(3), 0)).toBeNaN()
  })
})

describe('tail deviations', () => {
  test.each([
    [2, 3.8],
    [3, 6.6],
    [4, 10.4],
    [5, 15.1],
    [6, 20.7],
    [7, 27.4],
    [8, 35.0],
  ])('equal %p when no event occurs and %p are expected', (k, expected) => {
    expect(Math.abs(tailDeviations(expected) - k)).toBeLessThan(0.02)
  })

  test('grow with the expected count from 0 to 40', () => {
    const count = fc.double({ min: 0, max: 1000, noNaN: true })
    fc.assert(
      fc.property(count, count, (a, b) => {
        expect(Math.sign(tailDeviations(a) - tailDeviations(b)) * Math.sign(a - b)).toBeGreaterThanOrEqual(0)
      }),
    )
    expect([tailDeviations(0), tailDeviations(Number.NaN), tailDeviations(1e6)]).toEqual([0, 0, 40])
  })
})

test('a ring buffer returns the most recent values', () => {
  const steps = fc.array(fc.record({ by: fc.integer({ min: -3, max: 15 }), value: fc.integer() }), { maxLength: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 12 }), steps, (size, moves) => {
      const ring = new SlotRing(size)
      const known = new Map<number, number>()
      let slot = 0
      let newest = -1
      for (const { by, value } of moves) {
        slot = Math.max(0, slot + by)
        ring.set(slot, value)
        if (slot > newest - size) known.set(slot, Math.fround(value))
        newest = Math.max(newest, slot)
        for (let at = newest - size - 3; at <= newest + 3; at++) {
          const expected = at > newest - size && at <= newest ? (known.get(at) ?? Number.NaN) : Number.NaN
          expect(ring.get(at)).toBe(expected)
        }
      }
    }),
  )
})

test('a sliding sum covers the most recent rows', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), numbers(0), (width, values) => {
      const recent = new SlidingSum(width)
      values.forEach((value, at) => {
        const last = values.slice(Math.max(0, at + 1 - width), at + 1)
        const sum = last.reduce((a, b) => a + b, 0)
        expect(recent.add(value)).toBe(at + 1 < width ? Number.NaN : sum)
        expect(recent.mean()).toBe(sum / last.length)
      })
      recent.restart()
      expect(recent.mean()).toBeNaN()
    }),
  )
})

describe('the burst score', () => {
  /** Computes the score by definition, from the sorted list of levels. */
  function plainScore(history: readonly number[], sum: number): number {
    const levels = history.map((value) => Math.round(Math.log(1 + value) / 0.02) * 0.02).toSorted((a, b) => b - a)
    const above = levels.length - 1 - Math.floor(0.99 * (levels.length - 1))
    const quantile = levels[above] ?? 0
    const excess = levels.slice(0, above).reduce((total, level) => total + level - quantile, 0) / above
    const slope = Math.max(0.05, excess, 1 / Math.sqrt(Math.exp(quantile)))
    const beyond = (Math.log(1 + sum) - quantile) / slope
    const share = beyond > 0 ? (1 + beyond / above) ** -above : Math.exp(-beyond)
    return Math.max(0, (2 - Math.log10(share)) / 0.675)
  }

  test('matches its definition on the remembered rows', () => {
    const random = randomOf(2)
    const burst = new BurstRarity(1, 700)
    const history: number[] = []
    for (let row = 0; row < 2000; row++) {
      const value = Math.round(Math.exp(2 + normal(random)))
      const score = burst.score(value)
      if (row <= 500) expect(score).toBeNaN()
      else {
        expect(score).toBeCloseTo(plainScore(history.slice(-700), value), 6)
        const limit = burst.sumAt(4)
        expect(Math.abs(burst.score(limit) - 4)).toBeLessThan(1e-9)
      }
      burst.remember(value)
      history.push(value)
    }
  })

  test('is low for a hundred equal maxima, which are not a burst', () => {
    const burst = new BurstRarity(1, 6048)
    for (let row = 0; row < 6000; row++) burst.remember(row % 60 === 0 ? 20 : 1)
    expect(burst.score(20)).toBeCloseTo(2 / 0.675, 1)
    expect(burst.score(1)).toBe(0)
    expect(burst.score(2000)).toBeGreaterThan(8)
  })
})

describe('the noise estimate', () => {
  interface Drawn {
    expected: number[]
    roots: number[]
  }

  /**
   * Returns the noise estimated from alternating busy and quiet hours, each of which is busier or quieter by a random
   * share. Cluster sizes are random; counts have the variance of equal-sized clusters of size `cluster`.
   */
  function noiseOf(share: number, size = 672, cluster = 1): ReturnType<typeof NoiseLevel.of> & Drawn {
    const random = randomOf(4)
    const means = Array.from({ length: size }, (_, hour) => (hour % 2 === 0 ? 50 : 2000))
    const expected = means.map(anscombe)
    const mean = (cluster + 1) / 2
    const sizeOf = () => 1 + (mean > 1 ? Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / mean)) : 0)
    const drawn = (usual: number) => {
      let events = 0
      for (let left = poisson((usual / mean) * Math.exp(share * normal(random)), random); left > 0; left--)
        events += sizeOf()
      return events
    }
    const roots = means.map((usual) => anscombe(drawn(usual)))
    const distances = Float64Array.from(roots.map((root, hour) => Math.abs(root - (expected[hour] ?? 0))))
    return { ...NoiseLevel.of(distances, Float64Array.from(expected), size, cluster), expected, roots }
  }

  test.each([
    [0, 1],
    [0.05, 1],
    [0.2, 1],
    [0, 5],
    [0.1, 5],
  ])('with a relative share of %p is equally wide by day and night for clusters of %p events', (share, cluster) => {
    const { noise, heavy, expected, roots } = noiseOf(share, 672, cluster)
    for (const parity of [0, 1]) {
      const deviations = roots.flatMap((root, hour) =>
        hour % 2 === parity ? [Math.abs(noise.deviations(root, expected[hour] ?? 0))] : [],
      )
      expect(Math.abs(1.4826 * plainMedian(deviations) - 1)).toBeLessThan(0.25)
    }
    expect(heavy).toBeLessThan(1.2)
    expect(
      Math.abs(noise.at(anscombe(2000)) - Math.hypot(Math.sqrt(cluster), (share * anscombe(2000)) / 2)),
    ).toBeLessThan(1.5)
  })

  test('has bounds at the given deviations', () => {
    const expected = fc.double({ min: 2, max: 300, noNaN: true })
    const k = fc.double({ min: 0, max: 8, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(0, 0.05, 0.3), fc.constantFrom(1, 5), expected, k, k, (...drawn) => {
        const [share, cluster, middle, below, above] = drawn
        const { noise } = noiseOf(share, 60, cluster)
        const { low, high } = noise.around(middle, below, above)
        expect(noise.deviations(low, middle)).toBeCloseTo(-below, 6)
        expect(noise.deviations(high, middle)).toBeCloseTo(above, 6)
      }),
    )
  })
})

describe('the silence score', () => {
  test('is measured in missing events, and is reset by an event', () => {
    const silence = new SilenceRarity()
    for (const value of [3, 0, 0]) silence.add(value, 10)
    expect(silence.missing).toBe(20)
    expect(silence.score()).toBeCloseTo(tailDeviations(20 / 1.5), 9)
    expect(silence.scoreOf(silence.missing + 4)).toBeCloseTo(tailDeviations(24 / 1.5), 9)
    silence.add(0, Number.NaN)
    expect(silence.missing).toBe(20)
    silence.add(1, 10)
    expect(silence.score()).toBe(0)
  })

  test('grows more slowly in a series that is often silent', () => {
    const random = randomOf(3)
    const used = new SilenceRarity()
    for (let lapse = 0; lapse < 400; lapse++) {
      used.add(0, -20 * Math.log(1 - random()))
      used.add(1, 1)
    }
    const before = used.scoreOf(100)
    used.learn()
    expect(used.scoreOf(100)).toBeLessThan(before / 2)
    const poissonLike = new SilenceRarity()
    for (let lapse = 0; lapse < 400; lapse++) {
      poissonLike.add(0, -Math.log(1 - random()))
      poissonLike.add(1, 1)
    }
    poissonLike.learn()
    expect(poissonLike.scoreOf(10)).toBeCloseTo(tailDeviations(10 / 1.5), 9)
  })
})

describe('local time slots', () => {
  const at = (text: string) => Date.parse(text)

  test.each<[string, string, string, number]>([
    ['UTC', '2026-03-25T09:00Z', '2026-04-01T09:00Z', 168],
    ['Europe/Berlin', '2026-03-25T09:00+01:00', '2026-04-01T09:00+02:00', 168],
    ['Europe/Berlin', '2026-10-24T09:00+02:00', '2026-10-25T09:00+01:00', 24],
    ['Europe/Berlin', '2026-03-29T01:00+01:00', '2026-03-29T03:00+02:00', 2],
    ['Europe/Berlin', '2026-10-25T02:00+02:00', '2026-10-25T02:00+01:00', 0],
    ['Asia/Kolkata', '2026-03-25T09:30+05:30', '2026-03-26T09:30+05:30', 24],
  ])('in %s from %s to %s span %p hours', (timezone, from, to, hours) => {
    const slots = new LocalTimeSlots(HOUR_MS, timezone)
    expect([slots.slotOf(at(from)), slots.slotOf(at(to))]).toEqual([0, hours])
  })

  test('agree with a separate lookup of each instant across two years of clock changes', () => {
    const slots = new LocalTimeSlots(15 * MINUTE_MS, 'America/New_York')
    const start = at('2025-01-01T00:00Z')
    const wall = (instant: number) =>
      Date.parse(
        `${Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO('America/New_York').toPlainDateTime()}Z`,
      )
    for (let hour = 0; hour < 2 * 8766; hour += 7) {
      const instant = start + hour * HOUR_MS
      expect(slots.slotOf(instant)).toBe((wall(instant) - wall(start)) / (15 * MINUTE_MS))
    }
  })

  test('identify weekends in local time', () => {
    const slots = new LocalTimeSlots(HOUR_MS, 'Asia/Tokyo')
    // Friday 23:00 in that time zone.
    slots.slotOf(at('2026-03-27T14:00Z'))
    expect([0, 1, 24, 48, 49].map((slot) => slots.isWeekend(slot))).toEqual([false, true, true, true, false])
  })
})

test('no calendar has more blocks than the buffers can hold', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 30 * 24 * HOUR_MS }), (stepMs) => {
      const { scaleBlocks, minBlocks, day, week } = calendarOf(stepMs)
      expect(scaleBlocks).toBeLessThanOrEqual(MAX_SCALE_BLOCKS)
      expect(minBlocks).toBeLessThanOrEqual(scaleBlocks)
      expect(Math.min(day, week)).toBeGreaterThanOrEqual(1)
    }),
  )
})
