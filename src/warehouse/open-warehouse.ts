import type { Clock } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { DuckdbWarehouse } from './duckdb/duckdb-warehouse.ts'
import { damageNotice } from './duckdb/file-check.ts'
import { readManifest } from './duckdb/manifest.ts'
import type { ParquetOptions } from './duckdb/parquet-files.ts'
import { removeLeftovers } from './duckdb/unlisted-files.ts'
import type { Warehouse } from './warehouse.ts'

export interface WarehouseOptions {
  /** Folder that contains the stored files. */
  folder: string
  /** Database that contains the manifest. */
  db: Db
  clock: Clock
  /** Leftovers found by `compareFolder`, which are removed. */
  leftovers: readonly string[]
  /** Time limit for a query from a caller. Default: 20 s. */
  callersTimeoutMs?: number | undefined
  /**
   * Spool files with events that are not loaded yet. With a window, only files that may have events received in the
   * window.
   */
  spoolFiles: ParquetOptions['spoolFiles']
  /** Called for failed queries and unreadable files. */
  report(error: unknown, where: string): void
  /** Writes to the log. */
  info(message: string): void
  /** Sends a message to the operator. */
  notifyOperator(notice: { subject: string; text: string }): void
}

/** Opens the warehouse. Only this function chooses the engine. Throws `ListError`. */
export async function openWarehouse(options: WarehouseOptions): Promise<Warehouse> {
  const { folder, db, clock, leftovers, callersTimeoutMs, spoolFiles, report, info, notifyOperator } = options
  const warehouse = await DuckdbWarehouse.open({
    folder,
    clock,
    spoolFiles,
    report,
    notifyOperator,
    ...(callersTimeoutMs === undefined ? {} : { callersTimeoutMs }),
    manifest: readManifest(db),
    damaged: (flaws) => notifyOperator(damageNotice(flaws)),
    restored: (files) => info(`files are intact again and in use: ${files.map(({ path }) => path).join(', ')}`),
  })
  try {
    await removeLeftovers(folder, leftovers)
    await warehouse.parquet.check.start()
    return warehouse
  } catch (error) {
    warehouse.close()
    throw error
  }
}
