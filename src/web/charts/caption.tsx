import { Data } from '../components/data-text.tsx'
import { formatSpan } from '../components/format.ts'
import { stepOf } from './band-layout.ts'
import { DAY, zoneOfDay } from './time-ticks.ts'

interface CaptionProps {
  unit: string
  scope?: string
  points: readonly { start: number }[]
  zone: string
}

/** Line above a chart: `events per hour · shop.example · 12 Mar 2026, 08:00 – 20:00 · Europe/Berlin`. */
export function Caption({ unit, scope, points, zone }: CaptionProps) {
  const first = points[0]?.start
  const step = stepOf(points)
  const shown = first !== undefined && step >= DAY ? zoneOfDay(first, zone) : zone
  return (
    <>
      {unit}
      {scope && (
        <Data>
          {' · '}
          {scope}
        </Data>
      )}
      {first !== undefined && (
        <Data>
          {' · '}
          {formatSpan(first, (points.at(-1)?.start ?? first) + step, shown, step >= DAY)}
        </Data>
      )}
      <Data>
        {' · '}
        {shown}
      </Data>
    </>
  )
}
