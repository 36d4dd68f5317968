import { Text } from '@mantine/core'
import { messages } from '../messages.ts'
import type { Period } from '../url-state/period.ts'
import { Data } from './data-text.tsx'
import { formatHours, formatMoment, formatSpan } from './format.ts'
import { useTimeZone } from './use-time-zone.ts'

/** Line that names the period of the data below it: `Last 24 h`, or its start and end. */
export function CoveredPeriod({ period }: { period: Period }) {
  const zone = useTimeZone()
  const t = messages.timeRange
  const { limit } = period
  return (
    <Text c="dimmed" fz="sm" mb="md">
      <Data>{textOf(period, zone)}</Data>
      {limit !== null && ` ${t.limited(formatHours(limit))}`}
    </Text>
  )
}

function textOf({ from, to, hours }: Period, zone: string): string {
  const t = messages.timeRange
  if (from === null) return t.last(formatHours(hours))
  return to === null ? t.since(formatMoment(from, zone)) : `${formatSpan(from, to, zone)}, ${zone}`
}
