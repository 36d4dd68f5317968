import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Nullable, Type } from '../core/schema.ts'
import { type Authenticate, controller } from '../http/controller.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import { atLeast, type Principal } from '../http/principal.ts'
import { type Db, tx } from '../store/database.ts'
import { type Alert, type AlertInput, AlertSchema, type Channel } from './alert.ts'
import { AlertBulkInputSchema, RawAlertInputSchema, readAlertInput, within } from './input.ts'
import { checkDomains, createAlert, deleteAlert, findAlert, listAlerts, setEnabled, updateAlert } from './store.ts'

const tags = ['Alerts']
const ById = Closed({ id: Type.String() })
const ListQuery = Closed(pagingFields)
const Ok = Closed({ ok: Type.Boolean() })
const AlertList = Closed({ alerts: Type.Array(AlertSchema), nextCursor: Nullable(Type.String()) }, { $id: 'AlertList' })
const AlertEnabledInputSchema = Closed({ enabled: Type.Boolean() }, { $id: 'AlertEnabledInput' })
const AlertBulkResultSchema = Closed(
  {
    created: Int(),
    failed: Int(),
    errors: Type.Array(Closed({ index: Int({ description: 'Place in `alerts`' }), error: Type.String() })),
  },
  { $id: 'AlertBulkResult' },
)

export interface AlertParts {
  db: Db
  clock: Clock
  authenticate: Authenticate
  /** Refuses, with an `AppError` that names it (`channels[2].target: …`), a channel nothing can be sent through. */
  checkChannels: (channels: readonly Channel[], path: string, orgId: string) => void
  /** Called after every change of alerts, so that rules are compiled anew. */
  changed: () => void
  /** Called inside the transaction that deletes an alert, for its issues; `by` is the user who does it. */
  deleted: (alert: Alert, by: string) => void
}

/** What may be done to alerts; each refuses with an `AppError`, and tells `changed` when something did change. */
export function alertActions({ db, clock, checkChannels, changed, deleted }: Omit<AlertParts, 'authenticate'>) {
  const accept = (value: unknown, orgId: string, root = ''): AlertInput => {
    const input = readAlertInput(value, root)
    within(root, () => {
      checkDomains(db, orgId, input)
      checkChannels(input.channels, 'channels', orgId)
    })
    return input
  }
  const thenTell = <T>(result: T): T => {
    changed()
    return result
  }
  return {
    create: (orgId: string, value: unknown) => thenTell(createAlert(db, clock, orgId, accept(value, orgId))),

    /** Each by itself: one that is refused costs its neighbours nothing. */
    createMany(orgId: string, values: readonly unknown[]) {
      const errors: { index: number; error: string }[] = []
      tx(db, () => {
        for (const [index, value] of values.entries()) {
          try {
            createAlert(db, clock, orgId, accept(value, orgId, `alerts[${index}]`))
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            errors.push({ index, error: error.message })
          }
        }
      })
      const created = values.length - errors.length
      if (created > 0) changed()
      return { created, failed: errors.length, errors }
    },

    update(orgId: string, id: string, value: unknown) {
      findAlert(db, { orgId, id })
      return thenTell(updateAlert(db, clock, { orgId, id }, accept(value, orgId)))
    },

    setEnabled: (orgId: string, id: string, enabled: boolean) =>
      thenTell(setEnabled(db, clock, { orgId, id }, enabled)),

    remove: (orgId: string, id: string, by: string) =>
      thenTell(deleteAlert(db, { orgId, id }, (alert) => deleted(alert, by))),
  }
}

/** How a caller sees an alert. */
function describe({ channels, ...alert }: Alert, { role }: Principal) {
  return atLeast(role, 'member') ? { ...alert, channels } : alert
}

/** Alerts under `/v1/alerts`. */
export function alertRoutes(parts: AlertParts) {
  const { db } = parts
  const actions = alertActions(parts)
  return controller(parts.authenticate)
    .get(
      '/alerts',
      ({ principal, query: { cursor, limit = DEFAULT_LIMIT } }) => {
        const rows = listAlerts(db, principal.orgId, decodeCursor(cursor, 1)?.[0] ?? null, limit)
        const { items, nextCursor } = page(rows, limit, ({ id }) => [id])
        return { alerts: items.map((alert) => describe(alert, principal)), nextCursor }
      },
      {
        access: 'read',
        query: ListQuery,
        response: { 200: AlertList },
        detail: { summary: 'Alerts, oldest first', description: 'Channels are left out for viewers.', tags },
      },
    )
    .post(
      '/alerts',
      ({ principal, body, status }) => status(201, describe(actions.create(principal.orgId, body), principal)),
      {
        access: 'member',
        body: RawAlertInputSchema,
        response: { 201: AlertSchema },
        detail: { summary: 'Make an alert; it judges what arrives from now on', tags },
      },
    )
    .get(
      '/alerts/:id',
      ({ principal, params: { id } }) => describe(findAlert(db, { orgId: principal.orgId, id }), principal),
      {
        access: 'read',
        params: ById,
        response: { 200: AlertSchema },
        detail: { summary: 'An alert', description: 'Channels are left out for viewers.', tags },
      },
    )
    .put(
      '/alerts/:id',
      ({ principal, params: { id }, body }) => describe(actions.update(principal.orgId, id, body), principal),
      {
        access: 'member',
        params: ById,
        body: RawAlertInputSchema,
        response: { 200: AlertSchema },
        detail: {
          summary: 'Replace an alert; what is left out gets its default',
          description: 'Where scope, rule, period or time zone change, what arrives from now on is judged anew.',
          tags,
        },
      },
    )
    .delete(
      '/alerts/:id',
      ({ principal: { orgId, userId }, params: { id } }) => {
        actions.remove(orgId, id, userId)
        return { ok: true }
      },
      {
        access: 'member',
        params: ById,
        response: { 200: Ok },
        detail: { summary: 'Delete an alert; its unresolved issues are resolved and stay to be read', tags },
      },
    )
    .put(
      '/alerts/:id/enabled',
      ({ principal, params: { id }, body: { enabled } }) =>
        describe(actions.setEnabled(principal.orgId, id, enabled), principal),
      {
        access: 'member',
        params: ById,
        body: AlertEnabledInputSchema,
        response: { 200: AlertSchema },
        detail: { summary: 'Switch an alert on or off; switched on, it judges what arrives from then on', tags },
      },
    )
    .post('/alerts/bulk', ({ principal, body }) => actions.createMany(principal.orgId, body.alerts), {
      access: 'member',
      body: AlertBulkInputSchema,
      response: { 200: AlertBulkResultSchema },
      detail: {
        summary: 'Make many alerts',
        description: 'Each by itself: one that is refused is listed in `errors`, the others are made.',
        tags,
      },
    })
}
