import type { StreamedKind } from '../contract/statuses.ts'
import type { WatchedTable } from '../store/watch-table-rows.ts'

/** Columns that are published in addition to the id. */
const ISSUE_COLUMNS = ['status', 'severity', 'alertId', 'domainId'] as const
const DELIVERY_COLUMNS = ['issueId', 'status'] as const

/** SQL for the organization that owns the row's domain. */
const DOMAINS_ORG = '(SELECT orgId FROM domain WHERE id = ROW.domainId)'

/** Tables whose changes are streamed. `silent` columns are not part of any response, or change constantly. */
export const WATCHED: readonly (WatchedTable & { kind: StreamedKind })[] = [
  {
    kind: 'issue',
    table: 'issue',
    columns: ISSUE_COLUMNS,
    silent: ['heldBack', 'statusBy', 'resolutionToldAt', 'clearWindows', 'firing', 'firedWindowAt', 'evidence'],
    deletes: 'nothing',
  },
  {
    kind: 'delivery',
    table: 'delivery',
    columns: DELIVERY_COLUMNS,
    silent: ['message', 'behind', 'groupId', 'throttleAt', 'expiresAt', 'dueAt'],
    deletes: 'nothing',
  },
  { kind: 'alert', table: 'alert', silent: ['evaluatedThrough', 'windowStartAt', 'cost', 'dueAt'] },
  {
    kind: 'domain',
    table: 'domain',
    silent: ['lastEventAt', 'collectCheckedAt', 'legacyScriptAt', 'screenshotBase64'],
    firsts: ['lastEventAt'],
  },
  {
    kind: 'domain',
    table: 'hostname',
    id: 'ROW.domainId',
    orgId: DOMAINS_ORG,
    silent: ['firstSeenAt', 'lastSeenAt'],
    deletes: 'nothing',
  },
  { kind: 'signal', table: 'signalSetting', id: 'ROW.domainId', silent: ['updatedAt'], deletes: 'changed' },
  { kind: 'change', table: 'change', silent: ['lookAt'] },
  { kind: 'run', table: 'flowRun' },
  { kind: 'run', table: 'audit', silent: ['nextAt'] },
  { kind: 'integration', table: 'integration', silent: ['secrets', 'inboundHash', 'state'] },
]
