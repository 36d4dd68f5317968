import type { PhoneRegions } from '../conditions/phone.ts'
import { MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { Finding } from './finding.ts'

/** Events of one domain, vendor and event name in a window: a sum of weights. */
export interface TotalRow {
  domainId: string
  vendor: string
  event: string
  count: number
}

/** Beyond so many findings at once nobody is told how many events were fine. */
const MAX_FINDINGS = 100

/**
 * Asks for the events among which those of the findings are. Null where there is nothing to ask for, and where counts,
 * which are kept by the minute, don't know the window.
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

/** How many events there were like those of a finding, these included; null when that is not known. */
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

export interface Known {
  /** The event of the finding's sample; null when it is not there any more. */
  event: StoredEvent | null
  /** The name of all events of the finding as people may see it; null when there are several. */
  name: string | null
  /** The answer to `totalsQuery`. */
  totals: readonly TotalRow[]
  regions: PhoneRegions
}
