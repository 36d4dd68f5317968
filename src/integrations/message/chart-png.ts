import { crc32, deflateSync } from 'node:zlib'
import type { Instant } from '../../core/clock.ts'
import type { Message, MessagePoint } from './message.ts'

/** Size in pixels: twice the displayed size, for high-density screens. */
export const CHART_SIZE = { width: 1184, height: 256 } as const

type Colour = readonly [red: number, green: number, blue: number]

/** Colours that are visible on both light and dark backgrounds. The background of the chart is transparent. */
export const CHART_COLOURS = {
  usual: [0x6b, 0x8a, 0xe6],
  bad: [0xe5, 0x48, 0x4d],
  expected: [0x8b, 0x95, 0xa5],
} as const satisfies Record<string, Colour>

const MARGIN = 8
const LINE = 4
/** Opacity of the area of expected values behind the bars, 0 to 255. */
const VEIL = 64
const GAP_SHARE = 0.25
const RADIUS = 4

/** One column of the chart, which represents one window of the series. */
interface Column {
  point: MessagePoint
  left: number
  right: number
  isBad: boolean
}

/** True if the series has at least two points. */
export const hasChart = ({ series }: Message): boolean => (series?.length ?? 0) > 1

/**
 * Renders the series as a PNG bar chart. The bars of the incident are red, and the expected values are shown as an area
 * behind the bars.
 */
export function chartOf(message: Message): Buffer {
  const { width, height } = CHART_SIZE
  const picture: Picture = { width, height, rgba: new Uint8Array(width * height * 4) }
  const columns = columnsOf(message)
  const most = Math.max(1, ...columns.flatMap(({ point }) => [point.value, point.expected ?? 0]))
  const base = height - MARGIN - LINE
  const levelOf = (value: number) => Math.round(base - (Math.max(0, value) / most) * (base - MARGIN))
  fill(picture, { left: 0, right: width, top: base, bottom: base + LINE / 2 }, CHART_COLOURS.expected)
  for (const { point, left, right } of columns) {
    if (point.expected === null || point.expected <= 0) continue
    const top = levelOf(point.expected)
    fill(picture, { left, right, top, bottom: base }, CHART_COLOURS.expected, VEIL)
    fill(picture, { left, right, top: top - LINE / 2, bottom: top + LINE / 2 }, CHART_COLOURS.expected)
  }
  for (const column of columns) drawBar(picture, column, { base, levelOf })
  return encodePng(picture)
}

function columnsOf(message: Message): Column[] {
  const series = message.series ?? []
  const width = CHART_SIZE.width / series.length
  return series.map((point, index) => ({
    point,
    left: Math.round(index * width),
    right: Math.round((index + 1) * width),
    isBad: isBad(message, point, stepOf(series)),
  }))
}

/** Length of a window in ms. 0 for a series with fewer than two points. */
export const stepOf = ([first, second]: readonly MessagePoint[]): number => (first && second ? second.at - first.at : 0)

/**
 * True if the window is between the start of the incident and its last occurrence and its value differs from the
 * expected value.
 */
function isBad({ issue, firstBadAt }: Message, { at, value, expected }: MessagePoint, stepMs: number): boolean {
  const from: Instant = firstBadAt ?? issue?.firstSeenAt ?? Number.POSITIVE_INFINITY
  return at + stepMs > from && at <= (issue?.lastSeenAt ?? at) && value !== expected
}

function drawBar(
  picture: Picture,
  { point, left, right, isBad }: Column,
  { base, levelOf }: { base: number; levelOf(value: number): number },
): void {
  const gap = Math.max(1, Math.round((right - left) * GAP_SHARE))
  const colour = isBad ? CHART_COLOURS.bad : CHART_COLOURS.usual
  const top = levelOf(point.value)
  // Applies a minimum height, so that a bad window with the value 0 is visible.
  const least = isBad || point.value > 0 ? LINE * 2 : 0
  const bar = {
    left: left + Math.floor(gap / 2),
    right: right - Math.ceil(gap / 2),
    top: Math.min(top, base - least),
    bottom: base,
  }
  fill(picture, bar, colour)
  roundTop(picture, bar)
}

interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

function fill(
  { width, height, rgba }: Picture,
  { left, right, top, bottom }: Box,
  [red, green, blue]: Colour,
  opacity = 255,
): void {
  for (let y = Math.max(0, top); y < Math.min(height, bottom); y++) {
    for (let x = Math.max(0, left); x < Math.min(width, right); x++) {
      rgba.set([red, green, blue, opacity], (y * width + x) * 4)
    }
  }
}

/** Rounds the upper corners of a bar, with antialiasing. */
function roundTop({ width, rgba }: Picture, { left, right, top, bottom }: Box): void {
  const radius = Math.min(RADIUS, Math.floor((right - left) / 2), bottom - top)
  for (let y = 0; y < radius; y++) {
    for (let x = 0; x < radius; x++) {
      const covered = Math.min(1, Math.max(0, radius - Math.hypot(radius - x - 0.5, radius - y - 0.5) + 0.5))
      for (const at of [left + x, right - 1 - x]) rgba[((top + y) * width + at) * 4 + 3] = Math.round(255 * covered)
    }
  }
}

/** Pixels in rows, starting at the top left. Each pixel has four values from 0 to 255: red, green, blue and opacity. */
export interface Picture {
  width: number
  height: number
  rgba: Uint8Array
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)

/** Encodes the picture as PNG with 8 bits per channel and an alpha channel (https://www.w3.org/TR/png-3/). */
export function encodePng({ width, height, rgba }: Picture): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // 8 bits per channel, colour with alpha, the only defined compression and filter methods, and no interlacing.
  head.set([8, 6, 0, 0, 0], 8)
  const stride = width * 4
  const lines = Buffer.alloc((stride + 1) * height)
  // Each row begins with its filter type: 0, no filter.
  for (let y = 0; y < height; y++) lines.set(rgba.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
