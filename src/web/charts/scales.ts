import { formatCompact } from '../components/format.ts'

/** Room around what is drawn, in pixels. */
export interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

export interface CountTick {
  value: number
  y: number
  label: string
}

/** A scale from 0 to what is highest, its ticks at whole numbers, and the room that their labels need at the left. */
export interface CountAxis {
  y(value: number): number
  /** The value at the top. */
  top: number
  ticks: CountTick[]
  left: number
}

const TICKS = 4
const PX_A_LETTER = 7
const LEFT_MIN_PX = 28

/** From one tick to the next: 1, 2 or 5 times a power of ten, and a whole number. */
function tickStep(top: number): number {
  const wanted = top / TICKS
  const power = 10 ** Math.floor(Math.log10(wanted))
  // Halfway between two of them as they grow, at their geometric mean.
  const times = wanted / power
  const factor = times >= Math.sqrt(50) ? 10 : times >= Math.sqrt(10) ? 5 : times >= Math.sqrt(2) ? 2 : 1
  return Math.max(1, power * factor)
}

/** The axis of counts between two heights in pixels. Nothing, or only zeros, is drawn as up to 1. */
export function countAxis(highest: number, topPx: number, bottomPx: number): CountAxis {
  let top = Math.max(1, highest)
  let step = tickStep(top)
  // A longer axis may take larger steps.
  while (top % step !== 0) {
    top = Math.ceil(top / step) * step
    step = tickStep(top)
  }
  const y = (value: number) => bottomPx - (value / top) * (bottomPx - topPx)
  const ticks = Array.from({ length: top / step + 1 }, (_, index) => index * step).map((value) => ({
    ...{ value, y: px(y(value)), label: formatCompact(value) },
  }))
  const longest = Math.max(...ticks.map(({ label }) => label.length))
  return { y, top, ticks, left: Math.max(LEFT_MIN_PX, longest * PX_A_LETTER + 10) }
}

/** Rounded to a tenth of a pixel: paths stay short. */
export const px = (value: number): number => Math.round(value * 10) / 10

const NARROW_PX = 480

/** How many labelled times there is room for: close to each other only where they would be too few. */
export const ticksIn = (widthPx: number): number => Math.floor(widthPx / (widthPx < NARROW_PX ? 56 : 80))
