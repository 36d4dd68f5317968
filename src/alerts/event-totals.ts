import type { PhoneRegions } from '../conditions/find-phone-numbers.ts'
import { MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { Finding } from './finding.ts'

/** The number of events (sum of weights) with one domain, vendor and event name in a window. */
export interface TotalRow {
  domainId: string
  vendor: string
  event: string
  count: number
}

/** Maximum number of findings for which totals are queried. Above this number, summaries omit totals. */
const MAX_FINDINGS = 100

/**
 * Returns the query for the number of events with the findings' domains, vendors and event names. Null when no finding
 * has a domain or there are too many findings. Also null when the window does not begin at a whole minute, because
 * counts are stored per minute.
 */
export function totalsQuery(orgId: string, findings: readonly Finding[], window: Query['window']): Query | null {
  const domainIds = findings.flatMap(({ domainId }) => domainId ?? [])
  if (domainIds.length === 0 || findings.length > MAX_FINDINGS || window.from % MINUTE_MS !== 0) return null
  const named = (names: readonly (string | null)[]) =>
    names.includes(null) ? [] : [...new Set(names.flatMap((name) => name ?? []))]
  const vendors = named(findings.map(({ vendor }) => vendor))
  const events = named(findings.map(({ event }) => event))
  return query('alerts.totals', {
    over: 'counts',
    orgId,
    window,
    write(binder) {
      const where = [
        ...binder.among('domainId', domainIds),
        ...binder.among('vendor', vendors),
        ...binder.among('event', events),
      ]
      return {
        sql: `SELECT domainId, vendor, event, sum(weight) AS "count" FROM counts WHERE ${where.join(' AND ')} GROUP BY ALL`,
      }
    },
  })
}

/**
 * Returns the number of events with the finding's vendor and event name, including violating ones; null when unknown.
 */
export function totalOf({ domainId, vendor, event, occurrences }: Finding, rows: readonly TotalRow[]): number | null {
  const like = rows.filter(
    (row) =>
      row.domainId === domainId &&
      (vendor === null || row.vendor === vendor) &&
      (event === null || row.event === event),
  )
  const total = Math.round(like.reduce((sum, { count }) => sum + count, 0))
  return total < occurrences ? null : total
}

export interface ExplainContext {
  /** The finding's sample event; null when it no longer exists. */
  event: StoredEvent | null
  /** The event name shared by all of the finding's events, with personal data masked; null when the names differ. */
  name: string | null
  /** The result of `totalsQuery`. */
  totals: readonly TotalRow[]
  regions: PhoneRegions
}
