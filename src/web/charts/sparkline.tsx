import { memo } from 'react'
import { type BandPoint, layOutSpark } from './band-layout.ts'
import classes from './charts.module.css'

const WIDTH_PX = 120
const HEIGHT_PX = 28

interface SparkProps {
  points: readonly BandPoint[]
  /** Accessible name. */
  label: string
  width?: number
}

/** Sparkline in a table row: expected range, counts, and a dot if the last count is an anomaly. */
export const Sparkline = memo(function Spark({ points, label, width = WIDTH_PX }: SparkProps) {
  const drawing = layOutSpark(points, width, HEIGHT_PX)
  return (
    <svg width={width} height={HEIGHT_PX} viewBox={`0 0 ${width} ${HEIGHT_PX}`} role="img" aria-label={label}>
      {drawing && (
        <>
          <path d={drawing.band} className={classes.band} />
          <path d={drawing.solid} className={`${classes.line} ${classes.thin}`} />
          <path d={drawing.dashed} className={`${classes.line} ${classes.thin} ${classes.dashed}`} />
          {drawing.dots.map(({ x, y, partial }) => (
            <circle key={x} cx={x} cy={y} r={2} className={classes.point} data-partial={partial || undefined} />
          ))}
          {drawing.wrong && <circle cx={drawing.wrong.x} cy={drawing.wrong.y} r={3} className={classes.dot} />}
        </>
      )}
    </svg>
  )
})
