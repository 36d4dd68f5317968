import { expect, test } from 'bun:test'
import { layOutSpecial, type SpecialPeriod, specialIn } from './special-periods.ts'

const plot = { from: 0, to: 1000, left: 0, right: 1000, x: (at: number) => at }
const holiday = (from: number, to: number, name = 'Founding day'): SpecialPeriod => ({
  kind: 'holiday',
  name,
  from,
  to,
})
const lay = (...periods: SpecialPeriod[]) =>
  layOutSpecial(periods, plot).map(({ x, width, label }) => [x, width, label])

test.each<[string, SpecialPeriod[], unknown[]]>([
  ['a day within the chart', [holiday(100, 300)], [[100, 200, 'Founding day']]],
  ['a day that begins before the chart', [holiday(-50, 300)], [[0, 300, 'Founding day']]],
  ['a day that ends after the chart', [holiday(980, 1300)], [[980, 20, null]]],
  ['days outside of the chart', [holiday(-50, 0), holiday(1000, 1100)], []],
  ['a short window, whose name needs more room than it', [holiday(100, 101)], [[100, 2, 'Founding day']]],
  [
    'a name that is cut before the next band',
    [holiday(100, 160), holiday(150, 400, 'Move')],
    [
      [100, 60, 'Found…'],
      [150, 250, 'Move'],
    ],
  ],
  [
    'overlapping bands',
    [holiday(100, 300), holiday(100, 200, 'Move')],
    [
      [100, 200, null],
      [100, 100, 'Move'],
    ],
  ],
])('%s', (_, periods, expected) => {
  expect(lay(...periods)).toEqual(expected as never)
})

test('a bucket belongs to the periods that overlap it', () => {
  const periods = [holiday(100, 200)]
  expect([0, 50, 100, 150, 200].map((start) => specialIn(periods, start, 50).length)).toEqual([0, 0, 1, 1, 0])
})
