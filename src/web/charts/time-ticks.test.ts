import { describe, expect, test } from 'bun:test'
import { bucketTicks, momentOf, offsetAt, timeTicks } from './time-ticks.ts'

const at = (text: string) => Date.parse(text)
const HOUR = 3_600_000

describe('the offset of a time zone', () => {
  test.each<[string, string, number]>([
    ['2026-01-15T12:00:00Z', 'Europe/Berlin', 1],
    ['2026-07-15T12:00:00Z', 'Europe/Berlin', 2],
    ['2026-07-15T12:00:00Z', 'America/St_Johns', -2.5],
    ['2026-07-15T12:00:00Z', 'Asia/Kathmandu', 5.75],
    ['2026-07-15T12:00:00Z', 'UTC', 0],
  ])('at %s in %s is %d h', (moment, zone, hours) => {
    expect(offsetAt(at(moment), zone)).toBe(hours * HOUR)
    expect(momentOf(at(moment), zone)).toBe(at(moment) - hours * HOUR)
  })
})

describe('time ticks', () => {
  test.each<[string, string, string, string, number, string[]]>([
    [
      ...(['a day', '2026-03-12T09:10:00Z', '2026-03-13T09:10:00Z', 'Europe/Berlin', 9] as const),
      ['12:00', '15:00', '18:00', '21:00', 'Fri 13', '03:00', '06:00', '09:00'],
    ],
    [
      ...([
        'a time zone with an offset of 5 h 45 min',
        '2026-03-12T00:00:00Z',
        '2026-03-12T12:00:00Z',
        'Asia/Kathmandu',
        5,
      ] as const),
      ['06:00', '09:00', '12:00', '15:00'],
    ],
    [
      ...([
        'a change to daylight saving time',
        '2026-03-28T23:00:00Z',
        '2026-03-29T05:00:00Z',
        'Europe/Berlin',
        8,
      ] as const),
      // 02:00 does not exist on this day.
      ['Sun 29', '01:00', '03:00', '04:00', '05:00', '06:00', '07:00'],
    ],
    [
      ...(['days', '2026-03-12T09:10:00Z', '2026-03-19T09:10:00Z', 'UTC', 9] as const),
      ['Fri 13', 'Sat 14', 'Sun 15', 'Mon 16', 'Tue 17', 'Wed 18', 'Thu 19'],
    ],
    [
      ...(['three days and an hour', '2026-03-12T00:00:00Z', '2026-03-15T01:00:00Z', 'UTC', 4] as const),
      ['Thu 12', 'Fri 13', 'Sat 14', 'Sun 15'],
    ],
    [
      ...(['weeks, which start on Mondays', '2026-03-12T09:10:00Z', '2026-04-11T09:10:00Z', 'UTC', 8] as const),
      ['16 Mar', '23 Mar', '30 Mar', '6 Apr'],
    ],
    [
      ...(['minutes', '2026-03-12T09:10:00Z', '2026-03-12T09:40:00Z', 'UTC', 5] as const),
      ['09:10', '09:20', '09:30', '09:40'],
    ],
  ])('for %s', (_, from, to, zone, count, labels) => {
    const ticks = timeTicks(at(from), at(to), zone, count)
    expect(ticks.map(({ label }) => label)).toEqual(labels)
    expect(ticks.every((tick) => tick.at >= at(from) && tick.at <= at(to))).toBe(true)
  })
})

test.each(['Pacific/Auckland', 'America/Los_Angeles', 'UTC'])('days in UTC have the same dates in %s', (zone) => {
  const starts = Array.from({ length: 10 }, (_, day) => Date.UTC(2026, 2, 1 + day))
  expect(bucketTicks(starts, 24 * HOUR, zone, 4).map(({ label }) => label)).toEqual([
    '1 Mar',
    '4 Mar',
    '7 Mar',
    '10 Mar',
  ])
})
