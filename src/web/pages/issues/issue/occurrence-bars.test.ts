import { expect, test } from 'bun:test'
import { daysOf } from './occurrence-bars.ts'

const NOW = Date.parse('2026-03-10T09:30:00Z')
const DAY_MS = 86_400_000
const outline = (series: { day: string; count: number }[]) =>
  daysOf(series, NOW).map(({ start, value }) => `${new Date(start).toISOString().slice(5, 10)} ${value}`)

test.each<[string, [day: string, count: number][], number, string, string]>([
  ['no occurrences', [], 7, '03-04 0', '03-10 0'],
  ['today', [['2026-03-10', 3]], 7, '03-04 0', '03-10 3'],
  ['more than a week ago', [['2026-03-01', 5]], 10, '03-01 5', '03-10 0'],
  [
    'long ago and recently',
    [
      ['2025-01-01', 5],
      ['2026-03-09', 2],
    ],
    90,
    '12-11 0',
    '03-10 0',
  ],
])('%s', (_name, series, days, first, last) => {
  const shown = outline(series.map(([day, count]) => ({ day, count })))
  expect([shown.length, shown[0], shown.at(-1)]).toEqual([days, first, last])
})

test('bars cover consecutive days, and only today is partial', () => {
  const points = daysOf([{ day: '2026-02-20', count: 1 }], NOW)
  expect(points.slice(1).every(({ start }, index) => start - (points[index]?.start ?? 0) === DAY_MS)).toBe(true)
  expect(points.filter(({ partial }) => partial).map(({ start }) => start)).toEqual([Date.parse('2026-03-10')])
})
