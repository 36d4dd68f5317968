import { describe, expect, test } from 'bun:test'
import {
  distanceOf,
  formatCompact,
  formatDate,
  formatDuration,
  formatIsoDay,
  formatMoment,
  formatMoney,
  formatNumber,
  formatPercent,
  localeOf,
} from './format.ts'

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')

describe('formatted numbers', () => {
  test.each<[string, string]>([
    [formatNumber(0), '0'],
    [formatNumber(12400), '12,400'],
    [formatNumber(-1234.567), '−1,234.57'],
    [formatCompact(12400), '12.4k'],
    [formatPercent(0), '0 %'],
    [formatPercent(0.00001), '< 0.1 %'],
    [formatPercent(0.0949), '9.5 %'],
    [formatPercent(0.0996), '10 %'],
    [formatPercent(0.42), '42 %'],
    [formatPercent(1), '100 %'],
    [formatMoney(12400, 'EUR'), '€12,400'],
    [formatMoney(12400, null), '12,400'],
    [formatMoney(9.5, 'EUR'), '€9.50'],
    [formatMoney(12400.5, 'JPY'), '¥12,401'],
  ])('%s', (written, expected) => expect(plain(written)).toBe(expected))
})

describe('formatted durations', () => {
  test.each<[number, string]>([
    [0, '0 ms'],
    [0.25, '0.3 ms'],
    [450, '450 ms'],
    [2300, '2.3 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [38 * 60_000, '38 min'],
    [7_500_000, '2 h 5 min'],
    [7_200_000, '2 h'],
    [90_000_000, '1 d 1 h'],
    [-60_000, '−1 min'],
  ])('%d ms', (ms, expected) => expect(plain(formatDuration(ms))).toBe(expected))
})

describe('points in time', () => {
  const now = Date.UTC(2026, 2, 12, 13, 10)
  test.each<[number, object]>([
    [now, { is: 'now' }],
    [now + 59_000, { is: 'now' }],
    [now - 38 * 60_000, { is: 'ago', age: '38 min' }],
    [now - 26 * 3_600_000, { is: 'ago', age: '1 d' }],
    [now + 2 * 3_600_000, { is: 'ahead', age: '2 h' }],
    [now - 7 * 86_400_000, { is: 'date', date: '5 Mar 2026' }],
  ])('%d', (at, expected) => {
    const distance = distanceOf(at, now, 'UTC')
    expect('age' in distance ? { ...distance, age: plain(distance.age) } : distance).toEqual(expected as never)
  })

  test('are formatted in the given time zone, with midnight as 00', () => {
    expect(formatMoment(now, 'Europe/Berlin')).toBe('12 Mar 2026, 14:10')
    expect(formatIsoDay('2026-03-12')).toBe('12 Mar 2026')
    expect(formatDate(Date.UTC(2026, 2, 12), 'UTC', { hour: '2-digit', minute: '2-digit' })).toBe('00:00')
  })
})

test.each([
  ['en', 'de-DE', 'en-DE'],
  ['en', 'de', 'en-DE'],
  ['en', 'en-US', 'en-US'],
  ['de', 'fr-CH', 'de-CH'],
  ['en', 'en-US@posix', 'en'],
  ['en', '', 'en'],
])('%s pages for the browser language %s use the expected locale', (language, reader, expected) =>
  expect(localeOf(language, reader)).toBe(expected),
)
