import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { insights as own } from './index.ts'
import type { AnyInsight } from './insight.ts'
import { insightRoutes } from './routes.ts'

export interface InsightsRoom extends Room {
  insights: readonly AnyInsight[]
}

interface Deps {
  signals: SignalsRoom
  /** Insights defined in later modules. */
  others: readonly AnyInsight[]
}

export function openInsights(base: HistoryBase, { signals: { seriesMonitor }, others }: Deps): InsightsRoom {
  const { db, clock, warehouse, watermark, retentionMs, maxEventsRead } = base
  const insights = [...own, ...others]
  const deps = { db, clock, warehouse, watermark, retentionMs, maxEventsRead, seriesMonitor }
  return { insights, routes: insightRoutes(deps, insights) }
}
