import type { Clock } from '../core/clock.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { LabelAssignInputSchema, LabelListSchema, LabelUnassignInputSchema } from './label.ts'
import { assign, deleteLabel, listLabels, unassign } from './store.ts'

export interface LabelParts {
  db: Db
  clock: Clock
  /** Called after every change of an organization's labels. */
  changed(orgId: string): void
}

const tag = 'Labels'
const LabelAssignedSchema = Closed(
  { ok: Type.Boolean(), assigned: Int({ description: 'Members that are new' }) },
  { $id: 'LabelAssigned', examples: [{ ok: true, assigned: 2 }] },
)
const LabelUnassignedSchema = Closed(
  { ok: Type.Boolean(), removed: Int({ description: 'Members that the label had' }) },
  { $id: 'LabelUnassigned', examples: [{ ok: true, removed: 1 }] },
)

/** Names for events, under `/v1/insights/labels`. */
export function labelRoutes({ db, clock, changed }: LabelParts): Route[] {
  return [
    route({
      id: 'listLabels',
      method: 'GET',
      path: '/v1/insights/labels',
      access: 'read',
      tag,
      summary: 'Labels with their members, oldest first',
      tool: true,
      query: Closed(pagingFields),
      answer: LabelListSchema,
      handle({ principal, query: { cursor, limit = DEFAULT_LIMIT } }) {
        const after = decodeCursor(cursor, 1)?.[0] ?? null
        const { items, nextCursor } = page(listLabels(db, principal.orgId, after, limit), limit, ({ id }) => [id])
        return { labels: items, nextCursor }
      },
    }),
    route({
      id: 'assignLabel',
      method: 'POST',
      path: '/v1/insights/labels/assign',
      access: 'edit',
      tag,
      summary: 'Give events a label, which is made where there is none of this name',
      description:
        'Upper and lower case are the same label. Conditions (`$label`), journeys and search know the change at once; ' +
        'what was judged on arrival stays as it was judged.',
      refusals: ['conflict'],
      tool: true,
      body: LabelAssignInputSchema,
      answer: LabelAssignedSchema,
      handle({ principal: { orgId }, body }) {
        const assigned = assign(db, clock, orgId, body)
        changed(orgId)
        return { ok: true, assigned }
      },
      note: ({ body: { label } }) => ({ label }),
    }),
    route({
      id: 'unassignLabel',
      method: 'POST',
      path: '/v1/insights/labels/unassign',
      access: 'edit',
      tag,
      summary: 'Take events from a label; the label stays',
      refusals: ['notFound'],
      tool: true,
      body: LabelUnassignInputSchema,
      answer: LabelUnassignedSchema,
      handle({ principal: { orgId }, body }) {
        const removed = unassign(db, orgId, body)
        changed(orgId)
        return { ok: true, removed }
      },
      note: ({ body: { label } }) => ({ label }),
    }),
    route({
      id: 'deleteLabel',
      method: 'DELETE',
      path: '/v1/insights/labels/{id}',
      access: 'edit',
      tag,
      summary: 'Delete a label',
      description: 'Alerts that name it stay, and no event has it any more, until a label of that name is made again.',
      tool: true,
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id } }) {
        deleteLabel(db, { orgId, id })
        changed(orgId)
        return OK
      },
    }),
  ]
}
