import type { Db } from '../store/database.ts'

/** Returns where the events of a data folder are stored. `files`: in the folder itself. */
export function storedEngine(db: Db): 'files' | 'clickhouse' {
  return db.prepare('SELECT 1 FROM warehouseEngine').get() ? 'clickhouse' : 'files'
}

/** Marks a folder, so that it is never opened without ClickHouse. Idempotent. */
export function markClickhouse(db: Db): void {
  db.prepare("INSERT OR IGNORE INTO warehouseEngine VALUES (1, 'clickhouse')").run()
}
