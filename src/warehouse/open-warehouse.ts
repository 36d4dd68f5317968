import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Db } from '../store/database.ts'
import { type ClickhouseAddress, ClickhouseClient, ClickhouseError } from './clickhouse/clickhouse-client.ts'
import { schemaOf } from './clickhouse/clickhouse-schema.ts'
import { ClickhouseWarehouse } from './clickhouse/clickhouse-warehouse.ts'
import { describeServers, reasonOf } from './clickhouse/prepare-server.ts'
import { DuckdbWarehouse, type EngineOptions } from './duckdb/duckdb-warehouse.ts'
import { damageNotice } from './duckdb/file-check.ts'
import { readManifest } from './duckdb/manifest.ts'
import type { ParquetOptions } from './duckdb/parquet-files.ts'
import { removeLeftovers } from './duckdb/unlisted-files.ts'
import { insertProgress, markClickhouse } from './stored-engine.ts'
import type { Warehouse } from './warehouse.ts'

export type { ClickhouseAddress }

export interface WarehouseOptions {
  /** Folder that contains the stored files. */
  folder: string
  /** Database that contains the manifest. */
  db: Db
  clock: Clock
  /** Server that stores the events; null if they are stored in the folder. */
  clickhouse: ClickhouseAddress | null
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

/**
 * Opens the warehouse. Only this function chooses the engine. Throws `ListError`, and `invalid` with a sentence if the
 * ClickHouse server refuses.
 */
export async function openWarehouse(options: WarehouseOptions): Promise<Warehouse> {
  const { folder, db, clock, clickhouse, leftovers, callersTimeoutMs, spoolFiles, report, info, notifyOperator } =
    options
  const engine: EngineOptions = {
    folder,
    clock,
    spoolFiles,
    report,
    notifyOperator,
    ...(callersTimeoutMs === undefined ? {} : { callersTimeoutMs }),
    manifest: readManifest(db),
    damaged: (flaws) => notifyOperator(damageNotice(flaws)),
    restored: (files) => info(`files are intact again and in use: ${files.map(({ path }) => path).join(', ')}`),
  }
  const warehouse = clickhouse
    ? await ClickhouseWarehouse.open({ ...engine, address: clickhouse, progress: insertProgress(db), info })
    : await DuckdbWarehouse.open(engine)
  try {
    if (clickhouse) markClickhouse(db)
    await removeLeftovers(folder, leftovers)
    await warehouse.parquet.check.start()
    return warehouse
  } catch (error) {
    warehouse.close()
    throw error
  }
}

/** Describes the ClickHouse servers. Changes nothing. Throws `upstream` with the reason if they can't be used. */
export async function describeClickhouse(address: ClickhouseAddress): Promise<string> {
  try {
    return await describeServers(new ClickhouseClient(address))
  } catch (error) {
    throw new AppError('upstream', reasonOf(error))
  }
}

/** Returns why a request to ClickHouse failed; null for other errors. */
export function clickhouseFailure(error: unknown): string | null {
  return error instanceof ClickhouseError ? reasonOf(error) : null
}

/** Returns the SQL that creates the tables on a ClickHouse server, or on each server of its cluster. */
export function clickhouseSchema(login: Pick<ClickhouseAddress, 'cluster' | 'replicated'> | null): string {
  return schemaOf(login ?? { cluster: null, replicated: false })
    .map((sql) => `${sql};`)
    .join('\n\n')
}
