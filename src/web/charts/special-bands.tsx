import { Data } from '../components/data-text.tsx'
import { messages } from '../messages.ts'
import { DATA } from './axes.tsx'
import { LegendItem } from './chart-frame.tsx'
import classes from './charts.module.css'
import type { SpecialBand, SpecialPeriod } from './special-periods.ts'

const LABEL_ABOVE_PX = 6

interface BandsProps {
  bands: readonly SpecialBand[]
  top: number
  bottom: number
}

/** Light bands for holidays and maintenance windows, drawn behind the counts. */
export function SpecialBands({ bands, top, bottom }: BandsProps) {
  return bands.map(({ kind, x, width }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: bands have no identity
    <rect key={index} x={x} y={top} width={width} height={bottom - top} className={classes.special} data-kind={kind} />
  ))
}

/** The names of the bands, drawn in front of the counts. */
export function SpecialLabels({ bands, bottom }: Omit<BandsProps, 'top'>) {
  return bands.map(({ x, label }, index) =>
    label === null ? null : (
      // biome-ignore lint/suspicious/noArrayIndexKey: bands have no identity
      <text key={index} x={x + 4} y={bottom - LABEL_ABOVE_PX} className={classes.changeLabel} {...DATA}>
        {label}
      </text>
    ),
  )
}

/** Legend entries for the kinds of periods that occur. */
export function SpecialLegend({ periods }: { periods: readonly SpecialPeriod[] }) {
  return (['holiday', 'maintenance'] as const).map(
    (kind) =>
      periods.some((period) => period.kind === kind) && (
        <LegendItem key={kind} word={messages.charts.special[kind]}>
          <rect width={16} height={12} className={classes.special} data-kind={kind} />
        </LegendItem>
      ),
  )
}

/** Lines that name the periods of a bucket. */
export function SpecialLines({ periods }: { periods: readonly SpecialPeriod[] }) {
  return periods.map(({ kind, name, from }) => (
    <div key={`${from} ${name}`}>
      <Data>{messages.charts.specialNamed[kind](name)}</Data>
    </div>
  ))
}
