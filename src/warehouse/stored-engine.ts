import type { Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'

/**
 * Returns where the events of a data folder are stored. `files`: in the folder itself. A database of an earlier version
 * has no other engine.
 */
export function storedEngine(db: Db): 'files' | 'clickhouse' {
  const exists = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'warehouseEngine'`).get()
  return exists && db.prepare('SELECT 1 FROM warehouseEngine').get() ? 'clickhouse' : 'files'
}

/** State of the numbering of events and segments. */
export interface Numbered {
  /** Name of the newest segment; empty before the first. */
  segment: string
  lastSeq: number
  lastReceivedAt: Instant
}

const NOTHING: Numbered = { segment: '', lastSeq: 0, lastReceivedAt: 0 }

/**
 * Marks a folder, so that it is never opened without ClickHouse. Idempotent.
 * @param inserted events that are in ClickHouse already
 */
export function markClickhouse(db: Db, inserted: Numbered = NOTHING): void {
  db.prepare(
    `INSERT OR IGNORE INTO warehouseEngine (only, engine, insertedTo, lastSeq, lastReceivedAt)
     VALUES (1, 'clickhouse', @segment, @lastSeq, @lastReceivedAt)`,
  ).run(inserted)
}

/** Marks a folder whose events are in its own files again. */
export function unmarkClickhouse(db: Db): void {
  db.prepare('DELETE FROM warehouseEngine').run()
}

/** How far the segments of a marked folder have been inserted. */
export interface InsertProgress {
  /** Name of the newest inserted segment. All earlier ones are inserted, or rejected. Empty before the first. */
  insertedTo(): string
  noteInserted(segment: string): void
  /** Highest values among the events that were moved to ClickHouse from files; 0 without such events. */
  readonly moved: Pick<Numbered, 'lastSeq' | 'lastReceivedAt'>
}

export function insertProgress(db: Db): InsertProgress {
  const moved = db.prepare<[], InsertProgress['moved']>('SELECT lastSeq, lastReceivedAt FROM warehouseEngine').get()
  return {
    insertedTo: () => db.prepare<[], string>('SELECT insertedTo FROM warehouseEngine').pluck().get() ?? '',
    noteInserted(segment) {
      db.prepare('UPDATE warehouseEngine SET insertedTo = max(insertedTo, ?)').run(segment)
    },
    moved: moved ?? NOTHING,
  }
}
