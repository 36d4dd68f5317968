import type { Instant } from '../core/clock.ts'
import { type Db, tx } from '../store/database.ts'
import { FileTable } from './file-table.ts'

/** `fresh`: one segment as it came; `merged`: several of them; `compacted`: an hour of one organization, sorted and shredded. */
export type FileLevel = 'fresh' | 'merged' | 'compacted'

/** One Parquet file of events. */
export interface EventFile {
  /** Relative to the folder `events/`. */
  path: string
  /** Null when it holds several organizations' events. */
  orgId: string | null
  /** Start of the hour of its events' `receivedAt`. */
  hour: Instant
  minReceivedAt: Instant
  maxReceivedAt: Instant
  /** Highest `seq` of its events. */
  maxSeq: number
  rows: number
  sizeBytes: number
  level: FileLevel
  /** Parameters that have a column of their own; null in a file that is not compacted, which keeps all as JSON. */
  keys: string[] | null
}

/**
 * `fresh`: the counts of one segment; `merged`: of several; `hour`: of an hour that ended; `day`: of one organization's
 * day; `quarters`: the same by the quarter of an hour.
 */
export type RollupLevel = 'fresh' | 'merged' | 'hour' | 'day' | 'quarters'

/** One Parquet file of events counted by the minute. */
export interface RollupFile {
  /** Relative to the folder `events/`. */
  path: string
  /** Null when it holds several organizations' counts. */
  orgId: string | null
  /** Starts of the first and the last minute; no row lies outside. */
  minMinute: Instant
  maxMinute: Instant
  rows: number
  sizeBytes: number
  level: RollupLevel
}

/** One Parquet file of `pages`. */
export interface PageFile {
  /** Relative to the folder `events/`. */
  path: string
  /** Null when it holds several organizations' pages. */
  orgId: string | null
  minReceivedAt: Instant
  maxReceivedAt: Instant
  rows: number
  sizeBytes: number
  level: 'fresh' | 'merged' | 'hour' | 'day'
}

/** The files that one segment became; null or absent what it held nothing for. */
export interface SegmentFiles {
  file: EventFile | null
  rollup: RollupFile | null
  pages?: PageFile | null
}

/** Which files make up the history. Kept in SQLite, so that a swap of files is one transaction; mirrored in memory. */
export class Manifest {
  private rows: readonly EventFile[]
  private readonly counted: FileTable<RollupFile>
  private readonly paged: FileTable<PageFile>

  constructor(private readonly db: Db) {
    this.rows = this.read()
    const common = ['path', 'orgId', 'rows', 'sizeBytes', 'level'] as const
    this.counted = new FileTable(db, 'rollupFile', [...common, 'minMinute', 'maxMinute'])
    this.paged = new FileTable(db, 'pageFile', [...common, 'minReceivedAt', 'maxReceivedAt'])
  }

  /** The files of this moment; the array is never changed afterwards, so a running query may keep it. */
  files(): readonly EventFile[] {
    return this.rows
  }

  /** The files of counts of this moment, in no order; as `files`, never changed afterwards. */
  rollups(): readonly RollupFile[] {
    return this.counted.present()
  }

  /** The files of `pages`; as `rollups`. */
  pages(): readonly PageFile[] {
    return this.paged.present()
  }

  hasSegment(name: string): boolean {
    return this.db.prepare('SELECT 1 FROM segment WHERE name = ?').get(name) !== undefined
  }

  /** Name of the newest segment ever loaded; null before the first. */
  lastSegment(): string | null {
    return (this.db.prepare('SELECT max(name) AS name FROM segment').get() as { name: string | null }).name
  }

  /** Latest `receivedAt` of any file; 0 without files. */
  lastReceivedAt(): Instant {
    return this.rows.reduce((latest, file) => Math.max(latest, file.maxReceivedAt), 0)
  }

  /** Highest `seq` of any event; 0 without files. */
  lastSeq(): number {
    return this.rows.reduce((last, file) => Math.max(last, file.maxSeq), 0)
  }

  /**
   * Adds the files of a loaded segment together with whatever `account` writes, in one transaction. Loading it again
   * replaces the same rows.
   */
  addSegment(name: string, { file, rollup, pages }: SegmentFiles, loadedAt: Instant, account: () => void): void {
    tx(this.db, () => {
      this.db.prepare('INSERT OR REPLACE INTO segment VALUES (?, ?)').run(name, loadedAt)
      // Only the newest name is needed once its file is gone; a few are kept for a spool folder that was copied late.
      this.db.prepare('DELETE FROM segment WHERE name < ?').run(segmentBefore(name, KEPT_SEGMENTS))
      if (file) this.insert(file)
      if (rollup) this.counted.insert(rollup)
      if (pages) this.paged.insert(pages)
      account()
    })
    this.rows = this.read()
    if (rollup) this.counted.mirror([], [rollup])
    if (pages) this.paged.mirror([], [pages])
  }

  /** Puts `added` in the place of `removed`, in one transaction. */
  swap(removed: readonly EventFile[], added: readonly EventFile[]): void {
    tx(this.db, () => {
      const remove = this.db.prepare('DELETE FROM eventFile WHERE path = ?')
      for (const file of removed) remove.run(file.path)
      for (const file of added) this.insert(file)
    })
    this.rows = this.read()
  }

  /** As `swap`, of files of counts. */
  swapRollups(removed: readonly RollupFile[], added: readonly RollupFile[]): void {
    this.counted.swap(removed, added)
  }

  /** As `swap`, of files of `pages`. */
  swapPages(removed: readonly PageFile[], added: readonly PageFile[]): void {
    this.paged.swap(removed, added)
  }

  private insert(file: EventFile): void {
    this.db
      .prepare(
        `INSERT OR REPLACE INTO eventFile (path, orgId, hour, minReceivedAt, maxReceivedAt, maxSeq, rows, sizeBytes, level, keys)
         VALUES (@path, @orgId, @hour, @minReceivedAt, @maxReceivedAt, @maxSeq, @rows, @sizeBytes, @level, @keys)`,
      )
      .run({ ...file, keys: file.keys && JSON.stringify(file.keys) })
  }

  private read(): EventFile[] {
    const rows = this.db.prepare('SELECT * FROM eventFile ORDER BY minReceivedAt, path').all() as (Omit<
      EventFile,
      'keys'
    > & { keys: string | null })[]
    return rows.map((row) => ({ ...row, keys: row.keys === null ? null : (JSON.parse(row.keys) as string[]) }))
  }
}

const KEPT_SEGMENTS = 1000

function segmentBefore(name: string, distance: number): string {
  return String(Math.max(0, Number.parseInt(name, 10) - distance)).padStart(name.length, '0')
}
