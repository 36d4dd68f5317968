import { findAlert } from '../alerts/alert-store.ts'
import type { AlertsRoom } from '../alerts/room.ts'
import type { Room } from '../base.ts'
import { addressCheck } from '../browser/check-browser-url.ts'
import type { BrowserRoom } from '../browser/room.ts'
import { resolveLabels } from '../conditions/label-conditions.ts'
import { orNull } from '../core/error.ts'
import type { HistoryBase } from '../history-base.ts'
import { channelCheck } from '../integrations/channel-targets.ts'
import type { Enqueue } from '../issues/issue.ts'
import { resolveAll } from '../issues/store.ts'
import { membersOf } from '../labels/store.ts'
import { privacySettings } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import { draftRoutes } from './draft-routes.ts'
import { FlowRuns } from './flow-runner.ts'
import { planRuns } from './plan-runs.ts'
import { flowTestRoutes } from './routes.ts'
import type { Rules } from './rule-findings.ts'
import type { RunFiles } from './run-files.ts'
import { type RunRouteDeps, runRoutes } from './run-routes.ts'

interface Deps extends Pick<RunRouteDeps, 'sharesOf'> {
  browser: BrowserRoom
  alerts: Pick<AlertsRoom, 'judgeEvents'>
  runFiles: RunFiles
  enqueue: Enqueue
}

/** Creates the module for flow tests. Marks runs that were interrupted by a shutdown or crash as failed. */
export function openFlows(base: HistoryBase, deps: Deps): Room {
  const { db, box, clock, config, warehouse, retentionMs, privacyOf, report } = base
  const { browser, alerts, runFiles, enqueue, sharesOf } = deps
  const { browsers } = browser
  const { region } = config
  const rulesOf = (orgId: string): Rules => ({
    judge: (events) => alerts.judgeEvents(orgId, events),
    alertOf: (id) => alertWithLabels(db, { orgId, id }),
    privacy: privacyOf(orgId),
  })
  const flowRuns = new FlowRuns({
    db,
    box,
    clock,
    browsers,
    files: runFiles,
    rulesOf,
    privacyOf,
    enqueue,
    report,
  })
  const fault = () => browsers.fault()
  return {
    routes: [
      ...flowTestRoutes({
        db,
        box,
        clock,
        region,
        fault,
        checkAddress: addressCheck(config.outboundAllow),
        checkChannels: channelCheck(base),
        start: () => flowRuns.start(),
        deleted: ({ id, orgId }, by) => resolveAll(db, id, { orgId, by, now: clock.now() }, enqueue),
        cancel: (testId) => flowRuns.cancel(testId),
      }),
      ...runRoutes({ db, clock, files: runFiles, privacyOf, sharesOf, stop: (runId) => flowRuns.stop(runId) }),
      ...draftRoutes({
        db,
        clock,
        warehouse,
        retentionMs,
        privacySettingsOf: (orgId) => privacySettings(db, orgId),
      }),
    ],
    jobs: [
      {
        name: 'run flow tests',
        isOutbound: true,
        pattern: '* * * * * *',
        async run() {
          planRuns({ db, clock, region, fault })
          flowRuns.start()
        },
      },
    ],
    idle: () => flowRuns.idle(),
    stop: () => flowRuns.close(),
  }
}

/** Returns the alert with its labels resolved; null if it has been deleted. */
function alertWithLabels(db: Db, key: { orgId: string; id: string }) {
  const alert = orNull(() => findAlert(db, key))
  return alert && resolveLabels(alert, membersOf(db, key.orgId))
}
