import { type Db, prepared } from './database.ts'

/** A table of whose committed changes others are told. */
export interface WatchedTable {
  /** What a row is to those who are told. */
  kind: string
  table: string
  /** SQL of the id that is told, with `ROW` for the row; default `ROW.id`. */
  id?: string
  /** SQL of the organization that the row belongs to, with `ROW` for the row; default `ROW.orgId`. */
  orgId?: string
  /** Columns that are told with a change, under their names. */
  columns?: readonly string[]
  /** Columns whose change alone is not told. */
  silent?: readonly string[]
  /** Columns of `silent` whose first value is told. */
  firsts?: readonly string[]
  /** What a deleted row is told as; default `deleted`. */
  deletes?: 'deleted' | 'changed' | 'nothing'
}

/** A row that was made, changed or deleted. */
export interface RowChange {
  kind: string
  orgId: string
  id: string
  isDeleted: boolean
  /** Values of `columns` after the change, and before a deletion. */
  values: Record<string, string | number | null>
}

interface Noted {
  seq: number
  kind: string
  orgId: string | null
  id: string
  isDeleted: number
  columns: string
}

/**
 * Calls `told` with every change of these tables soon after its commit, in the order in which they were made, whoever
 * writes. The changes are noted in a temporary table, by triggers of this connection: what is rolled back, also to a
 * savepoint, is never told. To be called once for a database. Changes that were not told when the database is closed
 * are lost.
 */
export function watchRows(
  db: Db,
  tables: readonly WatchedTable[],
  told: (changes: readonly RowChange[]) => void,
): void {
  let isAwake = false
  const tell = () => {
    isAwake = false
    if (db.open) told(takeNoted(db))
  }
  // A transaction never lasts over an await, so it has ended by then.
  db.function('noted', () => {
    if (!isAwake) setImmediate(tell)
    isAwake = true
    return 1
  })
  db.exec(`CREATE TEMP TABLE rowChange (
    seq INTEGER PRIMARY KEY, kind TEXT, orgId TEXT, id TEXT, isDeleted INTEGER, columns TEXT, noted INTEGER
  )`)
  for (const table of tables) db.exec(triggersOf(db, table))
}

function takeNoted(db: Db): RowChange[] {
  const rows = prepared<[], Noted>(db, 'DELETE FROM temp.rowChange RETURNING *').all()
  return rows
    .sort((a, b) => a.seq - b.seq)
    .flatMap(({ kind, orgId, id, isDeleted, columns }) =>
      orgId === null ? [] : [{ kind, orgId, id, isDeleted: isDeleted === 1, values: JSON.parse(columns) }],
    )
}

/** The triggers of one table, for this connection alone. */
function triggersOf(db: Db, watched: WatchedTable): string {
  const { table, columns = [], silent = [], firsts = [], deletes = 'deleted' } = watched
  const all = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table)
  const unknown = [...columns, ...silent, ...firsts].filter((column) => !all.includes(column))
  if (unknown.length > 0) throw new Error(`the table ${table} has no columns ${unknown.join(', ')}`)
  const heard = all.filter((column) => !silent.includes(column))
  const isOther = [
    ...heard.map((column) => `NEW.${column} IS NOT OLD.${column}`),
    ...firsts.map((column) => `(NEW.${column} IS NOT NULL AND OLD.${column} IS NULL)`),
  ]
  const trigger = (name: string, when: string, note: string) =>
    `CREATE TEMP TRIGGER ${table}${name} AFTER ${when} BEGIN ${note}; END;`
  return [
    trigger('ToldMade', `INSERT ON main.${table}`, noteOf(watched, 'NEW', false)),
    // A statement that sets none of them costs nothing.
    trigger(
      'ToldChanged',
      `UPDATE OF ${[...heard, ...firsts].join(', ')} ON main.${table} WHEN ${isOther.join(' OR ')}`,
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
