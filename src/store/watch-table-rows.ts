import { type Db, prepared } from './database.ts'

/** A table whose committed changes are published. */
export interface WatchedTable {
  /** Kind of object that a row belongs to. */
  kind: string
  table: string
  /** SQL for the published id, in which `ROW` represents the row. Default: `ROW.id`. */
  id?: string
  /** SQL for the row's organization, in which `ROW` represents the row. Default: `ROW.orgId`. */
  orgId?: string
  /** Columns whose values are published with a change. */
  columns?: readonly string[]
  /** Columns whose changes are not published if no other columns change. */
  silent?: readonly string[]
  /** Columns in `silent` whose first value is published. */
  firsts?: readonly string[]
  /** Kind of change that is published when a row is deleted. Default: `deleted`. */
  deletes?: 'deleted' | 'changed' | 'nothing'
}

/** A row that was inserted, updated or deleted. */
export interface RowChange {
  kind: string
  orgId: string
  id: string
  isDeleted: boolean
  /** Values of `columns` after an insert or update, or before a deletion. */
  values: Record<string, string | number | null>
}

interface RecordedChange {
  seq: number
  kind: string
  orgId: string | null
  id: string
  isDeleted: number
  columns: string
}

/**
 * Calls `onChanges` with every change to these tables soon after its commit, in order. Triggers on this connection
 * record the changes in a temporary table, so changes that are rolled back, even to a savepoint, are never published.
 * Must be called only once per database. When the database is closed, unpublished changes are lost.
 */
export function watchRows(
  db: Db,
  tables: readonly WatchedTable[],
  onChanges: (changes: readonly RowChange[]) => void,
): void {
  let isAwake = false
  const publish = () => {
    isAwake = false
    if (db.open) onChanges(takeRecorded(db))
  }
  // A transaction never spans an await, so it has ended when the callback runs.
  db.function('noted', () => {
    if (!isAwake) setImmediate(publish)
    isAwake = true
    return 1
  })
  db.exec(`CREATE TEMP TABLE rowChange (
    seq INTEGER PRIMARY KEY, kind TEXT, orgId TEXT, id TEXT, isDeleted INTEGER, columns TEXT, noted INTEGER
  )`)
  for (const table of tables) db.exec(triggersOf(db, table))
}

/**
 * Runs `work`, which must be synchronous. Returns its result, and how many rows it inserted, changed and deleted, including
 * those that foreign keys deleted. Rows that the triggers of `watchRows` recorded are not counted.
 */
export function countChangedRows<T>(db: Db, work: () => T): { result: T; rows: number } {
  const total = prepared<[], { rows: number }>(db, 'SELECT total_changes() AS rows')
  const isWatched = db.prepare(`SELECT 1 FROM temp.sqlite_schema WHERE name = 'rowChange'`).get() !== undefined
  const recorded = isWatched ? prepared<[], { rows: number }>(db, 'SELECT count(*) AS rows FROM temp.rowChange') : null
  const count = () => (total.get()?.rows ?? 0) - (recorded?.get()?.rows ?? 0)
  const before = count()
  const result = work()
  return { result, rows: count() - before }
}

function takeRecorded(db: Db): RowChange[] {
  const rows = prepared<[], RecordedChange>(db, 'DELETE FROM temp.rowChange RETURNING *').all()
  return rows
    .sort((a, b) => a.seq - b.seq)
    .flatMap(({ kind, orgId, id, isDeleted, columns }) =>
      orgId === null ? [] : [{ kind, orgId, id, isDeleted: isDeleted === 1, values: JSON.parse(columns) }],
    )
}

/** Triggers for one table, which exist only on this connection. */
function triggersOf(db: Db, watched: WatchedTable): string {
  const { table, columns = [], silent = [], firsts = [], deletes = 'deleted' } = watched
  const all = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table)
  const unknown = [...columns, ...silent, ...firsts].filter((column) => !all.includes(column))
  if (unknown.length > 0) throw new Error(`the table ${table} has no columns ${unknown.join(', ')}`)
  const watchedColumns = all.filter((column) => !silent.includes(column))
  const isOther = [
    ...watchedColumns.map((column) => `NEW.${column} IS NOT OLD.${column}`),
    ...firsts.map((column) => `(NEW.${column} IS NOT NULL AND OLD.${column} IS NULL)`),
  ]
  const trigger = (name: string, when: string, note: string) =>
    `CREATE TEMP TRIGGER ${table}${name} AFTER ${when} BEGIN ${note}; END;`
  return [
    trigger('ToldMade', `INSERT ON main.${table}`, noteOf(watched, 'NEW', false)),
    // The trigger does not run for statements that set none of these columns.
    trigger(
      'ToldChanged',
      `UPDATE OF ${[...watchedColumns, ...firsts].join(', ')} ON main.${table} WHEN ${isOther.join(' OR ')}`,
      noteOf(watched, 'NEW', false),
    ),
    deletes === 'nothing'
      ? ''
      : trigger('ToldGone', `DELETE ON main.${table}`, noteOf(watched, 'OLD', deletes === 'deleted')),
  ].join('\n')
}

function noteOf({ kind, id = 'ROW.id', orgId = 'ROW.orgId', columns = [] }: WatchedTable, row: string, gone: boolean) {
  const values = columns.flatMap((column) => [`'${column}'`, `ROW.${column}`]).join(', ')
  const cells = [`'${kind}'`, orgId, id, gone ? 1 : 0, `json_object(${values})`, 'noted()'].join(', ')
  return `INSERT INTO rowChange (kind, orgId, id, isDeleted, columns, noted) VALUES (${cells.replaceAll('ROW.', `${row}.`)})`
}
