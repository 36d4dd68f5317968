import { watchedDomains } from '../alerts/alert-store.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { type Privacy, privacyFrom } from '../conditions/privacy-settings.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { may } from '../http/permission.ts'
import { type Route, route } from '../http/route.ts'
import { privacySettings } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import { type History, type Lane, withSignal } from '../warehouse/warehouse.ts'
import type { AnyInsight, Sources } from './insight.ts'
import { signalScope } from './series-scope.ts'

export interface InsightRouteDeps {
  db: Db
  warehouse: History
  seriesMonitor: Sources['seriesMonitor']
  clock: Clock
  /** Returns the time up to which counts are complete. */
  watermark(): Instant
  /** Retention time of events. */
  retentionMs: number
  /** As in `Sources`. */
  maxEventsRead: number
}

/** Returns one `GET` route per insight. */
export function insightRoutes(parts: InsightRouteDeps, insights: readonly AnyInsight[]): Route[] {
  return insights.map(({ path, params, input, output, exports, answer, isQuick = false, isTool = true, ...rest }) =>
    route({
      access: 'read',
      tag: 'Insights',
      ...rest,
      method: 'GET',
      path: `/v1${path}`,
      tool: isTool,
      question: isQuick || 'insights',
      ...(params ? { params } : {}),
      ...(input ? { query: input } : {}),
      answer: output,
      // An insight without a list is exported as one row.
      exports: exports ?? { row: output, rowsOf: (row) => [row] },
      handle({ principal, params, query, signal }) {
        const sources = sourcesFor(parts, principal.orgId, signal, isQuick ? 'search' : 'insights')
        const asked = may(principal, 'seePersonal') ? query : withMaskedNames(query, sources.privacy())
        return answer(sources, { ...params, ...asked } as never, { principal, now: parts.clock.now() })
      },
    }),
  )
}

const NAMES = ['vendor', 'event'] as const

/**
 * Returns the query with personal data masked in the requested names. A masked name is compared as a whole, so callers
 * cannot find out whether a name that they must not see exists.
 */
function withMaskedNames<Q extends object>(query: Q, privacy: Privacy): Q {
  const asked: { vendor?: unknown; event?: unknown } = query
  const masked = NAMES.flatMap((name) => {
    const text = asked[name]
    return typeof text === 'string' ? [[name, maskPersonal(text, `$${name}`, privacy)]] : []
  })
  return { ...query, ...Object.fromEntries(masked) }
}

/** Returns the data sources for one organization. Queries are cancelled when `signal` is aborted. */
export function sourcesFor(parts: InsightRouteDeps, orgId: string, signal: AbortSignal, lane: Lane): Sources {
  const { db, warehouse, seriesMonitor, watermark, retentionMs, maxEventsRead } = parts
  return {
    db,
    seriesMonitor,
    watermark,
    retentionMs,
    maxEventsRead,
    history: withSignal(warehouse, signal, lane),
    domains: () => watchedDomains(db, orgId),
    privacy: () => privacyFrom(privacySettings(db, orgId)),
    chart: (series, range) => seriesMonitor.chart(signalScope(db, { ...series, orgId }), range, watermark()),
  }
}
