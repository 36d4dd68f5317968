import { describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { normal, type Random, randomOf } from '../detector/series.fixture.ts'
import { type HourCount, rateDropAt } from './consent-update-rate.ts'

type Hours = Map<number, HourCount>

const EVEN = (_hour: number) => 1
/**
 * Generates days with `perHour` sessions in each hour. `rate` is the share of sessions in which the visitor chooses.
 */
function even(days: number, perHour: number, rate: number): Hours {
  const hours: Hours = new Map()
  for (let n = 0; n < days * 24; n++) put(hours, n, perHour, Math.round(perHour * rate))
  return hours
}

const put = (hours: Hours, n: number, sessions: number, chosen: number) =>
  void hours.set(n * HOUR_MS, { vendor: 'GA4', sessions, chosen })

describe('consent update rate over eight days', () => {
  const broken = (perHour: number, from: number, to: number, rate: number) => {
    const hours = even(8, perHour, 0.6)
    for (let n = from; n < to; n++) put(hours, n, perHour, Math.round(perHour * rate))
    return hours
  }
  test.each<[what: string, hours: Hours, end: number, hoursLong: number | null]>([
    ['the same rate as on previous days', even(8, 20, 0.6), 192, null],
    ['no answers on the eighth day', broken(20, 168, 192, 0), 192, 24],
    ['a drop to a third of the previous rate', broken(20, 168, 192, 0.2), 192, 24],
    ['a slightly lower rate than before', broken(20, 168, 192, 0.5), 192, null],
    ['no answers for two hours', broken(40, 190, 192, 0), 192, 2],
    ['no answers for six hours', broken(12, 186, 192, 0), 192, 6],
    ['too few sessions', broken(1, 168, 192, 0), 192, null],
    ['an earlier drop that has recovered', broken(20, 100, 110, 0), 192, null],
    ['a higher rate than before', broken(20, 168, 192, 0.9), 192, null],
    [
      'only four previous days',
      new Map([...broken(20, 168, 192, 0)].filter(([hour]) => hour >= 72 * HOUR_MS)),
      192,
      null,
    ],
    ['no answers on any day', even(8, 20, 0), 192, null],
    ['no sessions', new Map(), 192, null],
  ])('is checked for a drop: %s', (_, hours, end, hoursLong) => {
    const fall = rateDropAt(hours, end * HOUR_MS)
    expect(fall && (fall.to - fall.from) / HOUR_MS).toBe(hoursLong)
    if (fall) expect(fall.rate).toBeLessThan(fall.rateBefore / 1.5)
  })
})

/**
 * A site: the number of sessions per day, and the standard deviations of the share of sessions with a choice, in log
 * odds, by day and by hour.
 */
interface Site {
  perDay: number
  byDay: number
  byHour: number
}

/** Generates hourly sessions for `days` days. `factorAt` returns the factor applied to the share in an hour. */
function madeHours({ perDay, byDay, byHour }: Site, random: Random, days: number, factorAt = EVEN): Hours {
  const hours: Hours = new Map()
  const middle = Math.log(0.15 + 0.7 * random())
  const [weekend, timeOfDay] = [normal(random) * 0.15, normal(random) * 0.2]
  let [drift, today] = [0, 0]
  for (let n = 0; n < days * 24; n++) {
    const isWeekend = Math.floor(n / 24) % 7 >= 5
    if (n % 24 === 0) [drift, today] = [drift + normal(random) * 0.03, normal(random) * byDay]
    const sine = Math.sin(((n % 24) / 12) * Math.PI)
    const expected = (perDay / 24) * (1 + 0.8 * sine) * (isWeekend ? 0.7 : 1)
    const sessions = Math.max(0, Math.round(expected + Math.sqrt(expected) * normal(random)))
    const odds = middle + drift + today + (isWeekend ? weekend : 0) + timeOfDay * sine + normal(random) * byHour
    const rate = (1 / (1 + Math.exp(-odds))) * factorAt(n)
    let chosen = 0
    for (let one = 0; one < sessions; one++) if (random() < rate) chosen++
    put(hours, n, sessions, chosen)
  }
  return hours
}

describe('consent update rate on generated sites that vary by weekday, hour and day', () => {
  const sites: Site[] = [100, 1000, 10_000].flatMap((perDay) =>
    [0.05, 0.2].map((byDay) => ({ perDay, byDay, byHour: 0.1 })),
  )
  const alarmed = (hours: Hours, from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => rateDropAt(hours, (from + n + 1) * HOUR_MS)).some(Boolean)

  test('causes at most 2 false alarms in 300 weeks of hourly checks', () => {
    let alarms = 0
    for (const [s, site] of sites.entries()) {
      for (let n = 0; n < 25; n++) {
        const hours = madeHours(site, randomOf(s * 1000 + n), 22)
        for (const week of [8, 15]) if (alarmed(hours, week * 24, (week + 7) * 24)) alarms++
      }
    }
    expect(alarms).toBeLessThanOrEqual(2)
  })

  test.each([
    [200, 0.7],
    [1000, 0.9],
    [10_000, 0.95],
  ])('with %i visitors a day, reveals at least a share of %p of broken banners within a day', (perDay, share) => {
    let found = 0
    for (let n = 0; n < 60; n++) {
      const site = { perDay, byDay: 0.15, byHour: 0.1 }
      const hours = madeHours(site, randomOf(n), 16, (hour) => (hour < 15 * 24 ? 1 : 0.05))
      if (alarmed(hours, 15 * 24, 16 * 24)) found++
    }
    expect(found / 60).toBeGreaterThanOrEqual(share)
  })

  test('depends only on the preceding eight days', () => {
    const hours = madeHours({ perDay: 1000, byDay: 0.1, byHour: 0.1 }, randomOf(5), 30, (hour) =>
      hour < 400 ? 1 : 0.3,
    )
    for (let end = 9 * 24; end < 600; end += 7) {
      const near = new Map([...hours].filter(([hour]) => hour >= end * HOUR_MS - 8 * DAY_MS && hour < end * HOUR_MS))
      expect(rateDropAt(near, end * HOUR_MS)).toEqual(rateDropAt(hours, end * HOUR_MS))
    }
  })
})
