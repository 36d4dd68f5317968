import type { Room } from '../base.ts'
import { CONNECTORS } from '../connectors.ts'
import type { HistoryBase } from '../history-base.ts'
import type { AnyInsight } from '../insights/insight.ts'
import { CHANNELS } from '../integrations/providers/index.ts'
import { formRoutes } from './routes.ts'

export function openForms(_base: HistoryBase, { insights }: { insights: readonly AnyInsight[] }): Room {
  return { routes: formRoutes({ channels: CHANNELS, connectors: CONNECTORS, insights }) }
}
