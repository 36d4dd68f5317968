import type { Db } from '../store/database.ts'

/** Returns where the events of a data folder are stored. `files`: in the folder itself. */
export function storedEngine(db: Db): 'files' | 'clickhouse' {
  return db.prepare('SELECT 1 FROM warehouseEngine').get() ? 'clickhouse' : 'files'
}

/** Marks a folder, so that it is never opened without ClickHouse. Idempotent. */
export function markClickhouse(db: Db): void {
  db.prepare("INSERT OR IGNORE INTO warehouseEngine VALUES (1, 'clickhouse', '')").run()
}

/** How far the segments of a marked folder have been inserted. */
export interface InsertProgress {
  /** Name of the newest inserted segment. All earlier ones are inserted, or rejected. Empty before the first. */
  insertedTo(): string
  noteInserted(segment: string): void
}

export function insertProgress(db: Db): InsertProgress {
  return {
    insertedTo: () => db.prepare<[], string>('SELECT insertedTo FROM warehouseEngine').pluck().get() ?? '',
    noteInserted(segment) {
      db.prepare('UPDATE warehouseEngine SET insertedTo = max(insertedTo, ?)').run(segment)
    },
  }
}
