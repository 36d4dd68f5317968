import { findAlert } from '../alerts/alert-store.ts'
import { AuditRuns } from '../audits/audit-runs.ts'
import { Browsers } from '../browser/browsers.ts'
import { resolveLabels } from '../conditions/label-conditions.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { AppError } from '../core/error.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import type { Stores } from '../data-folder/open-folder.ts'
import { FlowRuns } from '../flows/flow-runs.ts'
import type { Rules } from '../flows/rule-findings.ts'
import type { RunFiles } from '../flows/run-files.ts'
import type { Enqueue } from '../issues/issue.ts'
import { membersOf } from '../labels/store.ts'
import type { BaseDeps } from './base-deps.ts'
import type { CollectorComponents } from './open-collector.ts'

/** The components that run flow tests and audits in browsers. */
export interface Browsing {
  browsers: Browsers
  runFiles: RunFiles
  flowRuns: FlowRuns
  audits: AuditRuns
}

interface Needs {
  stores: Stores
  collecting: Pick<CollectorComponents, 'judgeEvents'>
  enqueue: Enqueue
  privacyOf(orgId: string): Privacy
  runFiles: RunFiles
}

/** Opens the browsers, flow tests and audits. Runs interrupted by a stop or kill are marked as failed. */
export function openBrowsing({ config, clock, report }: BaseDeps, needs: Needs): Browsing {
  const { stores, collecting, enqueue, privacyOf, runFiles } = needs
  const { db, box } = stores
  const paths = folderPaths(config.data)
  const browsers = new Browsers({
    chromium: config.chromium,
    folder: paths.browsers,
    concurrency: config.flowConcurrency,
    outboundAllow: config.outboundAllow,
    outboundProxy: config.outboundProxy,
    outboundCa: config.outboundCa,
  })
  const rulesOf = (orgId: string): Rules => ({
    judge: (events) => collecting.judgeEvents(orgId, events),
    alertOf: (id) => alertWithLabels(stores, { orgId, id }),
    privacy: privacyOf(orgId),
  })
  const flowRuns = new FlowRuns({ db, box, clock, browsers, files: runFiles, rulesOf, privacyOf, enqueue, report })
  const audits = new AuditRuns({ db, clock, browsers, enqueue, privacyOf, report })
  return { browsers, runFiles, flowRuns, audits }
}

/** Returns the alert with its labels resolved; null if it has been deleted. */
function alertWithLabels({ db }: Stores, key: { orgId: string; id: string }) {
  try {
    return resolveLabels(findAlert(db, key), membersOf(db, key.orgId))
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') return null
    throw error
  }
}
