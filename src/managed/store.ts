import { AppError } from '../core/error.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { MAX_MANAGED_ITEMS, type ManagedBy, type ManagedInput, type ManagedItem } from './managed-item.ts'

/** Returns a page of the items that files manage, by id. */
export function listManaged(db: Db, orgId: string, page: PageRequest): Page<ManagedItem> {
  return readPage(db, page, {
    sql: 'SELECT id, key, file FROM managedItem WHERE orgId = @orgId',
    values: { orgId },
    sortBy: 'id',
    itemOf: (row: ManagedItem) => row,
  })
}

/** Returns the file that manages an item; null if none does. */
export function managedByOf(db: Db, orgId: string, id: string): ManagedBy | null {
  const find = prepared<[string, string], ManagedBy>(db, 'SELECT key, file FROM managedItem WHERE orgId = ? AND id = ?')
  return find.get(orgId, id) ?? null
}

/** Records which items files manage. Throws `conflict` when the organization would exceed `MAX_MANAGED_ITEMS`. */
export function saveManaged(db: Db, orgId: string, { items = [], released = [] }: ManagedInput): void {
  tx(db, () => {
    const remove = prepared(db, 'DELETE FROM managedItem WHERE orgId = ? AND id = ?')
    for (const id of released) remove.run(orgId, id)
    const save = prepared(
      db,
      `INSERT INTO managedItem (orgId, id, key, file) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET key = excluded.key, file = excluded.file`,
    )
    for (const { id, key, file } of items) save.run(orgId, id, key, file)
    const count = prepared<[string], { items: number }>(db, 'SELECT count(*) AS items FROM managedItem WHERE orgId = ?')
    if ((count.get(orgId)?.items ?? 0) <= MAX_MANAGED_ITEMS) return
    throw new AppError('conflict', `items: files can manage at most ${MAX_MANAGED_ITEMS} items of an organization`)
  })
}
