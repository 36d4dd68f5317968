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

/** A domain with fewer events within `TRAFFIC_MS` can have no signal. */
const MIN_EVENTS = 100
const TRAFFIC_MS = 36 * DAY_MS

/** The most domains in one query. */
const DOMAINS_AT_ONCE = 500

/** The actor that resolves the issues of an alert that is removed with its domain. */
const ACTOR = 'Tagwarden'

export interface AutoAlertDeps {
  db: Db
  clock: Clock
  warehouse: History
  enqueue: Enqueue
}

/** Returns the job: it creates a domain's automatic alert at its first signal, and removes it with the domain. */
export function autoAlertJob(parts: AutoAlertDeps): () => Promise<void> {
  const signalCache = new SignalCache(parts.warehouse)
  return () => keepAutoAlerts(parts, signalCache)
}

async function keepAutoAlerts({ db, clock, enqueue }: AutoAlertDeps, signalCache: SignalCache): Promise<void> {
  const now = clock.now()
  removeOrphanedAutoAlerts(db, ({ id, orgId }) => resolveAll(db, id, { orgId, by: ACTOR, now }, enqueue))
  const candidates = domainsToAlert(db, now - TRAFFIC_MS, MIN_EVENTS)
  for (const [orgId, ofOrg] of Map.groupBy(candidates, (domain) => domain.orgId)) {
    for (let at = 0; at < ofOrg.length; at += DOMAINS_AT_ONCE) {
      const some = ofOrg.slice(at, at + DOMAINS_AT_ONCE)
      const ids = await withSignals(signalCache, orgId, some, now)
      for (const domain of some) if (ids.has(domain.id)) createAutoAlert(db, clock, domain)
    }
  }
}

/** Returns those of the domains that have a signal today. */
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
