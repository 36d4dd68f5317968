import { describe, expect, test } from 'bun:test'
import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { HOUR_MS } from '../../core/clock.ts'
import type { Picture } from './chart-png.ts'
import { CHART_COLOURS, CHART_SIZE, chartOf, encodePng, hasChart } from './chart-png.ts'
import { chartSpan, chartTitle, sparkline } from './chart-text.ts'
import { fallMessage, purchaseMessage } from './message.fixture.ts'
import type { Message, MessagePoint } from './message.ts'

const message = purchaseMessage()
const start = Date.UTC(2026, 0, 5, 6)

/** A message with a series. The incident started in the third hour, and its last occurrence was in the fourth. */
const drawn = (values: readonly number[], expected: number | null = null): Message => ({
  ...message,
  firstBadAt: start + 2 * HOUR_MS,
  issue: message.issue && { ...message.issue, lastSeenAt: start + 4 * HOUR_MS - 1 },
  series: values.map((value, hour) => ({ at: start + hour * HOUR_MS, value, expected })),
})

/** Colours of each bar, sampled in the middle of its column, at the given fraction of the height. */
function coloursOf(message: Message, share: number): string[] {
  const { width, height, rgba } = decodePng(chartOf(message))
  const count = message.series?.length ?? 0
  const names = Object.entries(CHART_COLOURS)
  return Array.from({ length: count }, (_, index) => {
    const x = Math.floor(((index + 0.5) * width) / count)
    const y = Math.floor((height - 14) * (1 - share))
    const [red, green, blue, opacity] = rgba.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)
    if (opacity === 0) return '-'
    const name = names.find(([, colour]) => colour[0] === red && colour[1] === green && colour[2] === blue)?.[0] ?? '?'
    return opacity === 255 ? name : `${name} behind`
  })
}

describe('a chart image', () => {
  test('highlights bad windows from the start of the incident to its last occurrence', () => {
    expect(coloursOf(drawn([10, 10, 10, 10, 10]), 0.1)).toEqual(['usual', 'usual', 'bad', 'bad', 'usual'])
  })

  test('shows expected values behind the bars', () => {
    expect(coloursOf(drawn([10, 10, 2, 2, 10], 10), 0.5)).toEqual([
      'usual',
      'usual',
      'expected behind',
      'expected behind',
      'usual',
    ])
  })

  test('marks empty windows only if events were expected', () => {
    expect(coloursOf(drawn([10, 10, 0, 0, 0], 10), 0.01)).toEqual(['usual', 'usual', 'bad', 'bad', 'expected behind'])
    expect(coloursOf(drawn([0, 0, 0, 4, 0], 0), 0.01)).toEqual(['-', '-', '-', 'bad', '-'])
  })

  test('is a small image of a fixed size', () => {
    const value = fc.oneof(fc.nat(), fc.double({ noNaN: true, min: -1e9 }), fc.constantFrom(0, 1e300, 5e-324))
    const point = fc.record({ value, expected: fc.option(value) })
    fc.assert(
      fc.property(fc.array(point, { minLength: 2, maxLength: 100 }), (points) => {
        const series: MessagePoint[] = points.map((one, hour) => ({ at: start + hour * HOUR_MS, ...one }))
        const png = chartOf({ ...message, series })
        expect(decodePng(png)).toMatchObject(CHART_SIZE)
        expect(png.length).toBeLessThan(40_000)
      }),
      { numRuns: 30 },
    )
  })

  test.each([[null], [[]], [[{ at: 0, value: 1, expected: null }]]])('is absent for %j', (series) => {
    expect(hasChart({ ...message, series })).toBe(false)
  })
})

describe('a text chart', () => {
  test.each<[Message, string]>([
    [purchaseMessage(), 'Violating events per hour'],
    [fallMessage(), 'Events per hour'],
    [
      { ...message, series: drawn([1, 2]).series?.map((one, day) => ({ ...one, at: day * 24 * HOUR_MS })) ?? null },
      'Violating events per day',
    ],
    [
      { ...message, series: drawn([1, 2]).series?.map((one, index) => ({ ...one, at: index * 900_000 })) ?? null },
      'Violating events per 15 minutes',
    ],
  ])('has a title', (some, title) => expect(chartTitle(some)).toBe(title))

  test('has a time range and a sparkline', () => {
    const some = drawn([0, 1, 4, 8])
    expect(chartSpan(some)).toBe('5 Jan 2026, 07:00 to 11:00 CET')
    expect(sparkline(some)).toBe('▁▂▅█')
    expect(sparkline(drawn([0, 0]))).toBe('▁▁')
    expect(sparkline(drawn(Array.from({ length: 100 }, () => 1)))).toHaveLength(60)
    expect([chartSpan({ ...message, series: null }), sparkline({ ...message, series: null })]).toEqual(['', ''])
  })
})

/**
 * PNG decoder written from the specification: a PNG consists of chunks with their lengths, and each row begins with a
 * filter.
 */
export function decodePng(png: Buffer): Picture {
  expect([...png.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10])
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const typed = png.subarray(at + 4, at + 8 + length)
    expect(png.readUInt32BE(at + 8 + length)).toBe(Bun.hash.crc32(typed))
    chunks.set(typed.toString('latin1', 0, 4), typed.subarray(4))
    at += length + 12
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND'])
  const head = chunks.get('IHDR') ?? Buffer.alloc(0)
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const lines = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  const rows = Array.from({ length: height }, (_, y) => lines.subarray(y * (width * 4 + 1), (y + 1) * (width * 4 + 1)))
  expect(rows.every(([filter]) => filter === 0)).toBe(true)
  return { width, height, rgba: new Uint8Array(Buffer.concat(rows.map((row) => row.subarray(1)))) }
}

test('chart images are deterministic', () => {
  const picture = fc
    .record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 9 }) })
    .chain(({ width, height }) => {
      const length = width * height * 4
      const rgba = fc.uint8Array({ minLength: length, maxLength: length })
      return fc.record({ width: fc.constant(width), height: fc.constant(height), rgba })
    })
  fc.assert(fc.property(picture, (one) => expect(decodePng(encodePng(one))).toEqual(one)))
})
