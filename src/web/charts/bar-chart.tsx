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
import { SpecialBands, SpecialLabels, SpecialLegend, SpecialLines } from './special-bands.tsx'
import { type SpecialPeriod, specialIn } from './special-periods.ts'
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
  /** Holidays and maintenance windows. */
  special?: readonly SpecialPeriod[]
  /** Called when a bucket is clicked, or when Enter is pressed on it. */
  onPick?: (start: number, end: number) => void
}

/** Bar chart of counts over time. */
export function BarChart(props: BarsProps) {
  const { points, unit, scope, badWord, special = [], onPick, height = HEIGHT_PX, ...chart } = props
  const zone = useTimeZone()
  const [index, show] = useState<number | null>(null)
  const step = stepOf(points)
  const sayBad = badWord ?? messages.charts.bad
  const say = (at: number) => {
    const point = points[at]
    return point
      ? [
          formatBucket(point.start, zone, step),
          sayValue(point),
          point.isBad && sayBad,
          point.partial && messages.charts.partial,
          ...specialIn(special, point.start, step).map(({ kind, name }) => messages.charts.specialNamed[kind](name)),
        ]
          .filter(Boolean)
          .join(', ')
      : ''
  }
  const shown = index === null ? undefined : points[index]
  const legend = (
    <>
      {points.some(({ isBad }) => isBad) && (
        <LegendItem word={sayBad}>
          <rect x={4} width={8} height={12} className={classes.bar} data-bad />
        </LegendItem>
      )}
      {points.some(({ partial, value }) => partial && value) && (
        <LegendItem word={messages.charts.partial}>
          <rect x={4} y={1} width={8} height={10} className={classes.bar} data-partial />
        </LegendItem>
      )}
      <SpecialLegend periods={special} />
    </>
  )
  return (
    <ChartFrame
      {...chart}
      height={height}
      caption={<Caption unit={unit} scope={scope} points={points} zone={zone} />}
      legend={legend}
      table={() => barsTable(points, special, zone, sayBad)}
    >
      {(width) => (
        <Plot points={points} special={special} width={width} height={height} zone={zone}>
          {(xs) => (
            <PointSlider
              label={messages.charts.dataPoints(chart.title)}
              xs={xs}
              index={shown ? index : null}
              show={show}
              say={say}
              pick={onPick && ((at) => onPick(points[at]?.start ?? 0, (points[at]?.start ?? 0) + step))}
              card={shown && <Card point={shown} special={special} step={step} zone={zone} badWord={sayBad} />}
            />
          )}
        </Plot>
      )}
    </ChartFrame>
  )
}

interface PlotProps {
  points: readonly BarPoint[]
  special: readonly SpecialPeriod[]
  width: number
  height: number
  zone: string
  children: (xs: readonly number[]) => ReactNode
}

function Plot({ points, special, width, height, zone, children }: PlotProps) {
  const drawing = useMemo(
    () => layOutBars(points, width, height, zone, special),
    [points, width, height, zone, special],
  )
  if (!drawing) return <div className={classes.empty}>{messages.charts.empty}</div>
  const { axis, left, right, bottom, ticks, bars, xs } = drawing
  return (
    <>
      <svg viewBox={`0 0 ${width} ${height}`} className={classes.drawing} aria-hidden>
        <SpecialBands bands={drawing.special} top={0} bottom={bottom} />
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
        <SpecialLabels bands={drawing.special} bottom={bottom} />
      </svg>
      {children(xs)}
    </>
  )
}

const sayValue = ({ value }: BarPoint) => (value === null ? messages.charts.unknown : formatNumber(value, 0))

interface CardProps {
  point: BarPoint
  special: readonly SpecialPeriod[]
  step: number
  zone: string
  badWord: string
}

function Card({ point, special, step, zone, badWord }: CardProps) {
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
      <SpecialLines periods={specialIn(special, point.start, step)} />
    </>
  )
}

function barsTable(points: readonly BarPoint[], special: readonly SpecialPeriod[], zone: string, badWord: string) {
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
        <div key="notes">
          {[point.isBad && badWord, point.partial && messages.charts.partial].filter(Boolean).join(', ')}
          <SpecialLines periods={specialIn(special, point.start, step)} />
        </div>,
      ],
    })),
  }
}
