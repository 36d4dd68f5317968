import type { Instant } from '../../core/clock.ts'
import { type Db, prepared, tx } from '../../store/database.ts'

/** How files of one kind are kept. */
export interface FileShape<File extends { path: string }> {
  table: string
  /** All of the table's, spelled as the fields of a file. */
  columns: readonly (keyof File & string)[]
  /** Columns that are kept as JSON; null stays null. */
  json?: readonly (keyof File & string)[]
  /** Columns that are NULL where a file lacks the field. */
  optional?: readonly (keyof File & string)[]
  /** What files are in the order of; those that are equal in it are in the order of their paths. */
  orderOf(file: File): number
}

/** A file that is not as it was written. It stays known, and is left out of every answer until it is whole again. */
export interface DamagedFile<File> {
  file: File
  /** When that was found. */
  damagedAt: Instant
}

/** A part of the manifest: which files make up a relation. Kept in SQLite, mirrored in memory. */
export class FileTable<File extends { path: string }> {
  private files: readonly File[]
  private aside: readonly DamagedFile<File>[]

  constructor(
    private readonly db: Db,
    private readonly shape: FileShape<File>,
  ) {
    const known = this.rows().map(({ damagedAt, ...row }) => ({ damagedAt, file: this.fileOf(row as unknown as File) }))
    const sound = known.flatMap(({ damagedAt, file }) => (damagedAt ? [] : [file]))
    this.files = sound.sort((a, b) => (this.isBefore(a, b) ? -1 : 1))
    this.aside = known.flatMap(({ damagedAt, file }) => (damagedAt ? [{ file, damagedAt }] : []))
  }

  /** None in a database of an earlier version, which has no such table, or no file that is damaged. */
  private rows(): (File & { damagedAt?: Instant | null })[] {
    const { table } = this.shape
    const exists = this.db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table)
    return exists ? this.db.prepare<[], File & { damagedAt?: Instant | null }>(`SELECT * FROM ${table}`).all() : []
  }

  /** The files of this moment, in order; the array is never changed afterwards, so a running query may keep it. */
  present(): readonly File[] {
    return this.files
  }

  /** Those that are not present because they are damaged. */
  damaged(): readonly DamagedFile<File>[] {
    return this.aside
  }

  /** Leaves a present file out from now on; false when it is not present. */
  markDamaged(path: string, damagedAt: Instant): boolean {
    const file = this.files.find((file) => file.path === path)
    if (!file) return false
    prepared(this.db, `UPDATE ${this.shape.table} SET damagedAt = ? WHERE path = ?`).run(damagedAt, path)
    this.mirror([file], [])
    this.aside = [...this.aside, { file, damagedAt }]
    return true
  }

  /** Takes a damaged file back that is whole again; false when it is none. */
  restore(path: string): boolean {
    const found = this.aside.find(({ file }) => file.path === path)
    if (!found) return false
    prepared(this.db, `UPDATE ${this.shape.table} SET damagedAt = NULL WHERE path = ?`).run(path)
    this.mirror([], [found.file])
    return true
  }

  /** The part of a `commit` that takes files of these paths out for good, damaged ones too. */
  drop(paths: ReadonlySet<string>): Mirror {
    const known = [...this.files, ...this.aside.map(({ file }) => file)]
    return this.write(
      known.filter(({ path }) => paths.has(path)),
      [],
    )
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
    this.aside = this.aside.filter(({ file }) => !gone.has(file.path))
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
