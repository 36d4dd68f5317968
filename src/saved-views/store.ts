import type { SavedViewPage } from '../contract/saved-view-pages.ts'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared } from '../store/database.ts'
import { MAX_VIEWS, type SavedView, type SavedViewInput, type SavedViewPatch } from './saved-view.ts'

/** A user in an organization. */
interface Viewer {
  orgId: string
  userId: string
}

type ViewRow = Omit<SavedView, 'isShared' | 'isOwn'> & { isShared: number; userId: string }

const SELECT_VIEW = 'SELECT id, userId, page, name, search, isShared, createdAt FROM savedView'
/** SQL: views that the user sees. */
const VISIBLE = 'orgId = @orgId AND (userId = @userId OR isShared = 1)'

function viewOf({ userId, isShared, ...row }: ViewRow, viewer: Viewer): SavedView {
  return { ...row, isShared: isShared === 1, isOwn: userId === viewer.userId }
}

/** Returns a page of the user's own views and the shared ones, in order of creation. */
export function listViews(
  db: Db,
  viewer: Viewer,
  { page, ...request }: { page?: SavedViewPage } & PageRequest,
): Page<SavedView> {
  return readPage<ViewRow, SavedView>(db, request, {
    sql: `${SELECT_VIEW} WHERE ${VISIBLE} AND (@page IS NULL OR page = @page)`,
    values: { ...viewer, page: page ?? null },
    sortBy: 'id',
    itemOf: (row) => viewOf(row, viewer),
  })
}

/** Returns the view. Throws `notFound` if the user does not see it. */
export function findView(db: Db, viewer: Viewer, id: string): SavedView {
  const { orgId, userId } = viewer
  const row = prepared<[object], ViewRow>(db, `${SELECT_VIEW} WHERE ${VISIBLE} AND id = @id`).get({
    orgId,
    userId,
    id,
  })
  if (!row) throw new AppError('notFound', 'no such view')
  return viewOf(row, viewer)
}

/** Saves a view. Throws `conflict` if the user has too many. */
export function createView(
  db: Db,
  { orgId, userId }: Viewer,
  { isShared = false, ...input }: SavedViewInput,
  now: Instant,
): SavedView {
  const { count = 0 } =
    prepared<[string, string], { count: number }>(
      db,
      'SELECT count(*) AS count FROM savedView WHERE orgId = ? AND userId = ?',
    ).get(orgId, userId) ?? {}
  if (count >= MAX_VIEWS) throw new AppError('conflict', `at most ${MAX_VIEWS} views can be saved; delete one first`)
  const id = newId('vie', now)
  prepared<[object]>(
    db,
    `INSERT INTO savedView (id, orgId, userId, page, name, search, isShared, createdAt)
     VALUES (@id, @orgId, @userId, @page, @name, @search, @isShared, @now)`,
  ).run({ id, orgId, userId, ...input, isShared: Number(isShared), now })
  return findView(db, { orgId, userId }, id)
}

/** Changes the given fields of a view that the user sees. */
export function changeView(db: Db, viewer: Viewer, id: string, patch: SavedViewPatch): SavedView {
  const view = { ...findView(db, viewer, id), ...patch }
  const { name, search, isShared } = view
  prepared<[object]>(
    db,
    'UPDATE savedView SET name = @name, search = @search, isShared = @isShared WHERE id = @id',
  ).run({
    id,
    name,
    search,
    isShared: Number(isShared),
  })
  return view
}

/** Deletes a view that the user sees. Throws `notFound`. */
export function deleteView(db: Db, viewer: Viewer, id: string): void {
  prepared<[string]>(db, 'DELETE FROM savedView WHERE id = ?').run(findView(db, viewer, id).id)
}
