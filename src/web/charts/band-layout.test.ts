import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BandPoint, badSpans, layOutBand, placeChanges, shortTitle, showsExpected } from './band-layout.ts'
import { countAxis } from './scales.ts'

const HOUR = 3_600_000
const point = (
  hour: number,
  observed: number | null,
  range: [number | null, number | null] = [null, null],
): BandPoint => ({
  start: hour * HOUR,
  observed,
  partial: false,
  low: range[0],
  high: range[1],
})
const lay = (points: BandPoint[], more: object = {}) => {
  const drawing = layOutBand({ points, changes: [], width: 640, height: 240, zone: 'UTC', ...more })
  if (!drawing) throw new Error('the chart is empty')
  return drawing
}
const moves = (path: string) => path.split('M').length - 1

describe('a count axis', () => {
  test.each<[number, string[]]>([
    [0, ['0', '1']],
    [1, ['0', '1']],
    [2, ['0', '1', '2']],
    [5, ['0', '1', '2', '3', '4', '5']],
    [1400, ['0', '500', '1k', '1.5k']],
    [12_400_000, ['0', '5m', '10m', '15m']],
  ])('up to %d has the expected ticks', (highest, labels) => {
    const axis = countAxis(highest, 0, 100)
    expect(axis.ticks.map(({ label }) => label.toLowerCase())).toEqual(labels)
    expect(axis.y(0)).toBe(100)
    expect(axis.y(axis.top)).toBe(0)
    expect(axis.top).toBeGreaterThanOrEqual(highest)
  })
})

test('every count axis has 2 to 8 ticks at whole numbers, from 0 to at most twice the highest value', () => {
  const highest = fc.double({ min: 0, max: 1e15, noNaN: true })
  fc.assert(
    fc.property(highest, (highest) => {
      const { ticks, top } = countAxis(highest, 0, 100)
      expect(ticks.every(({ value }) => Number.isInteger(value))).toBe(true)
      expect([ticks[0]?.value, ticks.at(-1)?.value]).toEqual([0, top])
      expect(ticks.length >= 2 && ticks.length <= 8).toBe(true)
      expect(top >= highest && top <= 2 * Math.max(1, highest)).toBe(true)
    }),
  )
})

describe('spans outside the expected range', () => {
  const range: [number, number] = [10, 20]
  test.each<[string, BandPoint[], [number, number][]]>([
    ['none', [point(0, 10, range), point(1, 20, range)], []],
    ['below', [point(0, 15, range), point(1, 9, range), point(2, 0, range)], [[1, 3]]],
    [
      'above, twice',
      [point(0, 21, range), point(1, 15, range), point(2, 21, range)],
      [
        [0, 1],
        [2, 3],
      ],
    ],
    ['without an expected range', [point(0, 0), point(1, 99)], []],
    ['with a single limit', [point(0, 9, [10, null]), point(1, 11, [null, 10])], [[0, 2]]],
    ['partial and unknown counts are ignored', [{ ...point(0, 0, range), partial: true }, point(1, null, range)], []],
  ])('%s', (_, points, spans) => {
    expect(badSpans(points).map(({ from, to }) => [from / HOUR, to / HOUR])).toEqual(spans)
  })
})

describe('a band chart', () => {
  test('without points is not drawn', () => {
    expect(layOutBand({ points: [], changes: [], width: 640, height: 240, zone: 'UTC' })).toBeNull()
  })

  test('stays within its box at any width', () => {
    for (const width of [1, 60, 296, 1600]) {
      const { xs, left, right } = lay([point(0, 5, [2, 8]), point(1, 50, [2, 8])], { width })
      expect(xs.every((x) => x >= left && x <= right)).toBe(true)
    }
  })

  test('has gaps for unknown counts, missing buckets and a missing expectation', () => {
    const points = [point(0, 1, [0, 2]), point(1, null), point(2, 1, [0, 2]), point(5, 1, [0, 2])]
    const { solid, band, edges, dashed } = lay(points)
    expect([moves(solid), moves(band), edges.map(moves), dashed]).toEqual([0, 3, [3, 3], ''])
  })

  test('has a dashed line after the last complete bucket', () => {
    const points = [point(0, 1, [0, 2]), point(1, 2, [0, 2]), { ...point(2, 1, [0, 2]), partial: true }]
    const { solid, dashed, xs } = lay(points)
    expect(moves(solid)).toBe(1)
    expect(solid).not.toContain(`${xs[2]},`)
    expect(dashed).toStartWith(`M${xs[1]},`)
    expect(dashed).toContain(`${xs[2]},`)
  })

  test('shows isolated buckets as dots, which are no trend', () => {
    const range: [number, number] = [0, 2]
    const partial = { ...point(1, 1, range), partial: true }
    const dotsOf = (points: BandPoint[]) => {
      const { solid, dashed, dots, xs } = lay(points)
      return { lines: solid + dashed, dots: dots.map(({ x, partial }) => [xs.indexOf(x), partial]) }
    }
    expect(dotsOf([point(0, 1, range)])).toEqual({ lines: '', dots: [[0, false]] })
    expect(dotsOf([partial])).toEqual({ lines: '', dots: [[0, true]] })
    expect(dotsOf([point(0, 1, range), partial])).toEqual({
      lines: '',
      dots: [
        [0, false],
        [1, true],
      ],
    })
    expect(dotsOf([point(-1, 1, range), point(0, 1, range), partial]).dots).toEqual([[2, true]])
  })

  test('shows counts as bars if nothing is expected, and marks those that are incomplete', () => {
    const points = [point(0, 4), point(1, 0), point(2, null), { ...point(3, 2), partial: true }]
    const { bars, solid, dashed, dots, bottom } = lay(points)
    expect([solid, dashed, dots]).toEqual(['', '', []])
    expect(bars?.map(({ index }) => index)).toEqual([0, 3])
    for (const { y, height } of bars ?? []) expect(y + height).toBeCloseTo(bottom, 0)
    expect(lay([{ ...point(0, 4), expected: 5 }]).bars).toBeNull()
    const none = lay([
      { ...point(0, 0), expected: 0 },
      { ...point(1, 12), expected: 0, partial: true },
    ])
    expect([none.bars?.length, none.expected, none.dashed]).toEqual([1, '', ''])
  })

  test('shows an expectation as a line only where it has no range or an open one', () => {
    const known = [40, 50, null, 60].map((expected, hour) => ({ ...point(hour, 45), expected }))
    expect(moves(lay(known).expected)).toBe(2)
    expect(lay(known.map((one) => ({ ...one, low: 30, high: 70 }))).expected).toBe('')
    const open = known.map((one) => ({ ...one, low: 30 }))
    expect(moves(lay(open).expected)).toBe(2)
    expect(lay(open).axis.y(60)).toBeGreaterThan(0)
    expect([known, open, known.slice(2)].map(showsExpected)).toEqual([true, true, false])
  })

  test('shows a single limit as a line, and fills the area between two limits', () => {
    const { edges, band } = lay([
      point(0, 5, [4, null]),
      point(1, 5, [4, null]),
      point(2, 5, [4, 6]),
      point(3, 5, [4, 6]),
    ])
    expect(edges.map(moves)).toEqual([1, 1])
    expect(moves(band)).toBe(1)
    expect(lay([point(0, 5, [4, null]), point(1, 5, [4, null])]).band).toBe('')
  })

  test('has a dot at the first bucket of the last bad span, and cuts spans at the edges', () => {
    const points = [0, 1, 2, 3].map((hour) => point(hour, 5))
    const bad = [
      { from: -HOUR, to: HOUR },
      { from: 2 * HOUR, to: 99 * HOUR },
    ]
    const { first, bad: drawn, left, right } = lay(points, { bad })
    expect(first?.index).toBe(2)
    expect(drawn[0]?.x).toBe(left)
    expect((drawn[1]?.x ?? 0) + (drawn[1]?.width ?? 0)).toBeCloseTo(right, 0)
  })
})

describe('change markers', () => {
  const change = (at: number, title = 'GTM v231') => ({ id: String(at), title, occurredAt: at })
  const place = (changes: ReturnType<typeof change>[]) => placeChanges(changes, (at) => at, 0, 600)

  test.each<[string, number[], object[]]>([
    ['one change', [100], [{ x: 100, label: 'GTM v231', count: 1, side: 'right', row: 0 }]],
    ['one change at the right edge', [590], [{ x: 590, label: 'GTM v231', count: 1, side: 'left', row: 0 }]],
    [
      'two changes that are close together',
      [100, 110],
      [
        { x: 100, label: 'GTM v231', count: 1, side: 'right', row: 0 },
        { x: 110, label: 'GTM v231', count: 1, side: 'right', row: 1 },
      ],
    ],
    ['four changes within 30 px', [130, 100, 110, 120], [{ x: 100, label: '4', count: 4, side: 'right', row: 0 }]],
  ])('%s', (_, times, marks) => {
    expect(place(times.map((at) => change(at)))).toEqual(marks as never)
  })

  test('a label without room is omitted, but its line remains', () => {
    expect(place([change(100), change(110), change(120)]).map(({ label }) => label)).toEqual([
      'GTM v231',
      'GTM v231',
      null,
    ])
  })

  test('long titles are shortened', () => {
    expect(shortTitle('Release 2026.3.1 of the shop and its outlet')).toBe('Release 2026.3.1 of t…')
  })
})
