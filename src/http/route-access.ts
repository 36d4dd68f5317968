import type { KeyScope } from '../contract/key-scopes.ts'
import { AppError } from '../core/error.ts'
import { may, PERMISSIONS, requirePermission } from './permission.ts'
import type { Principal } from './principal.ts'
import type { Route } from './route.ts'

/** Ids of the routes that write, by the scope of API keys that includes them. All others require `all`. */
const WRITE_SCOPES: Readonly<Record<Exclude<KeyScope, 'read' | 'all'>, readonly string[]>> = {
  alerts: [
    'createAlert',
    'createAlerts',
    'replaceAlert',
    'deleteAlert',
    'setAlertEnabled',
    'setSignal',
    'putOrderCapture',
    'assignLabel',
    'unassignLabel',
    'replaceLabel',
    'deleteLabel',
    'createMaintenance',
    'replaceMaintenance',
    'deleteMaintenance',
    'createCalendar',
    'replaceCalendar',
    'deleteCalendar',
  ],
  issues: [
    'changeIssue',
    'changeIssues',
    'addIssueComment',
    'deleteIssueComment',
    'setOwnership',
    'setEscalation',
    'decideFinding',
    'decideFindings',
  ],
  domains: [
    'createDomain',
    'replaceDomain',
    'renameDomain',
    'deleteDomain',
    'rotateToken',
    'setEndpoint',
    'setCapture',
    'setPageViewSampling',
    'judgeHostname',
    'createProject',
    'updateProject',
    'deleteProject',
  ],
  integrations: [
    'createIntegration',
    'replaceIntegration',
    'deleteIntegration',
    'testIntegration',
    'rotateIntegration',
    'chooseOfficeChatChannel',
    'chooseTeamChatChannel',
    'deployTags',
    'replayDelivery',
  ],
  runs: [
    'createFlowTest',
    'replaceFlowTest',
    'deleteFlowTest',
    'draftFlowTest',
    'runFlowTest',
    'decideHealing',
    'cancelRun',
    'createAudit',
    'cancelAudit',
    'shareRun',
    'createGateRun',
    'approveGateRun',
  ],
  collector: ['postOrders', 'postChange'],
}

const SCOPE_OF_ID: ReadonlyMap<string, KeyScope> = new Map(
  Object.entries(WRITE_SCOPES).flatMap(([scope, ids]) => ids.map((id) => [id, scope as KeyScope] as const)),
)

type Accessed = Pick<Route, 'id' | 'access'>

/** Returns the scope that an API key needs to call a route. A key with `all` may call every route. */
export function scopeOf({ id, access }: Accessed): KeyScope {
  return PERMISSIONS[access].writes ? (SCOPE_OF_ID.get(id) ?? 'all') : 'read'
}

const isInScope = ({ scopes }: Principal, route: Accessed) => scopes === undefined || scopes.includes(scopeOf(route))

/** True when the caller's role and, for an API key, its scopes include the route. */
export function mayCall(principal: Principal, route: Accessed): boolean {
  return may(principal, route.access) && isInScope(principal, route)
}

/** Throws `forbidden` when the caller may not call the route. The message names the missing role, right or scope. */
export function requireAccess(principal: Principal, route: Accessed): void {
  requirePermission(principal, route.access)
  if (isInScope(principal, route)) return
  throw new AppError('forbidden', `this key does not have the scope "${scopeOf(route)}"`)
}
