import { AppError } from '../core/error.ts'
import { type Db, prepared } from './database.ts'

/** Identifies a row of one organization. Rows of other organizations are not found. */
export interface OrgRowKey {
  orgId: string
  id: string
}

/**
 * Returns the row with this key. `select` is a SELECT statement without a WHERE clause; `key` also contains the values
 * of its parameters. Throws `notFound` with the message `missing` when the organization has no such row.
 */
export function findOrgRow<Row>(db: Db, select: string, key: OrgRowKey, missing: string): Row {
  const row = prepared<[object], Row>(db, `${select} WHERE orgId = @orgId AND id = @id`).get(key)
  if (row === undefined) throw new AppError('notFound', missing)
  return row
}

/**
 * Deletes the row with this key. `statement` is a DELETE statement without a WHERE clause. Throws `notFound` with the
 * message `missing` when the organization has no such row.
 */
export function deleteOrgRow(db: Db, statement: string, key: OrgRowKey, missing: string): void {
  const { changes } = prepared<[object]>(db, `${statement} WHERE orgId = @orgId AND id = @id`).run(key)
  if (changes === 0) throw new AppError('notFound', missing)
}
