import { domainsWithAutoAlert } from '../alerts/auto-alert.ts'
import type { Stores } from '../data-folder/open-folder.ts'
import { ClockWatch, clockNotice } from '../data-folder/clock-watch.ts'
import { gapNotice } from '../signals/gap.ts'
import { GapDetector } from '../signals/gap-detector.ts'
import { SeriesMonitor } from '../signals/series-monitor.ts'
import { ServerOutageDetector, serverOutageNotice } from '../signals/server-outage.ts'
import { settingsOf } from '../signals/signal-setting-store.ts'
import { forSignals } from '../warehouse/warehouse.ts'
import type { Base } from './base.ts'

/** The components that monitor event counts and detect gaps in collection. */
export interface Watching {
  clockWatch: ClockWatch
  gaps: GapDetector
  seriesMonitor: SeriesMonitor
  serverOutage: ServerOutageDetector
}

export function openWatching({ clock, report, notifyOperator }: Base, stores: Stores): Watching {
  const { db, spool, warehouse } = stores
  const clockWatch = new ClockWatch({
    ...{ db, clock, spool, warehouse },
    stepped: (step) => notifyOperator(clockNotice(step)),
  })
  const gaps = new GapDetector({ db, clock, reportError: report, onGap: (gap) => notifyOperator(gapNotice(gap)) })
  const seriesMonitor = new SeriesMonitor({
    warehouse: forSignals(warehouse),
    gapsOf: (from, to) => gaps.gapsOf(from, to),
    settingsOf: (orgId) => settingsOf(db, orgId),
  })
  const serverOutage = new ServerOutageDetector({
    ...{ warehouse, seriesMonitor },
    domains: () => domainsWithAutoAlert(db),
    onSuspected: (at) => notifyOperator(serverOutageNotice(at)),
  })
  return { clockWatch, gaps, seriesMonitor, serverOutage }
}
