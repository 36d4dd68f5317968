import { DAY_MS, type Instant } from '../core/clock.ts'
import { type Query, query } from '../warehouse/query.ts'
import { OTHER } from '../warehouse/relation-columns.ts'
import type { Span } from './series.ts'

/** Minimum number of events in a week for an event name to become a signal. */
const MIN_WEEKLY_EVENTS = 100
const WEEK_DAYS = 7
/**
 * Time for which a name remains a signal after its last week with that many events, so that the issue of a dead tag is
 * not resolved automatically.
 */
const RETENTION_DAYS = 28
/** Maximum number of signals per domain. The signals with the most traffic are used. */
export const MAX_SIGNALS = 500

/** One event name of one vendor. */
export interface SignalName {
  vendor: string
  event: string
}

/** Events with one name by day. Days are counted from 1970. */
export interface DailyEvents extends SignalName {
  domainId: string
  days: number[]
  counts: number[]
}

export const dayOf = (instant: Instant) => Math.floor(instant / DAY_MS)

/**
 * Returns the query for the daily counts that determine the signals of these domains in `from <= t <= to`. The name
 * `(other)` is excluded, because the names that it combines change.
 */
export function dailyEventsQuery(orgId: string, domainIds: readonly string[], { from, to }: Span): Query {
  return query('signals.daily-events', {
    over: 'counts',
    orgId,
    window: { from: (dayOf(from) - RETENTION_DAYS - WEEK_DAYS + 1) * DAY_MS, to: dayOf(to) * DAY_MS },
    write(binder) {
      const other = binder.bind(OTHER)
      const where = [...binder.among('domainId', domainIds), `vendor <> ${other}`, `event <> ${other}`]
      return {
        sql: `SELECT domainId, vendor, event, array_agg(CAST("day" AS INTEGER)) AS days,
            array_agg(CAST(events AS DOUBLE)) AS counts
          FROM (
            SELECT domainId, vendor, event, ${binder.dialect.quotient('minute', DAY_MS)} AS "day", sum(events) AS events
            FROM counts WHERE ${where.join(' AND ')} GROUP BY ALL
          )
          GROUP BY domainId, vendor, event HAVING sum(events) >= ${MIN_WEEKLY_EVENTS}`,
      }
    },
  })
}

/**
 * Returns the signals of one domain on a UTC day. A signal is a name with at least 100 events in any 7-day period that
 * ended in the last four weeks, excluding the given day. Most traffic first, at most 500.
 */
export function activeSignalsOn(day: number, daily: readonly DailyEvents[]): SignalName[] {
  const names = daily.flatMap(({ vendor, event, days, counts }) => {
    const byDay = new Map(days.map((day, at) => [day, counts[at] ?? 0]))
    const most = maxWeeklyEvents(day, byDay)
    return most >= MIN_WEEKLY_EVENTS ? [{ vendor, event, most }] : []
  })
  return names
    .sort((a, b) => b.most - a.most || compare(a.vendor, b.vendor) || compare(a.event, b.event))
    .slice(0, MAX_SIGNALS)
    .map(({ vendor, event }) => ({ vendor, event }))
}

function maxWeeklyEvents(day: number, byDay: ReadonlyMap<number, number>): number {
  let most = 0
  for (let end = day - RETENTION_DAYS; end < day; end++) {
    let week = 0
    for (let at = end - WEEK_DAYS + 1; at <= end; at++) week += byDay.get(at) ?? 0
    most = Math.max(most, week)
  }
  return most
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
