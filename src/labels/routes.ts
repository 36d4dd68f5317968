import type { Clock } from '../core/clock.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { pagingFields } from '../http/paging.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import {
  LabelAssignInputSchema,
  LabelInputSchema,
  LabelListSchema,
  LabelSchema,
  LabelUnassignInputSchema,
} from './label.ts'
import { assign, deleteLabel, findLabel, listLabels, replaceLabel, unassign } from './store.ts'

export interface LabelRouteDeps {
  db: Db
  clock: Clock
  /** Called after each change to one of an organization's labels. */
  changed(orgId: string): void
}

const tag = 'Labels'
const LabelAssignedSchema = Closed(
  { ok: Type.Boolean(), assigned: Int({ description: 'Number of new members' }) },
  { $id: 'LabelAssigned', examples: [{ ok: true, assigned: 2 }] },
)
const LabelUnassignedSchema = Closed(
  { ok: Type.Boolean(), removed: Int({ description: 'Number of members removed' }) },
  { $id: 'LabelUnassigned', examples: [{ ok: true, removed: 1 }] },
)

/** Routes for labels, under `/v1/insights/labels`. A label is a name for events. */
export function labelRoutes({ db, clock, changed }: LabelRouteDeps): Route[] {
  return [
    route({
      id: 'listLabels',
      method: 'GET',
      path: '/v1/insights/labels',
      access: 'read',
      tag,
      summary: 'List labels with their members, oldest first',
      tool: true,
      query: Closed(pagingFields),
      answer: LabelListSchema,
      exports: 'labels',
      handle({ principal: { orgId }, query }) {
        const { items, nextCursor } = listLabels(db, orgId, query)
        return { labels: items, nextCursor }
      },
    }),
    route({
      id: 'assignLabel',
      method: 'POST',
      path: '/v1/insights/labels/assign',
      access: 'edit',
      tag,
      summary: 'Add events to a label, creating the label when needed',
      description:
        'Names are not case-sensitive. The change applies immediately to conditions (`$label`), journeys and search; ' +
        'events that were already evaluated are not evaluated again.',
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
      summary: 'Remove events from a label; the label remains',
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
      id: 'getLabel',
      method: 'GET',
      path: '/v1/insights/labels/{id}',
      access: 'read',
      tag,
      summary: 'Get a label with its members',
      params: ById,
      answer: LabelSchema,
      handle: ({ principal: { orgId }, params: { id } }) => findLabel(db, { orgId, id }),
    }),
    route({
      id: 'replaceLabel',
      method: 'PUT',
      path: '/v1/insights/labels/{id}',
      access: 'edit',
      tag,
      summary: 'Rename a label and replace its members',
      description:
        'Rules refer to a label by name: after a rename, rules that use the former name match no event until they are ' +
        'changed.',
      refusals: ['conflict'],
      params: ById,
      body: LabelInputSchema,
      answer: LabelSchema,
      handle({ principal: { orgId }, params: { id }, body }) {
        const label = replaceLabel(db, { orgId, id }, body)
        changed(orgId)
        return label
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
      description:
        'Alerts that use the label remain, but no event has the label until one with that name is created again.',
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
