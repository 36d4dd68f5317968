import { domainsWithAutoAlert } from '../alerts/auto-alert.ts'
import type { Stores } from '../data-folder/open-folder.ts'
import { ClockWatch, clockNotice } from '../jobs/clock-watch.ts'
import { gapNotice } from '../signals/gap.ts'
import { GapWatch } from '../signals/gap-detector.ts'
import { Follower } from '../signals/series-monitor.ts'
import { Suspicion, suspicionNotice } from '../signals/server-outage.ts'
import { settingsOf } from '../signals/signal-setting-store.ts'
import { forSignals } from '../warehouse/warehouse.ts'
import type { Base } from './base.ts'

/** What follows the counts of tags, and detects gaps of collection. */
export interface Watching {
  clockWatch: ClockWatch
  gaps: GapWatch
  follower: Follower
  suspicion: Suspicion
}

export function openWatching({ clock, report, notifyOperator }: Base, stores: Stores): Watching {
  const { db, spool, warehouse } = stores
  const clockWatch = new ClockWatch({
    ...{ db, clock, spool, warehouse },
    stepped: (step) => notifyOperator(clockNotice(step)),
  })
  const gaps = new GapWatch({ db, clock, report, began: (gap) => notifyOperator(gapNotice(gap)) })
  const follower = new Follower({
    warehouse: forSignals(warehouse),
    gapsOf: (from, to) => gaps.gapsOf(from, to),
    settingsOf: (orgId) => settingsOf(db, orgId),
  })
  const suspicion = new Suspicion({
    ...{ warehouse, follower },
    domains: () => domainsWithAutoAlert(db),
    arose: (at) => notifyOperator(suspicionNotice(at)),
  })
  return { clockWatch, gaps, follower, suspicion }
}
