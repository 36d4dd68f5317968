import { type Db, tx } from '../store/database.ts'

/** A part of the manifest: which files make up a relation. Kept in SQLite, mirrored in memory. */
export class FileTable<File extends { path: string }> {
  private files: readonly File[]

  /** `columns`: all of the table's, spelled as the fields of a file. */
  constructor(
    private readonly db: Db,
    private readonly table: string,
    private readonly columns: readonly (keyof File & string)[],
  ) {
    this.files = db.prepare<[], File>(`SELECT * FROM ${table} ORDER BY path`).all()
  }

  /** The files of this moment, in no order; the array is never changed afterwards, so a running query may keep it. */
  present(): readonly File[] {
    return this.files
  }

  /** Puts `added` in the place of `removed`, in one transaction. */
  swap(removed: readonly File[], added: readonly File[]): void {
    tx(this.db, () => {
      const remove = this.db.prepare(`DELETE FROM ${this.table} WHERE path = ?`)
      for (const file of removed) remove.run(file.path)
      for (const file of added) this.insert(file)
    })
    this.mirror(removed, added)
  }

  /** Writes a file down, inside the caller's transaction; `mirror` it when that has ended. */
  insert(file: File): void {
    const values = this.columns.map((column) => `@${column}`).join(', ')
    this.db.prepare(`INSERT OR REPLACE INTO ${this.table} (${this.columns.join(', ')}) VALUES (${values})`).run(file)
  }

  /** Takes into memory what was written down. */
  mirror(removed: readonly File[], added: readonly File[]): void {
    const gone = new Set([...removed, ...added].map(({ path }) => path))
    this.files = [...this.files.filter(({ path }) => !gone.has(path)), ...added]
  }
}
