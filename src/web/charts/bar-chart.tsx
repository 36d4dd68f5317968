import { type ReactNode, useMemo, useState } from 'react'
import { Data } from '../components/data-text.tsx'
import { formatNumber } from '../components/format.ts'
import { useTimeZone } from '../components/use-time-zone.ts'
import { messages } from '../messages.ts'
import { Axes } from './axes.tsx'
import { stepOf } from './band-layout.ts'
import { type BarPoint, layOutBars } from './bar-layout.ts'
import { Caption } from './caption.tsx'
import { ChartFrame, type ChartProps, HEIGHT_PX, LegendItem } from './chart-frame.tsx'
import classes from './charts.module.css'
import { PointSlider } from './point-slider.tsx'
import { formatBucket } from './time-ticks.ts'

interface BarsProps extends ChartProps {
  /** Oldest first; missing buckets are drawn as gaps. */
  points: readonly BarPoint[]
  /** Unit of the counts: "occurrences per day". */
  unit: string
  /** Name of the domain or resource that the counts belong to. */
  scope?: string
  /** Legend label for dark bars; default: "Bad". */
  badWord?: string
  /** Called when a bucket is clicked, or when Enter is pressed on it. */
  onPick?: (start: number, end: number) => void
}

/** Bar chart of counts over time. */
export function BarChart({ points, unit, scope, badWord, onPick, height = HEIGHT_PX, ...chart }: BarsProps) {
  const zone = useTimeZone()
  const [index, show] = useState<number | null>(null)
  const step = stepOf(points)
  const sayBad = badWord ?? messages.charts.bad
  const say = (at: number) => {
    const point = points[at]
    return point
      ? [formatBucket(point.start, zone, step), sayValue(point), point.isBad && sayBad].filter(Boolean).join(', ')
      : ''
  }
  const shown = index === null ? undefined : points[index]
  const legend = points.some(({ isBad }) => isBad) && (
    <LegendItem word={sayBad}>
      <rect x={4} width={8} height={12} className={classes.bar} data-bad />
    </LegendItem>
  )
  return (
    <ChartFrame
      {...chart}
      height={height}
      caption={<Caption unit={unit} scope={scope} zone={zone} />}
      legend={legend}
      table={() => barsTable(points, zone, sayBad)}
    >
      {(width) => (
        <Plot points={points} width={width} height={height} zone={zone}>
          {(xs) => (
            <PointSlider
              label={messages.charts.dataPoints(chart.title)}
              xs={xs}
              index={shown ? index : null}
              show={show}
              say={say}
              pick={onPick && ((at) => onPick(points[at]?.start ?? 0, (points[at]?.start ?? 0) + step))}
              card={shown && <Card point={shown} step={step} zone={zone} badWord={sayBad} />}
            />
          )}
        </Plot>
      )}
    </ChartFrame>
  )
}

interface PlotProps {
  points: readonly BarPoint[]
  width: number
  height: number
  zone: string
  children: (xs: readonly number[]) => ReactNode
}

function Plot({ points, width, height, zone, children }: PlotProps) {
  const drawing = useMemo(() => layOutBars(points, width, height, zone), [points, width, height, zone])
  if (!drawing) return <div className={classes.empty}>{messages.charts.empty}</div>
  const { axis, left, right, bottom, ticks, bars, xs } = drawing
  return (
    <>
      <svg viewBox={`0 0 ${width} ${height}`} className={classes.drawing} aria-hidden>
        <Axes counts={axis.ticks} times={ticks} left={left} right={right} bottom={bottom} />
        {bars.map(({ index, ...bar }) => (
          <rect
            key={index}
            {...bar}
            className={classes.bar}
            data-bad={points[index]?.isBad || undefined}
            data-partial={points[index]?.partial || undefined}
          />
        ))}
      </svg>
      {children(xs)}
    </>
  )
}

const sayValue = ({ value }: BarPoint) => (value === null ? messages.charts.unknown : formatNumber(value, 0))

function Card({ point, step, zone, badWord }: { point: BarPoint; step: number; zone: string; badWord: string }) {
  return (
    <>
      <div className={classes.cardTitle}>
        <Data>{formatBucket(point.start, zone, step)}</Data>
      </div>
      <div className={classes.cardLine}>
        {messages.charts.count}
        <span className="figure">
          <Data>{sayValue(point)}</Data>
        </span>
      </div>
      {point.isBad && <div>{badWord}</div>}
      {point.partial && <div>{messages.charts.partialHint}</div>}
    </>
  )
}

function barsTable(points: readonly BarPoint[], zone: string, badWord: string) {
  const step = stepOf(points)
  return {
    head: [
      { name: messages.charts.time },
      { name: messages.charts.count, isNumber: true },
      { name: messages.charts.notes },
    ],
    rows: points.map((point) => ({
      key: point.start,
      cells: [
        <Data key="time">{formatBucket(point.start, zone, step)}</Data>,
        <Data key="count">{sayValue(point)}</Data>,
        [point.isBad && badWord, point.partial && messages.charts.partial].filter(Boolean).join(', '),
      ],
    })),
  }
}
