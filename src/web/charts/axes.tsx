import classes from './charts.module.css'
import type { CountTick } from './scales.ts'
import type { TimeTick } from './time-ticks.ts'

interface AxesProps {
  counts: readonly CountTick[]
  times: readonly (TimeTick & { x: number })[]
  left: number
  right: number
  bottom: number
}

const LABEL_BELOW_PX = 17
/** Half the maximum width of a tick label. */
const HALF_LABEL_PX = 24

/** Horizontal grid lines with counts, and time labels below. */
export function Axes({ counts, times, left, right, bottom }: AxesProps) {
  return (
    <g aria-hidden>
      {counts.map(({ value, y, label }) => (
        <g key={value}>
          <line x1={left} x2={right} y1={y} y2={y} className={classes.grid} />
          <text x={left - 8} y={y} dy="0.32em" textAnchor="end" className={classes.tick} {...DATA}>
            {label}
          </text>
        </g>
      ))}
      {times.map(({ at, x, label }) => (
        <g key={at}>
          <line x1={x} x2={x} y1={bottom} y2={bottom + 4} className={classes.stroke} />
          <text x={x} y={bottom + LABEL_BELOW_PX} textAnchor={anchorAt(x, right)} className={classes.tick} {...DATA}>
            {label}
          </text>
        </g>
      ))}
    </g>
  )
}

const anchorAt = (x: number, right: number) => (x > right - HALF_LABEL_PX + 12 ? 'end' : 'middle')

/** Attributes for SVG text with user data, which browsers must not translate. */
export const DATA = { translate: 'no' } as object
