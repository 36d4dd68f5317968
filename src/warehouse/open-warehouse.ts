import type { Clock } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { damageNotice } from './duckdb/file-check.ts'
import { readManifest } from './duckdb/manifest.ts'
import type { ParquetOptions } from './duckdb/parquet-files.ts'
import { removeLeftovers } from './duckdb/unlisted-files.ts'
import { DuckdbWarehouse } from './duckdb/warehouse.ts'
import type { Warehouse } from './warehouse.ts'

export interface WarehouseOptions {
  /** Where it keeps what is stored. */
  folder: string
  /** Knows what belongs to it. */
  db: Db
  clock: Clock
  /** What `compareFolder` found to hold nothing that is not elsewhere: it is removed. */
  leftovers: readonly string[]
  /** A caller's query that takes longer is ended; 20 s when left out. */
  callersTimeoutMs?: number | undefined
  /** Files that hold events the warehouse does not have yet; of a window: those that may hold events received in it. */
  spoolFiles: ParquetOptions['spoolFiles']
  /** Told why a query failed, and what could not be read. */
  report(error: unknown, where: string): void
  /** What an operator should know who reads the log. */
  info(message: string): void
  /** What an operator must know. */
  notifyOperator(notice: { subject: string; text: string }): void
}

/** The warehouse that the program has: here, and only here, it is chosen. Fails with `ListError`. */
export async function openWarehouse(options: WarehouseOptions): Promise<Warehouse> {
  const { folder, db, clock, leftovers, callersTimeoutMs, spoolFiles, report, info, notifyOperator } = options
  const warehouse = await DuckdbWarehouse.open({
    ...{
      folder,
      clock,
      spoolFiles,
      report,
      notifyOperator,
      ...(callersTimeoutMs === undefined ? {} : { callersTimeoutMs }),
    },
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
