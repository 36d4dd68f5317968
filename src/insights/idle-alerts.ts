import { type Alert, domainsOf } from '../alerts/alert.ts'
import { alertsOf } from '../alerts/alert-store.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { type Query, query } from '../warehouse/query.ts'
import { OTHER } from '../warehouse/relation-columns.ts'
import { COUNT_RETENTION_MS } from './count-series.ts'
import type { Sources } from './insight.ts'
import { admits } from './suggest-rules.ts'

/** Events with one name in one domain, and the start of the minute in which the most recent of them was received. */
interface NameRow {
  domainId: string
  vendor: string
  event: string
  lastAt: Instant
}

export interface IdleAlert {
  alertId: string
  name: string
  lastEventAt: Instant | null
}

/**
 * Returns the enabled alerts whose scope has had no events in the last `days`, oldest first. The scope consists of
 * domain, vendor and event name; other filters are ignored. An alert is omitted when its events may be among the
 * uncounted names.
 *
 * `lastEventAt`: the minute of the most recent event in the scope; null when unknown. `domainIds`: only alerts on one
 * of these domains; null for all.
 */
export async function idleAlerts(
  { db, history }: Pick<Sources, 'db' | 'history'>,
  orgId: string,
  { domainIds, days, now }: { domainIds: readonly string[] | null; days: number; now: Instant },
): Promise<IdleAlert[]> {
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const recent = await history.query<NameRow>(lastEventsQuery(orgId, { from: minute - days * DAY_MS, to: now + 1 }))
  const isWatching = (alert: Alert) => {
    const domains = domainsOf(alert)
    return alert.enabled && (domainIds === null || domains.length === 0 || domains.some((id) => domainIds.includes(id)))
  }
  const idle = alertsOf(db, orgId).filter(
    (alert) => isWatching(alert) && !recent.some((row) => row.event === OTHER || sees(alert, row)),
  )
  if (idle.length === 0) return []
  const ever = await history.query<NameRow>(lastEventsQuery(orgId, { from: minute - COUNT_RETENTION_MS, to: now + 1 }))
  return idle.map((alert) => {
    const own = ever.filter((row) => sees(alert, row)).map(({ lastAt }) => lastAt)
    return { alertId: alert.id, name: alert.name, lastEventAt: own.length > 0 ? Math.max(...own) : null }
  })
}

/** Returns whether events with this name are in the scope of the alert. */
function sees(alert: Alert, { domainId, vendor, event }: NameRow): boolean {
  const scope = alertTypeOf(alert.alertType).scope(alert)
  const domains = domainsOf(alert)
  return (
    (domains.length === 0 || domains.includes(domainId)) &&
    (scope.vendors.length === 0 || scope.vendors.includes(vendor)) &&
    (scope.event === null || scope.event === event) &&
    (alert.filters ?? []).every((filter) => admits(filter, event))
  )
}

/** Returns the query for the most recent minute with events, by name. */
export function lastEventsQuery(orgId: string, window: Query['window']): Query {
  return query('insights.last-events', {
    over: 'counts' as const,
    orgId,
    window,
    write: () => ({ sql: 'SELECT domainId, vendor, event, max(minute) AS lastAt FROM counts GROUP BY ALL' }),
  })
}
