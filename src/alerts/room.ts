import type { Room } from '../base.ts'
import type { CalendarsRoom } from '../calendars/room.ts'
import type { Emitter } from '../core/emitter.ts'
import type { StoredEvent } from '../core/event.ts'
import type { HistoryBase } from '../history-base.ts'
import type { Verdicts } from '../ingest/judging-queue.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { settingsOf } from '../signals/signal-setting-store.ts'
import { ActiveRules } from './active-rules.ts'
import { previewRoutes } from './alert-preview-routes.ts'
import { type AlertRouteDeps, alertRoutes } from './alert-routes.ts'
import { JudgeProcess } from './judge-process.ts'

export interface AlertsRoom extends Room {
  rules: ActiveRules
  /** Evaluates batches in a separate process. */
  judgeProcess: JudgeProcess
  /**
   * Returns, for each event, the ids of the active alerts whose rules it violates; null for an event whose evaluation
   * timed out.
   */
  judgeEvents(orgId: string, events: readonly StoredEvent[]): Promise<Verdicts>
}

interface Deps extends Pick<AlertRouteDeps, 'checkChannels' | 'deleted' | 'openIssues' | 'issueStates' | 'isLearning'> {
  org: { changed: Emitter<string>; deleted: Emitter<string> }
  labels: { changed: Emitter<string> }
  signals: SignalsRoom
  holidaysOf: CalendarsRoom['holidaysOf']
}

/** Creates the alerts room and reads the rules. */
export function openAlerts(base: HistoryBase, { org, labels, signals, holidaysOf, ...deps }: Deps): AlertsRoom {
  const { db, box, clock, warehouse, privacyOf } = base
  const rules = new ActiveRules(db, (orgId) => privacyOf(orgId).regions)
  const judgeProcess = new JudgeProcess(rules)
  rules.onChange((orgId, id, rule) => judgeProcess.changed(orgId, id, rule))
  rules.refresh()
  org.changed.subscribe(rules.organizationChanged)
  org.deleted.subscribe(() => rules.changed())
  labels.changed.subscribe(rules.labelsChanged)
  return {
    rules,
    judgeProcess,
    judgeEvents: async (orgId, events) => rules.judgeAll(orgId, events) ?? judgeProcess.judge(orgId, events),
    routes: [
      ...alertRoutes({ ...deps, db, box, clock, changed: rules.changed, lateShareOf: rules.lateShareOf }),
      ...previewRoutes({
        db,
        clock,
        warehouse,
        privacyOf,
        gapsOf: (from, to) => signals.gaps.gapsOf(from, to),
        settingsOf: (orgId) => settingsOf(db, orgId),
        holidaysOf,
      }),
    ],
  }
}
