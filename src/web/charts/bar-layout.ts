import { stepOf } from './band-layout.ts'
import { type Bar, barAt, type CountAxis, countAxis, px, ticksIn } from './scales.ts'
import { layOutSpecial, type SpecialBand, type SpecialPeriod } from './special-periods.ts'
import { bucketTicks, type TimeTick } from './time-ticks.ts'

/** One bucket. */
export interface BarPoint {
  /** Milliseconds since the epoch. */
  start: number
  /** Null if unknown; drawn as a gap. */
  value: number | null
  /** True for anomalies; drawn dark. */
  isBad?: boolean
  /** True while the bucket is in progress; drawn with a dashed edge. */
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
  bars: (Bar & { index: number })[]
  special: SpecialBand[]
}

const RIGHT_PX = 12
const BOTTOM_PX = 24
const TOP_PX = 6

/** Computes the layout of bars; null without points. */
export function layOutBars(
  points: readonly BarPoint[],
  width: number,
  height: number,
  zone: string,
  special: readonly SpecialPeriod[] = [],
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
      return { ...barAt(x(start), x(start + step), axis.y(value), bottom), index }
    }),
    special: layOutSpecial(special, { from, to, left, right, x }),
  }
}
