import { Closed, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { ManagedInputSchema, ManagedItemSchema } from './managed-item.ts'
import { listManaged, saveManaged } from './store.ts'

const tag = 'Organization'
const path = '/v1/org/managed'
const ManagedListSchema = Closed(
  { managed: Type.Array(ManagedItemSchema), nextCursor: NextCursorSchema },
  { $id: 'ManagedList' },
)

/** Routes for the items that configuration files manage. */
export function managedRoutes(db: Db): Route[] {
  return [
    route({
      id: 'listManagedItems',
      method: 'GET',
      path,
      access: 'read',
      tag,
      summary: 'List the items that configuration files manage, by id',
      query: Closed(pagingFields),
      answer: ManagedListSchema,
      exports: 'managed',
      handle({ principal: { orgId }, query }) {
        const { items, nextCursor } = listManaged(db, orgId, query)
        return { managed: items, nextCursor }
      },
    }),
    route({
      id: 'setManagedItems',
      method: 'POST',
      path,
      access: 'edit',
      tag,
      summary: 'Record which items configuration files manage',
      description:
        'The mark is shown with the item and does not restrict changes. `tagwarden apply` sets it, and deletes only ' +
        'items that have it.',
      refusals: ['conflict'],
      body: ManagedInputSchema,
      answer: OkSchema,
      handle({ principal: { orgId }, body }) {
        saveManaged(db, orgId, body)
        return OK
      },
    }),
  ]
}
