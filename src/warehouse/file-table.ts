import { type Db, prepared, tx } from '../store/database.ts'

/** How files of one kind are kept. */
export interface FileShape<File extends { path: string }> {
  table: string
  /** All of the table's, spelled as the fields of a file. */
  columns: readonly (keyof File & string)[]
  /** Columns that are kept as JSON; null stays null. */
  json?: readonly (keyof File & string)[]
  /** What files are in the order of; those that are equal in it are in the order of their paths. */
  orderOf(file: File): number
}

/** A part of the manifest: which files make up a relation. Kept in SQLite, mirrored in memory. */
export class FileTable<File extends { path: string }> {
  private files: readonly File[]

  constructor(
    private readonly db: Db,
    private readonly shape: FileShape<File>,
  ) {
    this.files = this.rows()
      .map((row) => this.fileOf(row))
      .sort((a, b) => (this.isBefore(a, b) ? -1 : 1))
  }

  /** None in a database of an earlier version, which has no such table. */
  private rows(): File[] {
    const { table } = this.shape
    const exists = this.db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table)
    return exists ? this.db.prepare<[], File>(`SELECT * FROM ${table}`).all() : []
  }

  /** The files of this moment, in order; the array is never changed afterwards, so a running query may keep it. */
  present(): readonly File[] {
    return this.files
  }

  /** Puts `added` in the place of `removed`. Not in a transaction of the caller's. */
  swap(removed: readonly File[], added: readonly File[]): void {
    commit(this.db, () => [this.write(removed, added)])
  }

  /** The part of a `commit` that puts `added` in the place of `removed`. A path that is there already is replaced. */
  write(removed: readonly File[], added: readonly File[]): Mirror {
    const { table, columns } = this.shape
    const remove = prepared(this.db, `DELETE FROM ${table} WHERE path = ?`)
    for (const { path } of removed) remove.run(path)
    const values = columns.map((column) => `@${column}`).join(', ')
    const insert = prepared(this.db, `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${values})`)
    for (const file of added) insert.run(this.rowOf(file))
    return () => this.mirror(removed, added)
  }

  private mirror(removed: readonly File[], added: readonly File[]): void {
    const gone = new Set([...removed, ...added].map(({ path }) => path))
    const files = this.files.filter(({ path }) => !gone.has(path))
    for (const file of new Map(added.map((file) => [file.path, file])).values()) {
      // From the end, because most files are the newest.
      files.splice(files.findLastIndex((other) => this.isBefore(other, file)) + 1, 0, file)
    }
    this.files = files
  }

  private isBefore(a: File, b: File): boolean {
    const [ofA, ofB] = [this.shape.orderOf(a), this.shape.orderOf(b)]
    return ofA < ofB || (ofA === ofB && a.path < b.path)
  }

  private rowOf(file: File): File {
    return this.withJson(file, JSON.stringify)
  }

  private fileOf(row: File): File {
    return this.withJson(row, (cell) => JSON.parse(String(cell)))
  }

  private withJson(from: File, translate: (value: unknown) => unknown): File {
    const { json = [] } = this.shape
    const cells = json.map((column) => [column, from[column] === null ? null : translate(from[column])])
    return { ...from, ...Object.fromEntries(cells) }
  }
}

/** Takes into memory what was written down. */
type Mirror = () => void

/**
 * Writes into several tables in one transaction; memory follows when it is in the database for good. Fails, and changes
 * nothing, within a transaction of the caller's: memory could not follow when that is undone.
 */
export function commit(db: Db, work: () => Mirror[]): void {
  if (db.inTransaction) throw new Error('the manifest is changed in a transaction of its own')
  for (const mirror of tx(db, work)) mirror()
}
