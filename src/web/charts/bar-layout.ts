import { stepOf } from './band-layout.ts'
import { type CountAxis, countAxis, px, ticksIn } from './scales.ts'
import { bucketTicks, type TimeTick } from './time-ticks.ts'

/** One bucket. */
export interface BarPoint {
  /** Milliseconds since the epoch. */
  start: number
  /** Null if unknown; drawn as a gap. */
  value: number | null
  /** True for anomalies; drawn dark. */
  isBad?: boolean
  /** True while the bucket is in progress; drawn as an outline. */
  partial?: boolean
}

export interface BarsDrawing {
  axis: CountAxis
  left: number
  right: number
  bottom: number
  ticks: (TimeTick & { x: number })[]
  /** Centre of each bucket. */
  xs: number[]
  bars: { x: number; y: number; width: number; height: number; index: number }[]
}

const RIGHT_PX = 12
const BOTTOM_PX = 24
const TOP_PX = 6
/** Minimum height of a bar for a count above 0. */
const LEAST_PX = 2

/** Computes the layout of bars; null without points. */
export function layOutBars(
  points: readonly BarPoint[],
  width: number,
  height: number,
  zone: string,
): BarsDrawing | null {
  const [first] = points
  const last = points.at(-1)
  if (!first || !last) return null
  const step = stepOf(points)
  const bottom = height - BOTTOM_PX
  const axis = countAxis(Math.max(...points.map(({ value }) => value ?? 0)), TOP_PX, bottom)
  const { left } = axis
  const right = Math.max(left + 1, width - RIGHT_PX)
  const [from, to] = [first.start, last.start + step]
  const x = (at: number) => left + ((at - from) / (to - from)) * (right - left)
  const slot = x(from + step) - left
  const gap = Math.min(4, slot * 0.2)
  return {
    axis,
    left,
    right,
    bottom,
    ticks: bucketTicks(
      points.map(({ start }) => start),
      step,
      zone,
      ticksIn(right - left),
    ).map((tick) => ({
      ...tick,
      x: px(x(tick.at)),
    })),
    xs: points.map(({ start }) => px(x(start + step / 2))),
    bars: points.flatMap(({ start, value }, index) => {
      if (!value) return []
      const high = Math.max(LEAST_PX, bottom - axis.y(value))
      return { x: px(x(start) + gap / 2), y: px(bottom - high), width: px(slot - gap), height: px(high), index }
    }),
  }
}
