import { useMemo, useState } from 'react'
import { Data } from '../components/data-text.tsx'
import { formatNumber } from '../components/format.ts'
import { useTimeZone } from '../components/use-time-zone.ts'
import { messages } from '../messages.ts'
import { Axes, DATA } from './axes.tsx'
import {
  type BandDrawing,
  type BandPoint,
  type ChangeMark,
  type ChartChange,
  hasExpectation,
  isOutside,
  LABEL_ROW_PX,
  layOutBand,
  type Span,
  showsExpected,
  stepOf,
} from './band-layout.ts'
import { Caption } from './caption.tsx'
import { ChartFrame, type ChartProps, type ChartTable, HEIGHT_PX, LegendItem } from './chart-frame.tsx'
import classes from './charts.module.css'
import { formatRange } from './format-expected-range.ts'
import { PointSlider } from './point-slider.tsx'
import { SpecialBands, SpecialLabels, SpecialLegend, SpecialLines } from './special-bands.tsx'
import { type SpecialPeriod, specialIn } from './special-periods.ts'
import { formatBucket } from './time-ticks.ts'

interface BandChartProps extends ChartProps {
  /** Oldest first; missing buckets are drawn as gaps. */
  points: readonly BandPoint[]
  /** Unit of the counts: "events per hour". */
  unit: string
  /** Name of the domain or resource that the counts belong to. */
  scope?: string
  changes?: readonly ChartChange[]
  /** Holidays and maintenance windows. */
  special?: readonly SpecialPeriod[]
  /** Intervals to tint; by default, intervals with counts outside the expected range. */
  bad?: readonly Span[]
  /** Called when a point is clicked, or when Enter is pressed on it. */
  onPick?: (start: number) => void
}

/** Chart of counts with anomalies and marked changes: a line with its expected range, or bars if nothing is expected. */
export function BandChart({ points, unit, scope, changes = [], special = [], bad, onPick, ...chart }: BandChartProps) {
  const zone = useTimeZone()
  const hasRange = points.some(({ low, high }) => low !== null || high !== null)
  const hasExpected = showsExpected(points)
  const isBars = !hasExpectation(points)
  const isBad = bad ? bad.length > 0 : points.some(isOutside)
  const legend = (
    <>
      <LegendItem word={messages.charts.observed}>
        {isBars ? (
          <rect x={4} y={1} width={8} height={10} className={classes.bar} />
        ) : (
          <path d="M1,6H15" className={classes.line} />
        )}
      </LegendItem>
      {points.some(({ observed, partial }) => partial && observed !== null) && (
        <LegendItem word={messages.charts.partial}>
          {isBars ? (
            <rect x={4} y={1} width={8} height={10} className={classes.bar} data-partial />
          ) : (
            <circle cx={8} cy={6} r={3} className={classes.point} data-partial />
          )}
        </LegendItem>
      )}
      {hasRange && (
        <LegendItem word={messages.charts.expectedRange}>
          <rect x={0.5} y={1.5} width={15} height={9} className={classes.band} />
          <path d="M0.5,1.5H15.5M0.5,10.5H15.5" className={classes.edge} />
        </LegendItem>
      )}
      {hasExpected && (
        <LegendItem word={messages.charts.expected}>
          <path d="M1,6H15" className={classes.expected} />
        </LegendItem>
      )}
      {isBad && (
        <LegendItem word={messages.charts.firstAnomaly}>
          <circle cx={8} cy={6} r={5} className={classes.dot} />
        </LegendItem>
      )}
      {isBad && (
        <LegendItem word={messages.charts.outsideRange}>
          <rect width={16} height={12} className={classes.bad} />
          <path d="M0,1.5H16" className={classes.badEdge} />
        </LegendItem>
      )}
      {changes.length > 0 && (
        <LegendItem word={messages.charts.change}>
          <path d="M8,0V12" className={classes.change} />
        </LegendItem>
      )}
      <SpecialLegend periods={special} />
    </>
  )
  return (
    <ChartFrame
      {...chart}
      caption={<Caption unit={unit} scope={scope} points={points} zone={zone} />}
      legend={points.length > 0 && legend}
      table={() => bandTable(points, changes, special, zone)}
    >
      {(width) => (
        <Plot
          points={points}
          changes={changes}
          special={special}
          bad={bad}
          width={width}
          zone={zone}
          onPick={onPick}
          title={chart.title}
          height={chart.height ?? HEIGHT_PX}
        />
      )}
    </ChartFrame>
  )
}

interface PlotProps {
  title: string
  points: readonly BandPoint[]
  changes: readonly ChartChange[]
  special: readonly SpecialPeriod[]
  bad?: readonly Span[]
  width: number
  height: number
  zone: string
  onPick?: (start: number) => void
}

function Plot({ title, points, changes, special, bad, width, height, zone, onPick }: PlotProps) {
  const [index, show] = useState<number | null>(null)
  const drawing = useMemo(
    () => layOutBand({ points, changes, special, bad, width, height, zone }),
    [points, changes, special, bad, width, height, zone],
  )
  if (!drawing) return <div className={classes.empty}>{messages.charts.empty}</div>
  const step = stepOf(points)
  const shown = index === null ? null : points[index]
  const say = (at: number) => {
    const point = points[at]
    return point ? sayPoint(point, specialIn(special, point.start, step), step, zone) : ''
  }
  return (
    <>
      <Drawing drawing={drawing} points={points} width={width} height={height} />
      <PointSlider
        label={messages.charts.dataPoints(title)}
        xs={drawing.xs}
        index={shown ? index : null}
        show={show}
        say={say}
        pick={onPick && ((at) => onPick(points[at]?.start ?? 0))}
        card={shown && <Card point={shown} changes={changes} special={special} step={step} zone={zone} />}
      />
    </>
  )
}

interface DrawingProps {
  drawing: BandDrawing
  points: readonly BandPoint[]
  width: number
  height: number
}

function Drawing({ drawing, points, width, height }: DrawingProps) {
  const { special, bars, dots } = drawing
  const { left, right, top, bottom, axis, ticks, band, edges, expected, solid, dashed, bad, first, marks } = drawing
  return (
    <svg viewBox={`0 0 ${width} ${height}`} className={classes.drawing} aria-hidden>
      <SpecialBands bands={special} top={top} bottom={bottom} />
      {bad.map(({ x, width }) => (
        <g key={x}>
          <rect x={x} y={top} width={width} height={bottom - top} className={classes.bad} />
          <path d={`M${x},${top}h${width}`} className={classes.badEdge} />
        </g>
      ))}
      <Axes counts={axis.ticks} times={ticks} left={left} right={right} bottom={bottom} />
      <path d={band} className={classes.band} />
      {edges.map((edge) => (
        <path key={edge} d={edge} className={classes.edge} />
      ))}
      <path d={expected} className={classes.expected} />
      <path d={solid} className={classes.line} />
      <path d={dashed} className={`${classes.line} ${classes.dashed}`} />
      {dots.map(({ x, y, partial }) => (
        <circle key={x} cx={x} cy={y} r={3} className={classes.point} data-partial={partial || undefined} />
      ))}
      {bars?.map(({ index, ...bar }) => (
        <rect key={index} {...bar} className={classes.bar} data-partial={points[index]?.partial || undefined} />
      ))}
      <SpecialLabels bands={special} bottom={bottom} />
      {marks.map(({ x, row }) => (
        <path key={`${x} ${row}`} d={`M${x},${row * LABEL_ROW_PX}V${bottom}`} className={classes.change} />
      ))}
      {marks.map((mark) => (
        <ChangeLabel key={`${mark.x} ${mark.row}`} mark={mark} />
      ))}
      {first && <circle cx={first.x} cy={first.y} r={5} className={classes.dot} />}
    </svg>
  )
}

function ChangeLabel({ mark: { x, label, count, side, row } }: { mark: ChangeMark }) {
  if (label === null) return null
  const place = side === 'right' ? { x: x + 4, textAnchor: 'start' as const } : { x: x - 4, textAnchor: 'end' as const }
  return (
    <text {...place} y={row * LABEL_ROW_PX + 11} className={classes.changeLabel} {...(count === 1 ? DATA : {})}>
      {count === 1 ? label : messages.charts.changes(count)}
    </text>
  )
}

const sayCount = (count: number | null) => (count === null ? messages.charts.unknown : formatNumber(count, 0))

/** Screen reader text for a point. */
function sayPoint(point: BandPoint, special: readonly SpecialPeriod[], step: number, zone: string): string {
  const range = formatRange(point)
  return [
    formatBucket(point.start, zone, step),
    messages.charts.observedCount(sayCount(point.observed)),
    range && messages.charts.expectedCount(range),
    isOutside(point) && messages.charts.outsideRange,
    point.partial && messages.charts.partial,
    ...special.map(({ kind, name }) => messages.charts.specialNamed[kind](name)),
  ]
    .filter(Boolean)
    .join(', ')
}

const changesIn = (changes: readonly ChartChange[], start: number, step: number) =>
  changes.filter(({ occurredAt }) => occurredAt >= start && occurredAt < start + step)

interface CardProps {
  point: BandPoint
  changes: readonly ChartChange[]
  special: readonly SpecialPeriod[]
  step: number
  zone: string
}

function Card({ point, changes, special, step, zone }: CardProps) {
  const range = formatRange(point)
  return (
    <>
      <div className={classes.cardTitle}>
        <Data>{formatBucket(point.start, zone, step)}</Data>
      </div>
      <div className={classes.cardLine}>
        {messages.charts.observed}
        <span className="figure">
          <Data>{sayCount(point.observed)}</Data>
        </span>
      </div>
      {range && (
        <div className={classes.cardLine}>
          {messages.charts.expectedRange}
          <span className="figure">
            <Data>{range}</Data>
          </span>
        </div>
      )}
      {isOutside(point) && <div>{messages.charts.outsideRange}</div>}
      {point.partial && <div>{messages.charts.partialHint}</div>}
      <SpecialLines periods={specialIn(special, point.start, step)} />
      {changesIn(changes, point.start, step).map(({ id, title }) => (
        <div key={id}>
          <Data>{title}</Data>
        </div>
      ))}
    </>
  )
}

function bandTable(
  points: readonly BandPoint[],
  changes: readonly ChartChange[],
  special: readonly SpecialPeriod[],
  zone: string,
): ChartTable {
  const step = stepOf(points)
  return {
    head: [
      { name: messages.charts.time },
      { name: messages.charts.observed, isNumber: true },
      { name: messages.charts.expectedRange, isNumber: true },
      { name: messages.charts.notes },
    ],
    rows: points.map((point) => ({
      key: point.start,
      cells: [
        <Data key="time">{formatBucket(point.start, zone, step)}</Data>,
        <Data key="observed">{sayCount(point.observed)}</Data>,
        <Data key="range">{formatRange(point) ?? '–'}</Data>,
        <Remarks
          key="remarks"
          point={point}
          changes={changesIn(changes, point.start, step)}
          special={specialIn(special, point.start, step)}
        />,
      ],
    })),
  }
}

function Remarks({ point, changes, special }: Pick<CardProps, 'point' | 'changes' | 'special'>) {
  return (
    <>
      {[isOutside(point) && messages.charts.outsideRange, point.partial && messages.charts.partial]
        .filter(Boolean)
        .join(', ')}
      <SpecialLines periods={special} />
      {changes.map(({ id, title }) => (
        <div key={id}>
          <Data>{title}</Data>
        </div>
      ))}
    </>
  )
}
