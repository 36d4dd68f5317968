import type { Instant } from '../../core/clock.ts'
import { type Db, prepared, tx } from '../../store/database.ts'

/** Table schema of files of one kind. */
export interface FileShape<File extends { path: string }> {
  table: string
  /** All columns of the table, named like the fields of a file. */
  columns: readonly (keyof File & string)[]
  /** Columns stored as JSON; null stays null. */
  json?: readonly (keyof File & string)[]
  /** Columns that are NULL when the file lacks the field. */
  optional?: readonly (keyof File & string)[]
  /** Sort key of files; equal ones are sorted by path. */
  orderOf(file: File): number
}

/** A damaged file. It stays listed, but is excluded from answers until it is intact again. */
export interface DamagedFile<File> {
  file: File
  /** When the damage was found. */
  damagedAt: Instant
}

/** The manifest's files of one relation. Stored in SQLite, mirrored in memory. */
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

  /** Empty in a database of an earlier version that lacks the table. */
  private rows(): (File & { damagedAt?: Instant | null })[] {
    const { table } = this.shape
    const exists = this.db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table)
    return exists ? this.db.prepare<[], File & { damagedAt?: Instant | null }>(`SELECT * FROM ${table}`).all() : []
  }

  /** The current files, in order. The array is never modified, so a running query can keep it. */
  present(): readonly File[] {
    return this.files
  }

  damaged(): readonly DamagedFile<File>[] {
    return this.damagedFiles
  }

  /** Excludes a file as damaged. Returns false when it is not present. */
  markDamaged(path: string, damagedAt: Instant): boolean {
    const file = this.files.find((file) => file.path === path)
    if (!file) return false
    prepared(this.db, `UPDATE ${this.shape.table} SET damagedAt = ? WHERE path = ?`).run(damagedAt, path)
    this.mirror([file], [])
    this.damagedFiles = [...this.damagedFiles, { file, damagedAt }]
    return true
  }

  /** Uses a damaged file again. Returns false when it is not a damaged file. */
  restore(path: string): boolean {
    const found = this.damagedFiles.find(({ file }) => file.path === path)
    if (!found) return false
    prepared(this.db, `UPDATE ${this.shape.table} SET damagedAt = NULL WHERE path = ?`).run(path)
    this.mirror([], [found.file])
    return true
  }

  /** Part of a `commit`: removes the files with these paths, including damaged ones. */
  drop(paths: ReadonlySet<string>): Mirror {
    const known = [...this.files, ...this.damagedFiles.map(({ file }) => file)]
    return this.write(
      known.filter(({ path }) => paths.has(path)),
      [],
    )
  }

  /** Replaces `removed` by `added`. Must not be called within a transaction. */
  swap(removed: readonly File[], added: readonly File[]): void {
    commit(this.db, () => [this.write(removed, added)])
  }

  /** Part of a `commit`: replaces `removed` by `added`. An existing path is overwritten. */
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
      // From the end, because most files are the newest.
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
 * Writes several tables in one transaction, and updates memory after the commit. Throws within another transaction, whose
 * rollback memory could not follow.
 */
export function commit(db: Db, work: () => Mirror[]): void {
  if (db.inTransaction) throw new Error('the manifest must be changed outside of other transactions')
  for (const mirror of tx(db, work)) mirror()
}
