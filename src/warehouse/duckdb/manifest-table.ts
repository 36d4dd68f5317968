import type { Instant } from '../../core/clock.ts'
import { type Db, prepared, tx } from '../../store/database.ts'

/** Table schema for files of one kind. */
export interface FileShape<File extends { path: string }> {
  table: string
  /** All columns of the table. They have the same names as the fields of a file. */
  columns: readonly (keyof File & string)[]
  /** Columns stored as JSON; null is stored as NULL. */
  json?: readonly (keyof File & string)[]
  /** Columns that are NULL when the file lacks the field. */
  optional?: readonly (keyof File & string)[]
  /** Sort key of a file. Files with equal keys are sorted by path. */
  orderOf(file: File): number
}

/** A damaged file. It stays listed, but is excluded from query results until it is intact again. */
export interface DamagedFile<File> {
  file: File
  /** Time when the damage was found. */
  damagedAt: Instant
}

/** The files listed in the manifest for one relation. Stored in SQLite and mirrored in memory. */
export class FileTable<File extends { path: string }> {
  private files: readonly File[]
  private damagedFiles: readonly DamagedFile<File>[]

  constructor(
    private readonly db: Db,
    private readonly shape: FileShape<File>,
  ) {
    const known = this.rows().map(({ damagedAt, ...row }) => ({ damagedAt, file: this.fileOf(row as unknown as File) }))
    const sound = known.flatMap(({ damagedAt, file }) => (damagedAt ? [] : [file]))
    this.files = sound.sort((a, b) => (this.isBefore(a, b) ? -1 : 1))
    this.damagedFiles = known.flatMap(({ damagedAt, file }) => (damagedAt ? [{ file, damagedAt }] : []))
  }

  /** Empty if the database is from an earlier version that lacks the table. */
  private rows(): (File & { damagedAt?: Instant | null })[] {
    const { table } = this.shape
    const exists = this.db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table)
    return exists ? this.db.prepare<[], File & { damagedAt?: Instant | null }>(`SELECT * FROM ${table}`).all() : []
  }

  /** The current files, in order. The array is never modified, so running queries can keep using it. */
  present(): readonly File[] {
    return this.files
  }

  damaged(): readonly DamagedFile<File>[] {
    return this.damagedFiles
  }

  /** Excludes a file as damaged. Returns false if the file is not in use. */
  markDamaged(path: string, damagedAt: Instant): boolean {
    const file = this.files.find((file) => file.path === path)
    if (!file) return false
    prepared(this.db, `UPDATE ${this.shape.table} SET damagedAt = ? WHERE path = ?`).run(damagedAt, path)
    this.mirror([file], [])
    this.damagedFiles = [...this.damagedFiles, { file, damagedAt }]
    return true
  }

  /** Restores a damaged file to use. Returns false if the file is not marked as damaged. */
  restore(path: string): boolean {
    const found = this.damagedFiles.find(({ file }) => file.path === path)
    if (!found) return false
    prepared(this.db, `UPDATE ${this.shape.table} SET damagedAt = NULL WHERE path = ?`).run(path)
    this.mirror([], [found.file])
    return true
  }

  /** Operation in a `commit`: removes the files with these paths, including damaged ones. */
  drop(paths: ReadonlySet<string>): Mirror {
    const known = [...this.files, ...this.damagedFiles.map(({ file }) => file)]
    return this.write(
      known.filter(({ path }) => paths.has(path)),
      [],
    )
  }

  /** Replaces `removed` with `added`. Must not be called within a transaction. */
  swap(removed: readonly File[], added: readonly File[]): void {
    commit(this.db, () => [this.write(removed, added)])
  }

  /** Operation in a `commit`: replaces `removed` with `added`. An existing entry with the same path is overwritten. */
  write(removed: readonly File[], added: readonly File[]): Mirror {
    const { table, columns } = this.shape
    const remove = prepared(this.db, `DELETE FROM ${table} WHERE path = ?`)
    for (const { path } of removed) remove.run(path)
    const values = columns.map((column) => `@${column}`).join(', ')
    const insert = prepared(this.db, `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${values})`)
    const blank = Object.fromEntries((this.shape.optional ?? []).map((column) => [column, null]))
    for (const file of added) insert.run({ ...blank, ...this.rowOf(file) })
    return () => this.mirror(removed, added)
  }

  private mirror(removed: readonly File[], added: readonly File[]): void {
    const gone = new Set([...removed, ...added].map(({ path }) => path))
    const files = this.files.filter(({ path }) => !gone.has(path))
    for (const file of new Map(added.map((file) => [file.path, file])).values()) {
      // Searches from the end, because most added files are the newest.
      files.splice(files.findLastIndex((other) => this.isBefore(other, file)) + 1, 0, file)
    }
    this.files = files
    this.damagedFiles = this.damagedFiles.filter(({ file }) => !gone.has(file.path))
  }

  private isBefore(a: File, b: File): boolean {
    const [ofA, ofB] = [this.shape.orderOf(a), this.shape.orderOf(b)]
    return ofA < ofB || (ofA === ofB && a.path < b.path)
  }

  private rowOf(file: File): File {
    return this.withJson(file, JSON.stringify)
  }

  private fileOf(row: File): File {
    const file = this.withJson(row, (cell) => JSON.parse(String(cell)))
    for (const column of this.shape.optional ?? []) if (file[column] === null) delete file[column]
    return file
  }

  private withJson(from: File, translate: (value: unknown) => unknown): File {
    const { json = [] } = this.shape
    const cells = json.map((column) => [column, from[column] === null ? null : translate(from[column])])
    return { ...from, ...Object.fromEntries(cells) }
  }
}

/** Updates memory after the commit. */
type Mirror = () => void

/**
 * Writes several tables in one transaction, and updates memory after the commit. Throws if called within another
 * transaction, because a rollback could not undo the changes in memory.
 */
export function commit(db: Db, work: () => Mirror[]): void {
  if (db.inTransaction) throw new Error('the manifest must be changed outside of other transactions')
  for (const mirror of tx(db, work)) mirror()
}
