import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { Detector, DetectorSet, type Verdict } from './detector.ts'
import { madeSeries, normal, poisson, profileAt, randomOf } from './series.fixture.ts'

/** A Monday. */
const START = Date.UTC(2026, 0, 5)
const WEEKS = 11
/** Days of the series: a Wednesday in the ninth week, the Wednesday after it, and the one two weeks later. */
const [FIRST, NEXT_WEEK, SECOND] = [58, 65, 72]

interface World {
  perHour?: number
  seed?: number
  holidays?: readonly number[]
  /** Counts are multiplied by these factors on these days. */
  factors?: Readonly<Record<number, number>>
  profile?: (hour: number) => number
  sensitivity?: number
}

const isOn = (days: readonly number[]) => (instant: Instant) => days.includes(Math.floor((instant - START) / DAY_MS))

function verdictsOf({ perHour = 200, seed = 1, holidays = [], factors = {}, profile, sensitivity = 5 }: World) {
  const values = madeSeries(perHour, WEEKS, randomOf(seed), profile).map((value, row) =>
    Math.round(value * (factors[Math.floor(row / 24)] ?? 1)),
  )
  const detector = new Detector({ sensitivity, stepMs: HOUR_MS, isHoliday: isOn(holidays) })
  return values.map((value, row) => detector.push(START + row * HOUR_MS, value))
}

/** Returns the days on which an alarm is raised, without those that repeat the alarm of the day before. */
function alarmDays(verdicts: readonly Verdict[]): number[] {
  const days = [...new Set(verdicts.flatMap(({ alarm }, row) => (alarm ? [Math.floor(row / 24)] : [])))]
  return days.filter((day) => !days.includes(day - 1))
}

/** Traffic of a business that has almost none at weekends. */
const businessAt = (hour: number) => profileAt(hour) * (Math.floor(hour / 24) % 7 < 5 ? 1 : 0.1)

describe('a holiday', () => {
  test.each<[string, World, number[]]>([
    ['that halves the traffic', { holidays: [FIRST], factors: { [FIRST]: 0.5 } }, []],
    ['that leaves a third of the traffic', { holidays: [FIRST], factors: { [FIRST]: 0.33 } }, []],
    ['that doubles the traffic', { holidays: [FIRST], factors: { [FIRST]: 2 } }, []],
    ['without any effect', { holidays: [FIRST] }, []],
    ['without any traffic', { holidays: [FIRST], factors: { [FIRST]: 0 } }, [FIRST]],
    ['without any traffic at 20 events an hour', { perHour: 20, holidays: [FIRST], factors: { [FIRST]: 0 } }, [FIRST]],
    ['with ten times the traffic', { holidays: [FIRST], factors: { [FIRST]: 10 } }, [FIRST]],
    ['that halves the traffic, but is no holiday', { factors: { [FIRST]: 0.5 } }, [FIRST]],
    [
      'before an equal fall on the same weekday',
      { holidays: [FIRST], factors: { [FIRST]: 0.5, [NEXT_WEEK]: 0.5 } },
      [NEXT_WEEK],
    ],
    [
      'before an equal fall on the next day',
      { holidays: [FIRST], factors: { [FIRST]: 0.5, [FIRST + 1]: 0.5 } },
      [FIRST + 1],
    ],
    [
      'of several days',
      { holidays: [FIRST, FIRST + 1, FIRST + 2], factors: { [FIRST]: 0.5, [FIRST + 1]: 0.4, [FIRST + 2]: 0.4 } },
      [],
    ],
    [
      'that is like a Sunday of a business',
      { profile: businessAt, perHour: 2000, holidays: [FIRST], factors: { [FIRST]: 0.1 } },
      [],
    ],
    [
      'of a business, without any traffic',
      { profile: businessAt, perHour: 2000, holidays: [FIRST], factors: { [FIRST]: 0 } },
      [FIRST],
    ],
    ['that is like the previous one', { holidays: [FIRST, SECOND], factors: { [FIRST]: 0.3, [SECOND]: 0.12 } }, []],
    [
      'without any traffic, after an outage on the previous one',
      { holidays: [FIRST, SECOND], factors: { [FIRST]: 0, [SECOND]: 0 } },
      [FIRST, SECOND],
    ],
  ])('%s', (_name, world, expected) => {
    for (const seed of [1, 2, 3]) expect([seed, alarmDays(verdictsOf({ ...world, seed }))]).toEqual([seed, expected])
  })

  test('does not change what is expected on other days', () => {
    const days = fc.uniqueArray(fc.integer({ min: 30, max: 70 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(days, fc.constantFrom(0.3, 0.5, 2, 3), fc.nat(), (holidays, factor, seed) => {
        const factors = Object.fromEntries(holidays.map((day) => [day, factor]))
        const [plain, changed] = [verdictsOf({ holidays, seed }), verdictsOf({ holidays, factors, seed })]
        const others = plain.flatMap((_, row) => (holidays.includes(Math.floor(row / 24)) ? [] : [row]))
        const bandOf = ({ expected, low, high, state }: Verdict = {} as Verdict) => ({ expected, low, high, state })
        for (const row of others) expect([row, bandOf(changed[row])]).toEqual([row, bandOf(plain[row])])
      }),
      { numRuns: 15 },
    )
  })

  test('is what the calendar says, not what the time zone of the series says', () => {
    // 22:00 UTC is midnight in the calendar's time zone.
    const from = START + FIRST * DAY_MS - 2 * HOUR_MS
    const values = madeSeries(200, WEEKS, randomOf(4)).map((value, row) => {
      const at = START + row * HOUR_MS
      return at >= from && at < from + DAY_MS ? Math.round(value / 2) : value
    })
    const alarmsWith = (isHoliday: (instant: Instant) => boolean) => {
      const detector = new Detector({ sensitivity: 5, stepMs: HOUR_MS, isHoliday })
      return alarmDays(values.map((value, row) => detector.push(START + row * HOUR_MS, value)))
    }
    expect(alarmsWith((at) => at >= from && at < from + DAY_MS)).toEqual([])
    expect(alarmsWith(() => false)).toEqual([FIRST - 1])
  })

  test('shows what earlier holidays had', () => {
    const verdicts = verdictsOf({ holidays: [FIRST, SECOND], factors: { [FIRST]: 0.5, [SECOND]: 0.5 } })
    const noon = (day: number) => verdicts[day * 24 + 12]
    const usual = noon(NEXT_WEEK)?.expected ?? 0
    expect((noon(FIRST)?.expected ?? 0) / usual).toBeWithin(0.6, 0.9)
    expect((noon(SECOND)?.expected ?? 0) / usual).toBeWithin(0.4, 0.65)
    for (const day of [FIRST, SECOND]) {
      const { low, high } = noon(day) ?? {}
      expect(low).toBeLessThan(0.25 * usual)
      expect(high).toBeGreaterThan(4 * usual)
    }
  })

  test('makes a silence within it count less', () => {
    const silenceOf = (holidays: readonly number[]) => {
      const detector = new Detector({ sensitivity: 5, stepMs: HOUR_MS, isHoliday: isOn(holidays) })
      const values = madeSeries(60, WEEKS, randomOf(5)).slice(0, FIRST * 24 + 12)
      for (const [row, value] of values.entries()) detector.push(START + row * HOUR_MS, value)
      const last = START + values.length * HOUR_MS
      return [30, 120, 300].map((minutes) => detector.silenceAt(last + minutes * MINUTE_MS))
    }
    const [plain, holiday] = [silenceOf([]), silenceOf([FIRST])]
    for (const [at, score] of holiday.entries()) expect(score).toBeLessThan(plain[at] ?? 0)
    expect(holiday.at(-1)).toBeGreaterThan(5)
  })
})

test('without holidays, verdicts are bit for bit those of version 0.1', () => {
  const hash = createHash('sha256')
  for (let seed = 0; seed < 24; seed++) {
    const random = randomOf(seed)
    const stepMs = seed % 3 === 2 ? 5 * MINUTE_MS : HOUR_MS
    const timezone = ['UTC', 'Europe/Berlin', 'America/New_York'][seed % 3] ?? ''
    const mean = [0.5, 3, 20, 300, 5000][seed % 5] ?? 0
    let height = 1
    const regular = () =>
      madeSeries(mean, 10, random).map((value) =>
        random() < 0.005 ? null : random() < 0.004 ? value * 3 : random() < 0.01 ? 0 : value,
      )
    const bursty = () =>
      Array.from({ length: 4000 }, () => {
        if (random() < 0.02) height = Math.exp(2 * normal(random))
        return random() < 0.01 ? null : random() < 0.03 ? 0 : poisson(mean * height, random)
      })
    const values = seed % 2 ? regular() : bursty()
    const set = new DetectorSet({ stepMs, timezone, sensitivities: [3, 5] })
    for (const [row, value] of values.entries()) {
      const quiet = value === null ? null : [Math.floor(random() * 20), Math.floor(random() * 20)]
      hash.update(JSON.stringify(set.push(START + row * stepMs, value, quiet)))
      hash.update(String(set.silenceAt(START + (row + 1) * stepMs + 10 * MINUTE_MS)))
    }
  }
  expect(hash.digest('hex')).toBe('b9c017934aeb3bceb24580f1767efb46ef8fb7862aeb69548fdc94f0d3bc3167')
})
