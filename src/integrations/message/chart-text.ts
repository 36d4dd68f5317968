import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { periodText } from '../../core/moment-text.ts'
import { barsText, capitalized } from '../../core/text.ts'
import { issueKindOf } from '../../issues/issue-kinds.ts'
import { stepOf } from './chart-png.ts'
import { type Message, zoneOf } from './message.ts'

/** Title of the chart: `Violating events per hour`. */
export function chartTitle({ issue, series }: Message): string {
  const kind = issue && issueKindOf(issue.alertType)
  const counted = kind && !kind.messages.countsFirings ? kind.messages.unit.meaning : 'events'
  return `${capitalized(counted)} ${everyText(stepOf(series ?? []))}`
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const

function everyText(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms >= length) ?? ['minute', MINUTE_MS]
  const count = Math.round(ms / length)
  return count <= 1 ? `per ${unit}` : `per ${count} ${unit}s`
}

/** Time range of the chart: `5 Jan 2026, 06:00 to 14:00 UTC`. Empty without a series. */
export function chartSpan(message: Message): string {
  const { series } = message
  const [first, last] = [series?.[0], series?.at(-1)]
  if (!series || !first || !last) return ''
  return periodText(first.at, last.at + stepOf(series), zoneOf(message))
}

/** Largest value of the series. 0 without a series. */
export const chartMax = ({ series }: Message): number => Math.max(0, ...(series ?? []).map(({ value }) => value))

const MAX_BARS = 60

/** Renders the chart as one line of block characters, covering the most recent 60 windows. */
export function sparkline(message: Message): string {
  const latest = (message.series ?? []).slice(-MAX_BARS).map(({ value }) => value)
  return barsText(latest, Math.max(1, chartMax(message)))
}
