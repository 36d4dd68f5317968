import classes from './charts.module.css'

const BAR_PX = 5
const GAP_PX = 1
const HEIGHT_PX = 18

interface DailyBarsProps {
  /** Counts by day, oldest first; the last day is in progress. */
  counts: readonly number[]
  /** Accessible name. */
  label: string
}

/** Bars in a table row, one for each day. Days without occurrences have a short line at the bottom. */
export function DailyBars({ counts, label }: DailyBarsProps) {
  const most = Math.max(...counts, 1)
  const width = counts.length * (BAR_PX + GAP_PX) - GAP_PX
  return (
    <svg
      width={width}
      height={HEIGHT_PX}
      viewBox={`0 0 ${width} ${HEIGHT_PX}`}
      preserveAspectRatio="none"
      className={classes.dailyBars}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {counts.map((count, day) => {
        const height = count === 0 ? 1 : Math.max(3, Math.round((count / most) * HEIGHT_PX))
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is identified by its day
            key={day}
            x={day * (BAR_PX + GAP_PX)}
            y={HEIGHT_PX - height}
            width={BAR_PX}
            height={height}
            data-empty={count === 0 || undefined}
          />
        )
      })}
    </svg>
  )
}
