import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { normal, poisson, profileAt, type Random } from '../detector/series.fixture.ts'
import { GapRows } from './gap-rows.ts'
import { type Series, SIGNAL_STEP_MS, type Span } from './series.ts'
import { RowCounts } from './series-counts.ts'
import { SeriesTracker } from './series-tracker.ts'
import type { VerdictRow } from './verdict-row.ts'
import { type ScopeMember, VerdictTable } from './verdict-table.ts'

/** A site and the behaviour of its visitors. */
export interface Site {
  visitsPerDay: number
  /** Average number of pages per visit, and minutes per page. */
  pages: number
  minutesPerPage: number
  /** Number of times that each event is sent per page; a value below 1 is a probability. */
  events: Readonly<Record<string, number>>
}

/** A shop whose pages send four events at once. */
export const shop = (visitsPerDay: number): Site => ({
  visitsPerDay,
  pages: 3,
  minutesPerPage: 1,
  events: { page_view: 1, view_item_list: 1, PageView: 1, scroll: 0.7, purchase: 0.01 },
})

/** A site on which each visit sends one event. */
export const plain = (visitsPerDay: number): Site => ({
  visitsPerDay,
  pages: 1,
  minutesPerPage: 0,
  events: { page_view: 1 },
})

/** Number of events of each kind by minute, starting at midnight on a Monday. */
export type Minutes = Map<string, Uint16Array>

/**
 * Generates random visits: few at night, fewer on weekends, with variation between days, and half as many from
 * `halvedFrom` (in days) on.
 */
export function visitsOf(site: Site, days: number, random: Random, halvedFrom = days): Minutes {
  const { visitsPerDay, pages, minutesPerPage, events } = site
  const size = days * 24 * 60
  const minutes: Minutes = new Map(Object.keys(events).map((event) => [event, new Uint16Array(size)]))
  let ofDay = 1
  for (let hour = 0; hour < days * 24; hour++) {
    if (hour % 24 === 0) ofDay = Math.exp(0.1 * normal(random))
    const share = hour < halvedFrom * 24 ? 1 : 0.5
    const usual = (visitsPerDay / 24) * profileAt(hour % 168) * ofDay
    for (let left = poisson(usual * share, random); left > 0; left--) {
      let at = (hour + random()) * 60
      do {
        for (const [event, share] of Object.entries(events)) {
          const counts = minutes.get(event)
          const minute = Math.floor(at)
          if (counts && minute < size && random() < share) counts[minute] = (counts[minute] ?? 0) + 1
        }
        at -= minutesPerPage * Math.log(1 - random())
      } while (random() < 1 - 1 / pages)
    }
  }
  return minutes
}

/** Midnight on a Monday. */
const START = Date.UTC(2026, 0, 5)

/** A period without events, in days from the start. */
export interface Outage {
  from: number
  to: number
}

/**
 * Monitors a domain from its first event. Returns the verdicts on each hour that ends in the given range (in days):
 * first for its total traffic, then for its signals.
 */
export function verdictsOn(minutes: Minutes, days: { from: number; to: number }, outage?: Outage): VerdictRow[][] {
  const span: Span = { from: START + days.from * DAY_MS, to: START + days.to * DAY_MS }
  const rows = Math.round((span.to - span.from) / HOUR_MS)
  const windows = Array.from({ length: rows }, (_, row) => ({
    from: span.from + row * HOUR_MS,
    to: span.from + (row + 1) * HOUR_MS,
  }))
  const table = new VerdictTable(windows, [null], () => true)
  const series: Series = {
    orgId: 'o',
    domainId: 'd',
    vendor: null,
    event: null,
    stepMs: SIGNAL_STEP_MS,
    timezone: 'UTC',
  }
  const scope = { ...series, vendor: '*', sensitivity: 5 }
  const members: [ScopeMember, Uint16Array[]][] = [
    [{ scope, series, role: 'whole', muted: false, sensitivities: [5] }, [...minutes.values()]],
    ...[...minutes].map(([event, counts]): [ScopeMember, Uint16Array[]] => [
      { scope, series: { ...series, vendor: 'v', event }, role: 'signal', muted: false, sensitivities: [5] },
      [counts],
    ]),
  ]
  for (const [member, counts] of members) {
    const weekly = (7 * counts.reduce((sum, one) => sum + one.reduce((a, b) => a + b, 0), 0)) / days.to
    if (member.role === 'signal' && weekly < 100) continue
    const block = { from: START, to: span.to + 1, anchor: START }
    const tracker = new SeriesTracker(member.series, block, [5], START)
    tracker.advance(rowsOf(counts, days.to, outage), span.to, new GapRows([], series), table.sink(member, [5]))
  }
  const [verdicts = []] = table.rows()
  return verdicts
}

function rowsOf(events: readonly Uint16Array[], days: number, outage: Outage = { from: 0, to: 0 }): RowCounts {
  const [from, to] = [outage.from, outage.to].map((day) => Math.round(day * 24 * 60))
  const counts = new RowCounts(START, SIGNAL_STEP_MS, Math.ceil(days * 24))
  for (let row = 0; row < days * 24; row++) {
    const bits = [0, 0]
    let sum = 0
    for (let minute = 0; minute < 60; minute++) {
      const at = row * 60 + minute
      if (at >= (from ?? 0) && at < (to ?? 0)) continue
      const own = events.reduce((total, one) => total + (one[at] ?? 0), 0)
      if (own === 0) continue
      sum += own
      const half = Math.floor(minute / 30)
      bits[half] = (bits[half] ?? 0) | (1 << (minute % 30))
    }
    const [early = 0, late = 0] = bits
    counts.set(row, { weight: sum, events: sum, early, late })
  }
  return counts
}

/** Times of alarms about total traffic, in days from the start. */
export const fallsIn = (verdicts: readonly VerdictRow[][]): number[] =>
  verdicts.flat().flatMap(({ alarm, explains, at }) => (alarm && explains ? [(at - START) / DAY_MS] : []))
