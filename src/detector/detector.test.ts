import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { anscombe } from './anscombe.ts'
import { Detector, DetectorSet, InferredStepDetector, type Verdict } from './detector.ts'
import { madeSeries, normal, poisson, profileAt, randomOf } from './series.fixture.ts'
import { sumsFor } from './series-statistics.ts'

/** A Monday. */
const START = Date.UTC(2026, 0, 5)
const WEEK = 168

interface Run {
  sensitivity?: number
  stepMs?: number
  timezone?: string
  /** Start time of row 0. */
  start?: number
}

function verdictsOf(values: readonly (number | null)[], options: Run = {}): Verdict[] {
  const { sensitivity = 5, stepMs = HOUR_MS, start = START, ...shape } = options
  const detector = new Detector({ sensitivity, stepMs, ...shape })
  return values.map((value, row) => detector.push(start + row * stepMs, value))
}

const alarmsOf = (verdicts: readonly Verdict[]) => verdicts.flatMap(({ alarm }, row) => (alarm ? [row] : []))

/** Returns six weeks of counts with a weekly profile. `change` is applied from hour `from` on. */
function hourly(
  perHour: number,
  seed: number,
  from = Number.POSITIVE_INFINITY,
  change = (value: number) => value,
): number[] {
  return madeSeries(perHour, 6, randomOf(seed)).map((value, row) => (row < from ? value : change(value)))
}

/** Series with bursts, silences, nulls and calm stretches. */
const rough = fc
  .tuple(fc.nat(), fc.constantFrom(0.5, 5, 60), fc.integer({ min: 50, max: 900 }))
  .map(([seed, mean, rows]) => {
    const random = randomOf(seed)
    let height = 1
    return Array.from({ length: rows }, () => {
      if (random() < 0.02) height = Math.exp(2 * normal(random))
      if (random() < 0.02) return null
      return random() < 0.03 ? 0 : poisson(mean * height, random)
    })
  })

describe('verdicts', () => {
  test('report an alarm or anomaly when the score reaches the sensitivity, with its direction as state', () => {
    fc.assert(
      fc.property(
        rough,
        fc.constantFrom(2, 3.5, 5),
        fc.constantFrom(HOUR_MS, 5 * MINUTE_MS),
        (values, sensitivity, stepMs) => {
          for (const verdict of verdictsOf(values, { sensitivity, stepMs })) {
            const { alarm, anomaly, score, up, down, state, open, low, high } = verdict
            expect(alarm).toBe(score >= sensitivity)
            expect(anomaly).toBe(Math.max(up, down) >= sensitivity)
            expect(['high', 'low', 'silent'].includes(state)).toBe(anomaly)
            if (anomaly) expect(open).toBe(true)
            if (low !== null && high !== null) expect(low).toBeLessThanOrEqual(high)
            expect(
              Object.values(verdict).filter((field) => typeof field === 'number' && !Number.isFinite(field)),
            ).toEqual([])
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  test('are independent of other detectors', () => {
    fc.assert(
      fc.property(rough, rough, (one, other) => {
        const [first, second] = [
          new Detector({ sensitivity: 4, stepMs: HOUR_MS }),
          new Detector({ sensitivity: 3, stepMs: 5 * MINUTE_MS }),
        ]
        const together = one.map((value, row) => {
          second.push(START + row * 5 * MINUTE_MS, other[row] ?? null)
          return first.push(START + row * HOUR_MS, value)
        })
        expect(together).toEqual(verdictsOf(one, { sensitivity: 4 }))
      }),
      { numRuns: 20 },
    )
  })

  test('for several sensitivities in one pass equal those of separate passes', () => {
    const sensitivities = [2, 3, 4, 4.5, 5, 6, 7, 8]
    fc.assert(
      fc.property(rough, (values) => {
        const set = new DetectorSet({ stepMs: HOUR_MS, sensitivities })
        const together = values.map((value, row) => set.push(START + row * HOUR_MS, value))
        sensitivities.forEach((sensitivity, k) => {
          expect(together.map((verdicts) => verdicts[k])).toEqual(verdictsOf(values, { sensitivity }))
        })
      }),
      { numRuns: 20 },
    )
  })

  test('of a less sensitive detector never raise an alarm earlier', () => {
    fc.assert(
      fc.property(rough, fc.constantFrom(HOUR_MS, 5 * MINUTE_MS), (values, stepMs) => {
        const first = [2, 3, 4, 5, 6, 7, 8].map(
          (sensitivity) => alarmsOf(verdictsOf(values, { sensitivity, stepMs }))[0] ?? Number.POSITIVE_INFINITY,
        )
        expect(first).toEqual(first.toSorted((a, b) => a - b))
      }),
      { numRuns: 30 },
    )
  })
})

const dayOf = (hour: number) => Math.floor(hour / 24) % 7
const isOffice = (hour: number) => dayOf(hour) < 5 && hour % 24 >= 8 && hour % 24 < 18

describe('a normal series', () => {
  test.each<[string, (number | null)[]]>([
    ['no events', Array.from({ length: 6 * WEEK }, () => 0)],
    ['a constant count', Array.from({ length: 6 * WEEK }, () => 40)],
    ['one row', [5]],
    ['one row without a count', [null]],
    ['only rows without a count', Array.from({ length: WEEK }, () => null)],
    ['a week without counts', hourly(200, 1).map((value, row) => (row >= 600 && row < 600 + WEEK ? null : value))],
    ['constant daily counts', Array.from({ length: 6 * 7 }, () => 10)],
  ])('raises no alarm: %s', (_what, values) => {
    expect(alarmsOf(verdictsOf(values))).toEqual([])
  })

  test('raises no alarm when the rows of a week are missing', () => {
    const detector = new Detector({ sensitivity: 5, stepMs: HOUR_MS })
    const verdicts = hourly(200, 2).flatMap((value, row) =>
      row >= 700 && row < 700 + WEEK ? [] : [detector.push(START + row * HOUR_MS, value)],
    )
    expect(alarmsOf(verdicts)).toEqual([])
    expect(verdicts.at(-1)?.expected).toBeGreaterThan(20)
  })

  test('raises no alarm on its first weekends with little traffic', () => {
    const quiet = (hour: number) => profileAt(hour) * (hour >= 5 * 24 ? 0.4 : 1)
    for (const seed of [1, 2, 3]) {
      expect(alarmsOf(verdictsOf(madeSeries(500, 4, randomOf(seed), quiet)))).toEqual([])
    }
  })

  test.each<[string, number, (hour: number) => number]>([
    ['has office hours, from its second weekend on', 8, (hour) => (isOffice(hour) ? 3.3 : 0.02)],
    ['has one unusual weekday, from its fifth week on', 30, (hour) => (dayOf(hour) === 2 ? 0.1 : 1) * profileAt(hour)],
  ])('raises no alarm when it %s', (_what, days, profile) => {
    const found = [1, 2, 3, 4].flatMap((seed) =>
      alarmsOf(verdictsOf(madeSeries(300, 9, randomOf(seed), profile))).filter((row) => row >= days * 24),
    )
    expect(found).toEqual([])
  })

  test('in local time raises no alarm across both clock changes', () => {
    for (const day of ['2026-03-29', '2026-10-25']) {
      const start = Date.parse(`${day}T00:00Z`) - 5 * WEEK * HOUR_MS
      const random = randomOf(4)
      const values = Array.from({ length: 7 * WEEK }, (_, row) => {
        const wall = Temporal.Instant.fromEpochMilliseconds(start + row * HOUR_MS).toZonedDateTimeISO('Europe/Berlin')
        // A step in traffic that is off by an hour would be detected.
        return poisson(wall.hour >= 8 && wall.hour < 20 ? 400 : 20, random)
      })
      expect(alarmsOf(verdictsOf(values, { timezone: 'Europe/Berlin', start }))).toEqual([])
      expect(alarmsOf(verdictsOf(values, { start })).length).toBeGreaterThan(0)
    }
  })
})

describe('a change in a series', () => {
  const from = 5 * WEEK + 30

  test.each<[string, number, (value: number) => number, Verdict['state'][]]>([
    ['a drop to zero', 20, () => 0, ['low', 'silent']],
    ['a drop to zero', 2000, () => 0, ['low', 'silent']],
    ['a drop to a third', 200, (value) => Math.round(value / 3), ['low']],
    ['a drop to half', 200, (value) => Math.round(value / 2), ['low']],
    ['a threefold rise', 200, (value) => 3 * value, ['high']],
  ])('is detected within three hours: %s at %p events an hour', (_what, perHour, change, states) => {
    const verdicts = verdictsOf(hourly(perHour, 5, from, change))
    const [row = 0, ...more] = alarmsOf(verdicts).filter((alarm) => alarm < from + 12)
    expect(row).toBeGreaterThanOrEqual(from)
    expect(row).toBeLessThan(from + 3)
    expect(states).toContain(verdicts[row]?.state ?? 'normal')
    expect(more).toEqual([])
  })

  test('raises a separate alarm for a drop soon after a rise', () => {
    const values = hourly(200, 6).map((value, row) => (row >= from + 6 ? 0 : row >= from ? 5 * value : value))
    const verdicts = verdictsOf(values)
    const states = alarmsOf(verdicts)
      .filter((row) => row < from + 10)
      .map((row) => verdicts[row]?.state)
    expect(states[0]).toBe('high')
    expect(states.at(-1)).not.toBe('high')
  })

  test('is detected as a burst when the series has no daily pattern', () => {
    const random = randomOf(7)
    const values = Array.from({ length: 4000 }, () => poisson(20 * Math.exp(0.5 * normal(random)), random))
    const calm = alarmsOf(verdictsOf(values, { stepMs: 5 * MINUTE_MS })).filter((row) => row > 3000)
    expect(calm).toEqual([])
    const burst = values.map((value, row) => (row >= 3500 && row < 3510 ? 30 * value : value))
    const [row] = alarmsOf(verdictsOf(burst, { stepMs: 5 * MINUTE_MS })).filter((row) => row > 3000)
    expect(row).toBeGreaterThanOrEqual(3500)
    expect(row).toBeLessThan(3504)
  })

  test('raises an alarm that closes after two calm rows and is not repeated within the rest period', () => {
    const values = hourly(200, 8).map((value, row) => (row >= from && row < from + 4 ? 0 : value))
    values[from + 9] = 0
    values[from + 10] = 0
    const verdicts = verdictsOf(values)
    expect(alarmsOf(verdicts.slice(from)).length).toBe(1)
    expect(verdicts[from + 3]?.open).toBe(true)
    expect(verdicts[from + 8]?.open).toBe(false)
    expect(verdicts[from + 10]).toMatchObject({ anomaly: true, alarm: false, open: true, score: 0.99 * 5 })
  })
})

describe('silence between rows', () => {
  const rows = 5 * WEEK
  const flat = madeSeries(60, 5, randomOf(9), () => 1)
  function afterRows(values: readonly number[]): { detector: Detector; end: number } {
    const detector = new Detector({ sensitivity: 5, stepMs: HOUR_MS })
    for (const [row, value] of values.entries()) detector.push(START + row * HOUR_MS, value)
    return { detector, end: START + values.length * HOUR_MS }
  }

  test('is detected within 30 minutes for a tag with 60 events an hour', () => {
    const { detector, end } = afterRows(flat.slice(0, rows))
    const minutes = Array.from({ length: 60 }, (_, minute) => minute)
    const named = (lastEventAt: number) =>
      minutes.find((minute) => detector.silenceAt(lastEventAt + minute * MINUTE_MS, lastEventAt) >= 5) ?? 60
    for (const lastEventAt of [end - 17 * MINUTE_MS, end, end + 23 * MINUTE_MS]) {
      expect(named(lastEventAt)).toBeGreaterThan(15)
      expect(named(lastEventAt)).toBeLessThan(30)
    }
    expect(detector.silenceAt(end + 60 * MINUTE_MS, end + 59 * MINUTE_MS)).toBeLessThan(2)
  })

  test('has a score that grows until the row ends and is not lowered by the row', () => {
    const { detector, end } = afterRows(flat.slice(0, rows))
    const growing = [0, 10, 20, 40, 60].map((minute) => detector.silenceAt(end + minute * MINUTE_MS))
    expect(growing).toEqual(growing.toSorted((a, b) => a - b))
    expect(growing[0]).toBe(0)
    const { down } = detector.push(end, 0)
    expect(detector.silenceAt(end + HOUR_MS)).toBeCloseTo(growing[4] ?? 0, 6)
    expect(down).toBeGreaterThanOrEqual(growing[4] ?? 0)
  })

  test('is not detected before any events are expected', () => {
    const detector = new Detector({ sensitivity: 5, stepMs: HOUR_MS })
    expect(detector.silenceAt(START)).toBe(0)
    detector.push(START, 5)
    expect(detector.silenceAt(START + 5 * HOUR_MS)).toBe(0)
    expect(detector.silenceAt(START + 5000 * DAY_MS, START)).toBe(0)
  })
})

describe('the learning phase of a series', () => {
  const learnedAfter = (firstDay: number) => {
    const start = START + firstDay * DAY_MS
    const verdicts = verdictsOf(hourly(200, 10).slice(0, 11 * 24), { start })
    expect(verdicts[0]).toMatchObject({ state: 'learning', expected: null, low: null, high: null })
    const learned = verdicts.findIndex(({ learningUntil }) => learningUntil === null)
    verdicts.slice(0, learned).forEach(({ learningUntil, state }, row) => {
      expect(state).toBe('learning')
      expect(learningUntil).toBeGreaterThan(start + row * HOUR_MS)
    })
    expect(verdicts[learned]?.state).toBe('normal')
    expect(verdicts[0]?.learningUntil).toBe(start + learned * HOUR_MS)
    return learned / 24
  }

  test.each([
    ['a Monday', 0, 8],
    ['a Sunday', 6, 6],
    ['a Wednesday', 2, 8],
  ])('that starts on %s ends once three days could be compared with similar days', (_name, day, expected) => {
    expect(learnedAfter(day)).toBe(expected)
  })
})

test('a count within the expected band is not an anomaly, but a count far outside is', () => {
  const values = hourly(200, 11)
  const row = 5 * WEEK + 15
  const before = values.slice(0, row)
  const last = (value: number) => verdictsOf([...before, value]).at(-1)
  const { low, high, expected } = last(values[row] ?? 0) ?? {}
  expect(low).toBeLessThan(expected ?? 0)
  expect(high).toBeGreaterThan(expected ?? Number.POSITIVE_INFINITY)
  expect([last((low ?? 0) + 1), last((high ?? 0) - 1)].map((verdict) => verdict?.anomaly)).toEqual([false, false])
  expect([last((low ?? 0) / 3), last(3 * (high ?? 0))].map((verdict) => verdict?.anomaly)).toEqual([true, true])
})

test('the baseline is more accurate than the median of the same hour in earlier weeks', () => {
  const random = randomOf(15)
  const means = Array.from({ length: 6 * WEEK }, (_, hour) => 40 * profileAt(hour % WEEK))
  const values = means.map((mean) => poisson(mean, random))
  const misses = verdictsOf(values).flatMap(({ expected }, row) => {
    if (row < 5 * WEEK) return []
    const weeks = [1, 2, 3, 4, 5].map((week) => values[row - week * WEEK] ?? 0).toSorted((a, b) => a - b)
    const miss = (count: number) => (anscombe(count) - anscombe(means[row] ?? 0)) ** 2
    return [[miss(expected ?? 0), miss(weeks[2] ?? 0)] as const]
  })
  const [own = 0, weekly = 0] = [0, 1].map((which) => misses.reduce((sum, miss) => sum + (miss[which] ?? 0), 0))
  expect(own).toBeLessThan(0.7 * weekly)
})

test.each([
  [5 * MINUTE_MS, [3]],
  [HOUR_MS, [3, 12]],
  [3 * HOUR_MS, [3, 4]],
  [6 * HOUR_MS, [3]],
  [DAY_MS, [3]],
])('rows %p ms apart are evaluated in sums of %j rows', (stepMs, sums) => {
  expect(sumsFor(stepMs)).toEqual(sums)
})

test('a detector of hourly rows uses less than 50 kB', () => {
  expect(new Detector({ sensitivity: 5, stepMs: HOUR_MS }).bytes).toBeLessThan(50_000)
})

describe('a series with an unknown step', () => {
  test.each([MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, DAY_MS])(
    'is evaluated like a series with a known step of %p ms',
    (stepMs) => {
      const values = hourly(50, 12).slice(0, 700)
      const detector = new InferredStepDetector({ sensitivity: 4 })
      const found = values.map((value, row) => detector.push(START + row * stepMs, value))
      expect(found.slice(1)).toEqual(verdictsOf(values, { stepMs, sensitivity: 4 }).slice(1))
    },
  )

  test('may start with a gap and contain several rows with the same time', () => {
    const detector = new InferredStepDetector({ sensitivity: 5 })
    const times = hourly(200, 13).map((_, row) => START + (row === 0 ? -7 : row) * HOUR_MS)
    const verdicts = hourly(200, 13).map((value, row) => detector.push(times[row === 500 ? 499 : row] ?? 0, value))
    expect(alarmsOf(verdicts)).toEqual([])
    expect(verdicts.at(-1)?.learningUntil).toBeNull()
  })
})
