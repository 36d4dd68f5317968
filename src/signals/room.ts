import type { Room } from '../base.ts'
import type { CalendarsRoom } from '../calendars/room.ts'
import type { HistoryBase } from '../history-base.ts'
import { forSignals } from '../warehouse/warehouse.ts'
import { gapNotice } from './gap.ts'
import { GapDetector } from './gap-detector.ts'
import { SeriesMonitor } from './series-monitor.ts'
import { type ServerOutageDeps, ServerOutageDetector, serverOutageNotice } from './server-outage.ts'
import { signalRoutes } from './signal-routes.ts'
import { settingsOf } from './signal-setting-store.ts'

/** Monitors event counts and detects gaps in collection. */
export interface SignalsRoom extends Room {
  gaps: GapDetector
  seriesMonitor: SeriesMonitor
  serverOutage: ServerOutageDetector
}

interface Deps extends Pick<ServerOutageDeps, 'domains'>, Pick<CalendarsRoom, 'holidaysOf'> {}

export function openSignals(base: HistoryBase, { domains, holidaysOf }: Deps): SignalsRoom {
  const { db, clock, warehouse, report, notifyOperator } = base
  const gaps = new GapDetector({
    db,
    clock,
    reportError: report,
    onGap: (gap, collector) => notifyOperator(gapNotice(gap, collector)),
  })
  const seriesMonitor = new SeriesMonitor({
    warehouse: forSignals(warehouse),
    gapsOf: (from, to) => gaps.gapsOf(from, to),
    settingsOf: (orgId) => settingsOf(db, orgId),
    holidaysOf,
  })
  const serverOutage = new ServerOutageDetector({
    warehouse,
    seriesMonitor,
    domains,
    onSuspected: (at) => notifyOperator(serverOutageNotice(at)),
  })
  return { gaps, seriesMonitor, serverOutage, routes: signalRoutes({ db, clock }), close: () => gaps.close() }
}
