import { DAY_MS } from '../core/clock.ts'
import { SeriesMonitor } from '../signals/series-monitor.ts'
import { settingsOf } from '../signals/signal-setting-store.ts'
import type { InsightRouteDeps } from './routes.ts'

type Given = Pick<InsightRouteDeps, 'db' | 'clock' | 'warehouse'> & Partial<InsightRouteDeps>

/**
 * Returns the dependencies of insights on this history. By default, counts are complete up to now, without gaps, and
 * nothing is sampled.
 */
export function insightDeps(given: Given): InsightRouteDeps {
  const { db, clock, warehouse } = given
  return {
    seriesMonitor: new SeriesMonitor({ warehouse, gapsOf: () => [], settingsOf: (orgId) => settingsOf(db, orgId) }),
    watermark: () => clock.now(),
    retentionMs: 90 * DAY_MS,
    maxEventsRead: Number.POSITIVE_INFINITY,
    ...given,
  }
}
