import { measurePatterns } from '../conditions/precompile-patterns.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, checkAll } from '../core/error.ts'
import { Closed, Int, SeveralOf, SeveralTexts, type Static, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { timeText } from '../core/text.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import { NextCursorSchema, type PageRequest, pagingFields, sortField } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import type { Alert, AlertChannel, AlertInput, Escalation } from './alert.ts'
import { AlertBulkInputSchema, RawAlertInputSchema, readAlertInput, withPathPrefix } from './alert-input.ts'
import { AlertSchema } from './alert-schema.ts'
import { AlertStateSchema, alertStates, type IssueStates } from './alert-state.ts'
import {
  ALERT_SORTS,
  type AlertFilter,
  checkDomains,
  createAlert,
  deleteAlert,
  findAlert,
  listAlerts,
  setEnabled,
  updateAlert,
} from './alert-store.ts'
import type { AlertBacktest } from './backtest.ts'
import { acceptChannels, showChannels } from './encrypt-channel-target.ts'
import { acceptEscalation, showEscalation } from './escalation.ts'
import { ALERT_KINDS } from './types/index.ts'

const tag = 'Alerts'
const ListQuery = Closed({
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name, or the exact id' })),
  enabled: Type.Optional(Type.Boolean()),
  alertType: Type.Optional(SeveralOf(ALERT_KINDS)),
  domainId: Type.Optional(
    SeveralTexts({ description: 'Alerts that watch this domain, including those that watch all domains' }),
  ),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: 'Alerts that watch a domain of this project' })),
  sort: sortField(ALERT_SORTS, 'createdAt'),
  ...pagingFields,
})
const AlertList = Closed(
  {
    alerts: Type.Array(AlertSchema),
    nextCursor: NextCursorSchema,
    openIssues: Type.Record(Type.String(), Int(), {
      description: 'Number of open issues for each listed alert, keyed by alert id',
      examples: [{ alr_01ke7jpe008wq2m5x0t4c9r7hv: 2 }],
    }),
    states: Type.Record(Type.String(), AlertStateSchema, {
      description: 'State and evaluation of each listed alert, keyed by alert id',
      examples: [
        {
          alr_01ke7jpe008wq2m5x0t4c9r7hv: {
            state: 'ok',
            lastEvaluatedAt: 1_767_614_400_000,
            nextEvaluationAt: 1_767_618_000_000,
          },
        },
      ],
    }),
  },
  { $id: 'AlertList' },
)
const AlertEnabledInputSchema = Closed(
  { enabled: Type.Boolean() },
  { $id: 'AlertEnabledInput', examples: [{ enabled: false }] },
)
const AlertBulkResultSchema = Closed(
  {
    created: Int(),
    failed: Int(),
    errors: Type.Array(Closed({ index: Int({ description: 'Index of the alert in `alerts`' }), error: Type.String() })),
  },
  {
    $id: 'AlertBulkResult',
    examples: [{ created: 1, failed: 1, errors: [{ index: 1, error: 'alerts[1].name: must not be blank' }] }],
  },
)

export interface AlertRouteDeps {
  db: Db
  /** Encrypts channel targets. */
  box: SecretBox
  clock: Clock
  /** Throws an `AppError` naming the field (`channels[2].target: …`) for a channel that can't deliver. */
  checkChannels: (channels: readonly AlertChannel[], orgId: string) => void
  /** Called after every change, with the ids of the alerts that changed. */
  changed: (ids: readonly string[]) => void
  /** Called inside the transaction that deletes an alert, to update its issues. `by`: id of the deleting user. */
  deleted: (alert: Alert, by: string) => void
  /** Returns the number of open issues for each of these alerts. */
  openIssues: (orgId: string, ids: readonly string[]) => Record<string, number>
  /** Returns the state that the unresolved issues of each of these alerts give it; absent without such issues. */
  issueStates: (orgId: string, ids: readonly string[]) => IssueStates
  /** Returns whether none of the signals that the alert monitors has finished learning. */
  isLearning: (id: string) => boolean
  /** Returns a late rule's fraction of the total cost of all rules; null for other rules. */
  lateShareOf: (orgId: string, id: string) => number | null
}

/** The operations on alerts. Each operation throws `AppError` on failure and calls `changed` after a change. */
function alertActions({
  db,
  box,
  clock,
  checkChannels,
  changed,
  deleted,
}: Omit<AlertRouteDeps, 'openIssues' | 'issueStates' | 'isLearning' | 'lateShareOf'>) {
  const accept = (
    value: unknown,
    { orgId, stored, root = '' }: { orgId: string; stored?: Pick<Alert, 'channels' | 'escalation'>; root?: string },
  ): AlertInput => {
    const input = readAlertInput(value, root)
    const check = (channels: readonly AlertChannel[]) => checkChannels(channels, orgId)
    let { channels, escalation } = input
    withPathPrefix(root, () =>
      checkAll([
        () => checkDomains(db, orgId, input),
        () => {
          channels = acceptChannels(box, channels, { stored: stored?.channels ?? [], check })
        },
        () => {
          escalation = acceptAlertEscalation(box, escalation, { stored, check })
        },
      ]),
    )
    return { ...input, channels, ...(escalation && { escalation }) }
  }
  const notified = (alert: Alert): Alert => {
    changed([alert.id])
    return alert
  }
  return {
    create: (orgId: string, value: unknown) => notified(createAlert(db, clock, orgId, accept(value, { orgId }))),

    /** Creates each alert separately: an invalid alert does not prevent the others from being created. */
    async createMany(orgId: string, values: readonly unknown[]) {
      const errors: { index: number; error: string }[] = []
      const ids: string[] = []
      try {
        for (const [index, value] of values.entries()) {
          await measurePatterns(value)
          try {
            ids.push(createAlert(db, clock, orgId, accept(value, { orgId, root: `alerts[${index}]` })).id)
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            errors.push({ index, error: error.message })
          }
          // Compiling the patterns of hundreds of alerts takes seconds, so other requests are served in between.
          await new Promise(setImmediate)
        }
      } finally {
        changed(ids)
      }
      return { created: ids.length, failed: errors.length, errors }
    },

    update(orgId: string, id: string, value: unknown) {
      const stored = findAlert(db, { orgId, id })
      return notified(updateAlert(db, clock, { orgId, id }, accept(value, { orgId, stored })))
    },

    setEnabled: (orgId: string, id: string, enabled: boolean) =>
      notified(setEnabled(db, clock, { orgId, id }, enabled)),

    remove(orgId: string, id: string, by: string) {
      deleteAlert(db, { orgId, id }, (alert) => deleted(alert, by))
      changed([id])
    },
  }
}

/** Like `acceptEscalation`; undefined if the alert uses the organization's. */
function acceptAlertEscalation(
  box: SecretBox,
  escalation: Escalation | undefined,
  {
    stored,
    check,
  }: {
    stored: Pick<Alert, 'channels' | 'escalation'> | undefined
    check: (channels: readonly AlertChannel[]) => void
  },
): Escalation | undefined {
  const parts = { stored: stored?.escalation, others: stored?.channels ?? [], check }
  return escalation && withPathPrefix('escalation', () => acceptEscalation(box, escalation, parts))
}

/** Returns an alert as the caller may see it: channel targets are masked for viewers and read-only keys. */
export function describeAlert(box: SecretBox, alert: Alert, principal: Principal) {
  const { channels, escalation } = alert
  return {
    ...alert,
    channels: showChannels(box, channels, principal),
    ...(escalation && { escalation: showEscalation(box, escalation, principal) }),
  }
}

/** The routes under `/v1/alerts`. */
export function alertRoutes(parts: AlertRouteDeps): Route[] {
  return [...readingRoutes(parts), ...writingRoutes(parts.box, alertActions(parts))]
}

/** Throws `AppError('notFound')` when the project does not exist. */
function listQueryOf(
  db: Db,
  orgId: string,
  query: Static<typeof ListQuery>,
): AlertFilter & PageRequest & { sort?: string } {
  const { alertType, domainId, projectId, ...rest } = query
  const domainIds = domainIdsNamed(db, orgId, { domainId, projectId })
  return { ...rest, ...(alertType ? { alertTypes: alertType } : {}), ...(domainIds ? { domainIds } : {}) }
}

function readingRoutes({ db, box, openIssues, issueStates, isLearning, lateShareOf }: AlertRouteDeps): Route[] {
  const described = (alert: Alert, principal: Principal) => {
    const lateShare = lateShareOf(alert.orgId, alert.id)
    return { ...describeAlert(box, alert, principal), ...(lateShare === null ? {} : { lateShare }) }
  }
  return [
    route({
      id: 'listAlerts',
      method: 'GET',
      path: '/v1/alerts',
      access: 'read',
      tag,
      summary: 'List alerts, oldest first by default',
      description: 'Channel targets are masked for viewers and read-only keys.',
      refusals: ['notFound'],
      tool: true,
      query: ListQuery,
      answer: AlertList,
      exports: 'alerts',
      handle({ principal, query }) {
        const { orgId } = principal
        const { items, nextCursor } = listAlerts(db, orgId, listQueryOf(db, orgId, query))
        const alerts = items.map((alert) => described(alert, principal))
        const ids = items.map(({ id }) => id)
        const states = alertStates(db, items, { isLearning, issueStates: issueStates(orgId, ids) })
        return { alerts, nextCursor, openIssues: openIssues(orgId, ids), states }
      },
    }),
    route({
      id: 'getAlert',
      method: 'GET',
      path: '/v1/alerts/{id}',
      access: 'read',
      tag,
      summary: 'Get an alert',
      description: 'Channel targets are masked for viewers and read-only keys.',
      tool: true,
      params: ById,
      answer: AlertSchema,
      handle: ({ principal, params: { id } }) => described(findAlert(db, { orgId: principal.orgId, id }), principal),
    }),
  ]
}

/** Compiles the patterns of the rule in a body in steps, so that other requests are served in between. */
const compilePatterns = ({ body, signal }: { body: unknown; signal: AbortSignal }) => measurePatterns(body, signal)

/** Additional output of a dry run: the windows in which the rule would have fired. */
const BACKTEST = {
  field: 'backtest',
  routeId: 'backtestAlert',
  body: (rule: unknown) => ({ rule }),
  say(answer: unknown) {
    const { buckets, from } = answer as AlertBacktest
    const fired = buckets.filter(({ wouldFire }) => wouldFire).length
    return `The rule would have fired in ${fired} of ${buckets.length} buckets since ${timeText(from)}.`
  },
}

function writingRoutes(box: SecretBox, actions: ReturnType<typeof alertActions>): Route[] {
  return [
    route({
      id: 'createAlert',
      method: 'POST',
      path: '/v1/alerts',
      access: 'edit',
      tag,
      summary: 'Create an alert that evaluates events received from now on',
      refusals: ['conflict'],
      tool: true,
      dryRunShows: BACKTEST,
      before: compilePatterns,
      body: RawAlertInputSchema,
      status: 201,
      answer: AlertSchema,
      handle: ({ principal, body }) => describeAlert(box, actions.create(principal.orgId, body), principal),
    }),
    route({
      id: 'replaceAlert',
      method: 'PUT',
      path: '/v1/alerts/{id}',
      access: 'edit',
      tag,
      summary: 'Replace an alert; omitted fields are reset to their defaults',
      description: 'Changes to the scope, rule, period or time zone apply only to events received from now on.',
      tool: true,
      dryRunShows: BACKTEST,
      params: ById,
      before: compilePatterns,
      body: RawAlertInputSchema,
      answer: AlertSchema,
      handle: ({ principal, params: { id }, body }) =>
        describeAlert(box, actions.update(principal.orgId, id, body), principal),
    }),
    route({
      id: 'deleteAlert',
      method: 'DELETE',
      path: '/v1/alerts/{id}',
      access: 'edit',
      tag,
      summary: 'Delete an alert; its unresolved issues are resolved but not deleted',
      tool: true,
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId, userId }, params: { id } }) {
        actions.remove(orgId, id, userId)
        return OK
      },
    }),
    route({
      id: 'setAlertEnabled',
      method: 'PUT',
      path: '/v1/alerts/{id}/enabled',
      access: 'edit',
      tag,
      summary: 'Enable or disable an alert; an enabled alert evaluates events received from then on',
      tool: true,
      params: ById,
      body: AlertEnabledInputSchema,
      answer: AlertSchema,
      handle: ({ principal, params: { id }, body: { enabled } }) =>
        describeAlert(box, actions.setEnabled(principal.orgId, id, enabled), principal),
    }),
    route({
      id: 'createAlerts',
      method: 'POST',
      path: '/v1/alerts/bulk',
      access: 'edit',
      tag,
      summary: 'Create several alerts',
      description:
        'Alerts are created independently: those that are rejected are listed in `errors`, and all others are created.',
      body: AlertBulkInputSchema,
      answer: AlertBulkResultSchema,
      asynchronous: true,
      handle: ({ principal, body }) => actions.createMany(principal.orgId, body.alerts),
    }),
  ]
}
