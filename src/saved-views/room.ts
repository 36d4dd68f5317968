import type { Base, Room } from '../base.ts'
import { SAVED_VIEW_PAGES } from '../contract/saved-view-pages.ts'
import type { Clock } from '../core/clock.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { requirePermission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { MAX_VIEWS, type SavedView, SavedViewInputSchema, SavedViewPatchSchema, SavedViewSchema } from './saved-view.ts'
import { changeView, createView, deleteView, findView, listViews } from './store.ts'

const tag = 'Saved views'

const SavedViewList = Closed(
  { views: Type.Array(SavedViewSchema), nextCursor: NextCursorSchema },
  { $id: 'SavedViewList' },
)

/** Filters of lists that users save under a name, for themselves or for their organization. */
export function openSavedViews({ db, clock }: Base): Room {
  return { routes: savedViewRoutes({ db, clock }) }
}

/** Routes for saved views, under `/v1/views`. */
export function savedViewRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    route({
      id: 'listViews',
      method: 'GET',
      path: '/v1/views',
      access: 'read',
      tag,
      summary: "List the caller's saved views and those shared with the organization, oldest first",
      query: Closed({ page: Type.Optional(OneOf(SAVED_VIEW_PAGES)), ...pagingFields }),
      answer: SavedViewList,
      exports: 'views',
      handle({ principal, query }) {
        const { items, nextCursor } = listViews(db, viewerOf(principal), query)
        return { views: items, nextCursor }
      },
    }),
    route({
      id: 'createView',
      method: 'POST',
      path: '/v1/views',
      access: 'own',
      tag,
      summary: 'Save the filters of a list under a name',
      description: `Sharing a view requires the permission \`edit\`. At most ${MAX_VIEWS} views per user.`,
      refusals: ['conflict'],
      body: SavedViewInputSchema,
      status: 201,
      answer: SavedViewSchema,
      handle({ principal, body }) {
        if (body.isShared) requirePermission(principal, 'edit')
        return createView(db, viewerOf(principal), body, clock.now())
      },
    }),
    route({
      id: 'changeView',
      method: 'PATCH',
      path: '/v1/views/{id}',
      access: 'own',
      tag,
      summary: 'Rename, share or change a saved view',
      description: "Sharing a view, or changing another member's shared view, requires the permission `edit`.",
      params: ById,
      body: SavedViewPatchSchema,
      answer: SavedViewSchema,
      handle({ principal, params: { id }, body }) {
        if (body.isShared) requirePermission(principal, 'edit')
        checkChange(principal, findView(db, viewerOf(principal), id))
        return changeView(db, viewerOf(principal), id, body)
      },
    }),
    route({
      id: 'deleteView',
      method: 'DELETE',
      path: '/v1/views/{id}',
      access: 'own',
      tag,
      summary: 'Delete a saved view',
      description: "Deleting another member's shared view requires the permission `edit`.",
      params: ById,
      answer: OkSchema,
      handle({ principal, params: { id } }) {
        checkChange(principal, findView(db, viewerOf(principal), id))
        deleteView(db, viewerOf(principal), id)
        return OK
      },
    }),
  ]
}

const viewerOf = ({ orgId, userId }: Principal) => ({ orgId, userId })

/** Users change their own views; views of others, which are shared, require `edit`. */
function checkChange(principal: Principal, { isOwn }: SavedView): void {
  if (!isOwn) requirePermission(principal, 'edit')
}
