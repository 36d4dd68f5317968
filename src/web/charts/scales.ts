import { formatCompact } from '../components/format.ts'

export interface CountTick {
  value: number
  y: number
  label: string
}

/** Vertical axis from 0 to the maximum, with ticks at whole numbers. */
export interface CountAxis {
  y(value: number): number
  /** Value at the top. */
  top: number
  ticks: CountTick[]
  left: number
}

const TICKS = 4
const PX_A_LETTER = 7
const LEFT_MIN_PX = 28

/** Returns the distance between ticks: 1, 2 or 5 times a power of ten, at least 1. */
function tickStep(top: number): number {
  const wanted = top / TICKS
  const power = 10 ** Math.floor(Math.log10(wanted))
  // The thresholds are geometric means of adjacent factors.
  const times = wanted / power
  const factor = times >= Math.sqrt(50) ? 10 : times >= Math.sqrt(10) ? 5 : times >= Math.sqrt(2) ? 2 : 1
  return Math.max(1, power * factor)
}

/** Returns the axis between two vertical positions in pixels. Its maximum is at least 1. */
export function countAxis(highest: number, topPx: number, bottomPx: number): CountAxis {
  let top = Math.max(1, highest)
  let step = tickStep(top)
  // A maximum that was rounded up may require a larger step.
  while (top % step !== 0) {
    top = Math.ceil(top / step) * step
    step = tickStep(top)
  }
  const y = (value: number) => bottomPx - (value / top) * (bottomPx - topPx)
  const ticks = Array.from({ length: top / step + 1 }, (_, index) => index * step).map((value) => ({
    value,
    y: px(y(value)),
    label: formatCompact(value),
  }))
  const longest = Math.max(...ticks.map(({ label }) => label.length))
  return { y, top, ticks, left: Math.max(LEFT_MIN_PX, longest * PX_A_LETTER + 10) }
}

/** Rounds to a tenth of a pixel, to keep paths short. */
export const px = (value: number): number => Math.round(value * 10) / 10

const NARROW_PX = 480

/** Returns the number of time labels that fit; denser on narrow screens. */
export const ticksIn = (widthPx: number): number => Math.floor(widthPx / (widthPx < NARROW_PX ? 56 : 80))

/** A bar, in pixels. */
export interface Bar {
  x: number
  y: number
  width: number
  height: number
}

/** Minimum height of a bar for a count above 0. */
const LEAST_PX = 2

/** Returns the bar of a bucket between two horizontal positions, with a gap to the next bar. */
export function barAt(left: number, right: number, top: number, bottom: number): Bar {
  const slot = right - left
  const gap = Math.min(4, slot * 0.2)
  const height = Math.max(LEAST_PX, bottom - top)
  return { x: px(left + gap / 2), y: px(bottom - height), width: px(slot - gap), height: px(height) }
}
