import type { Usage } from '#client/types.gen'
import type { BarPoint } from '../../charts/bar-layout.ts'

const DAY_MS = 86_400_000

/** One bar for each of the last `count` UTC days up to today, which is partial. */
export function usageByDay(days: Usage['days'], count: number, now: number): BarPoint[] {
  const sums = new Map<number, number>()
  for (const { day, events } of days) sums.set(Date.parse(day), (sums.get(Date.parse(day)) ?? 0) + events)
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: count }, (_, index) => {
    const start = today - (count - 1 - index) * DAY_MS
    return { start, value: sums.get(start) ?? 0, partial: start === today }
  })
}

/** Events of one domain in the whole period. */
export interface DomainUsage {
  domainId: string
  events: number
  /** Share of all events, from 0 to 1. */
  share: number
}

/** Sums by domain, largest first. */
export function usageByDomain(days: Usage['days']): DomainUsage[] {
  const total = days.reduce((sum, { events }) => sum + events, 0)
  return [...Map.groupBy(days, ({ domainId }) => domainId)]
    .map(([domainId, rows]) => ({ domainId, events: rows.reduce((sum, { events }) => sum + events, 0) }))
    .map((row) => ({ ...row, share: total === 0 ? 0 : row.events / total }))
    .sort((a, b) => b.events - a.events || (a.domainId < b.domainId ? -1 : 1))
}
