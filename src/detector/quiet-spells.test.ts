import { describe, expect, test } from 'bun:test'
import { anscombe } from './anscombe.ts'
import { ClusteredNoise } from './clustered-noise.ts'
import { QuietSpells } from './quiet-spells.ts'
import { normal, poisson, type Random, randomOf } from './series.fixture.ts'

/** Returns the runs of minutes without events, for whole days. `isBusy` returns true for a minute with events. */
function lullsOf(days: number, isBusy: (minute: number) => boolean): number[][] {
  return Array.from({ length: days * 24 }, (_, hour) => {
    const quietRuns = [0]
    for (let minute = 0; minute < 60; minute++) {
      if (isBusy(hour * 60 + minute)) quietRuns.push(0)
      else quietRuns.push((quietRuns.pop() ?? 0) + 1)
    }
    return quietRuns
  })
}

function learned(rows: readonly number[][], perMinute: number, most = Number.POSITIVE_INFINITY): QuietSpells {
  const lapses = new QuietSpells()
  for (const quietRuns of rows) lapses.take(quietRuns, perMinute, most)
  return lapses
}

/** Generates random visits at this rate per minute. Each minute of a visit has events. */
function visits(perMinute: number, minutes: number, random: Random): (minute: number) => boolean {
  let until = -1
  return (minute) => {
    if (random() < 1 - Math.exp(-perMinute)) until = minute + Math.floor(-minutes * Math.log(1 - random()))
    return minute <= until
  }
}

describe('the scale of quiet spells', () => {
  test.each<[string, number, number]>([
    ['one event per visit, few visits', 0.02, 1],
    ['ten events per visit, few visits', 0.02, 10],
    ['ten events per visit, a visit every third minute', 0.3, 10],
    ['ten events per visit, two visits per minute', 2, 10],
    ['ten events per visit, five visits per minute', 5, 10],
  ])('is the number of events that occur together: %s', (_, perMinute, size) => {
    const random = randomOf(5)
    const busy = visits(perMinute, 0, random)
    const scale = learned(lullsOf(28, busy), perMinute * size).scale() ?? 0
    expect(scale / size).toBeGreaterThan(0.7)
    expect(scale / size).toBeLessThan(1.4)
  })

  test('is independent of the number of short spells in a visit', () => {
    const random = randomOf(6)
    const within = visits(0.05, 15, random)
    const busy = (minute: number) => within(minute) && random() < 0.4
    const rows = lullsOf(28, busy)
    const events = rows.reduce((sum, { length }) => sum + length - 1, 0)
    // Overlapping visits merge.
    const size = events / (28 * 1440 * 0.05)
    const scale = learned(rows, events / (28 * 1440)).scale() ?? 0
    expect(scale / size).toBeGreaterThan(0.8)
    expect(scale / size).toBeLessThan(1.6)
  })

  test('changes little after an outage, and not at all after an unknown row', () => {
    const rows = lullsOf(14, visits(0.1, 0, randomOf(7)))
    const before = learned(rows, 1, 300).scale() ?? 0
    const outage = Array.from({ length: 48 }, () => [60])
    expect(learned([...rows, ...outage, ...rows], 1, 300).scale()).toBeLessThan(1.3 * before)
    const lapses = new QuietSpells()
    const known = new QuietSpells()
    for (const quietRuns of rows) {
      lapses.take(quietRuns, 1, 300)
      known.take(quietRuns, 1, 300)
    }
    lapses.take([60], 1, 300)
    lapses.interrupt()
    lapses.take([60], 1, 300)
    known.take([60], 1, 300)
    known.interrupt()
    expect(lapses.scale()).toBe(known.scale())
  })

  test('is unknown at first, when nothing is expected, and when every minute has events', () => {
    const few = lullsOf(1, (minute) => minute % 150 === 0)
    expect(learned([], 1).scale()).toBeNull()
    expect(learned(few, 1).scale()).toBeNull()
    for (const expected of [Number.NaN, 0]) {
      expect(learned(lullsOf(28, visits(0.1, 0, randomOf(8))), expected).scale()).toBeNull()
    }
    expect(
      learned(
        lullsOf(28, () => true),
        50,
      ).scale(),
    ).toBeNull()
  })

  test('adapts when the clustering changes', () => {
    const lapses = new QuietSpells()
    const busy = visits(0.1, 0, randomOf(9))
    const day = (size: number) => {
      for (const quietRuns of lullsOf(1, busy)) lapses.take(quietRuns, 0.1 * size, Number.POSITIVE_INFINITY)
      lapses.decay()
    }
    for (let days = 0; days < 60; days++) day(10)
    for (let days = 0; days < 60; days++) day(2)
    expect(lapses.scale()).toBeLessThan(4)
    for (let days = 0; days < 14; days++) day(20)
    expect(lapses.scale()).toBeGreaterThan(15)
  })
})

describe('clusters', () => {
  test('deviate like single events', () => {
    const single = new ClusteredNoise(1)
    expect(single.deviations(anscombe(20), anscombe(50))).toBeCloseTo(anscombe(20) - anscombe(50), 9)
    expect(new ClusteredNoise(10).deviations(anscombe(200), anscombe(500))).toBeCloseTo(anscombe(20) - anscombe(50), 9)
  })

  test('of random sizes deviate as much as larger clusters of equal size', () => {
    const random = randomOf(11)
    const counts = Array.from({ length: 4000 }, () => {
      let count = 0
      for (let left = poisson(60, random); left > 0; left--) {
        do count += 1
        while (random() < 0.8)
      }
      return count
    })
    const clusters = ClusteredNoise.of(5)
    const square = counts.reduce((sum, count) => sum + clusters.deviations(anscombe(count), anscombe(300)) ** 2, 0)
    expect(Math.abs(square / counts.length - 1)).toBeLessThan(0.15)
  })

  test('return the count at a given deviation', () => {
    const random = randomOf(10)
    for (let run = 0; run < 200; run++) {
      const clusters = new ClusteredNoise(1 + 30 * random())
      const expected = anscombe(1000 * clusters.size * random())
      const [below, above] = [-Math.abs(normal(random)), 5 * random()]
      for (const deviations of [below, above]) {
        const count = clusters.countAt(expected, deviations)
        if (count > 0) expect(clusters.deviations(anscombe(count), expected)).toBeCloseTo(deviations, 6)
      }
    }
  })
})
