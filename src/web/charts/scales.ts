import { scaleLinear } from 'd3-scale'
import { formatCompact } from '../parts/format.ts'

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

/** The axis of counts between two heights in pixels. Nothing, or only zeros, is drawn as up to 1. */
export function countAxis(highest: number, topPx: number, bottomPx: number): CountAxis {
  const scale = scaleLinear()
    .domain([0, Math.max(1, highest)])
    .nice(TICKS)
    .range([bottomPx, topPx])
  const ticks = scale
    .ticks(TICKS)
    .filter(Number.isInteger)
    .map((value) => ({ value, y: scale(value), label: formatCompact(value) }))
  const longest = Math.max(0, ...ticks.map(({ label }) => label.length))
  const top = scale.domain()[1] ?? 1
  return { y: (value) => scale(value), top, ticks, left: Math.max(LEFT_MIN_PX, longest * PX_A_LETTER + 10) }
}

/** Rounded to a tenth of a pixel: paths stay short. */
export const px = (value: number): number => Math.round(value * 10) / 10

const NARROW_PX = 480

/** How many labelled times there is room for: close to each other only where they would be too few. */
export const ticksIn = (widthPx: number): number => Math.floor(widthPx / (widthPx < NARROW_PX ? 56 : 80))
