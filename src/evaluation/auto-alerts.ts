import {
  type AutoAlertDomain,
  createAutoAlert,
  domainsToAlert,
  removeOrphanedAutoAlerts,
} from '../alerts/auto-alert.ts'
import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import type { Enqueue } from '../issues/issue.ts'
import { resolveAll } from '../issues/store.ts'
import { dayOf } from '../signals/active-signals.ts'
import { SignalCache } from '../signals/signal-cache.ts'
import type { Db } from '../store/database.ts'
import type { History } from '../warehouse/warehouse.ts'

/** A domain with fewer events than this within `TRAFFIC_MS` can't have a signal. */
const MIN_EVENTS = 100
const TRAFFIC_MS = 36 * DAY_MS

/** Maximum number of domains per query. */
const MAX_QUERY_DOMAINS = 500

/** The actor recorded for issues that are resolved when an alert is removed with its domain. */
const ACTOR = 'Tagwarden'

export interface AutoAlertDeps {
  db: Db
  clock: Clock
  warehouse: History
  enqueue: Enqueue
}

/**
 * Returns the job that creates a domain's automatic alert when the domain's first signal appears, and deletes the alert
 * together with the domain.
 */
export function autoAlertJob(parts: AutoAlertDeps): () => Promise<void> {
  const directory = new SignalCache(parts.warehouse)
  return () => syncAutoAlerts(parts, directory)
}

async function syncAutoAlerts({ db, clock, enqueue }: AutoAlertDeps, directory: SignalCache): Promise<void> {
  const now = clock.now()
  removeOrphanedAutoAlerts(db, ({ id, orgId }) => resolveAll(db, id, { orgId, by: ACTOR, now }, enqueue))
  const candidates = domainsToAlert(db, now - TRAFFIC_MS, MIN_EVENTS)
  for (const [orgId, ofOrg] of Map.groupBy(candidates, (domain) => domain.orgId)) {
    for (let at = 0; at < ofOrg.length; at += MAX_QUERY_DOMAINS) {
      const some = ofOrg.slice(at, at + MAX_QUERY_DOMAINS)
      const ids = await withSignals(directory, orgId, some, now)
      for (const domain of some) if (ids.has(domain.id)) createAutoAlert(db, clock, domain)
    }
  }
}

/** Returns the ids of the domains that have a signal today. */
async function withSignals(
  signalCache: SignalCache,
  orgId: string,
  domains: readonly AutoAlertDomain[],
  now: Instant,
): Promise<Set<string>> {
  const ids = domains.map(({ id }) => id)
  const found = await signalCache.find(orgId, ids, { from: now - 1, to: now })
  return new Set(ids.filter((id) => (found.get(id)?.get(dayOf(now)) ?? []).length > 0))
}
