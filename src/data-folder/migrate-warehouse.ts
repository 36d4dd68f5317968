import { scanPersonalData } from '../compliance/scan-personal-data.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { SeenBatches } from '../ingest/seen-batches.ts'
import { openToRead } from '../store/inspect-database.ts'
import type { DayDifference } from '../warehouse/migration/compare-day.ts'
import type { DayProgress } from '../warehouse/migration/copy-history.ts'
import { migrateToClickhouse } from '../warehouse/migration/migrate-to-clickhouse.ts'
import { checkSource, migrateToFolder } from '../warehouse/migration/migrate-to-folder.ts'
import { MigrationProgress } from '../warehouse/migration/migration-progress.ts'
import type { ClickhouseAddress } from '../warehouse/open-warehouse.ts'
import { storedEngine } from '../warehouse/stored-engine.ts'
import { flush } from './flush-spool.ts'
import { folderPaths } from './folder-paths.ts'
import { type FolderOptions, openAllStores, type Stores } from './open-folder.ts'

export interface MigrationOptions extends Pick<FolderOptions, 'report' | 'log' | 'notifyOperator'> {
  data: string
  clock: Clock
  to: 'clickhouse' | 'folder'
  /** The server to which or from which the events are moved. */
  address: ClickhouseAddress
  /** Moves the events although some files are damaged. */
  skipsDamaged: boolean
  /** Discards the progress of an unfinished migration. */
  restarts: boolean
  progress: DayProgress
}

/** Result of a migration. Without `isDone`, the events are still where they were. */
export interface Migration {
  isDone: boolean
  /** The first hours whose events are not the same on both sides. */
  differences: DayDifference[]
  /** Paths of damaged files, whose events were not moved. */
  damaged: string[]
  /** Segments that ClickHouse has never accepted. Their files stay in use. */
  rejected: string[]
}

/**
 * Moves the event history of a stopped server to another engine. Can be repeated after it was interrupted. Throws
 * `FolderInUse` if the server is running, `FolderError`, `conflict`, and the errors of ClickHouse.
 */
export async function migrateWarehouse(options: MigrationOptions): Promise<Migration> {
  const { data, clock, to, address, report, log, notifyOperator } = options
  const { events: folder, database } = folderPaths(data)
  checkDirection(database, to)
  const clickhouse = to === 'folder' ? address : null
  const stores = await openAllStores(data, clock, { clickhouse, report, log, notifyOperator })
  try {
    const { db } = stores
    if (options.restarts) new MigrationProgress(db).clear()
    if (to === 'folder') await checkSource({ db, address })
    await loadSpool(stores, clock)
    const given = { db, folder, clock, address, report: options.progress }
    if (to === 'clickhouse')
      return { rejected: [], ...(await migrateToClickhouse({ ...given, skipsDamaged: options.skipsDamaged })) }
    const { differences, rejected } = await migrateToFolder(given)
    return { isDone: differences.length === 0, differences, rejected, damaged: [] }
  } finally {
    await stores.spool.close()
    stores.close()
  }
}

/** Throws `conflict` if the events are already where they are to be moved. */
function checkDirection(database: string, to: MigrationOptions['to']): void {
  const db = openToRead(database)
  try {
    const isThere = (storedEngine(db) === 'clickhouse') === (to === 'clickhouse')
    if (isThere)
      throw new AppError('conflict', `the events are already in ${to === 'folder' ? 'the folder' : 'ClickHouse'}`)
  } finally {
    db.close()
  }
}

/** Loads all segments of the spool, and scans them for personal data, because this is not possible after the move. */
async function loadSpool({ db, spool, warehouse }: Stores, clock: Clock): Promise<void> {
  const collector = { recordRefusals: async () => {} }
  await flush({ db, spool, warehouse, batches: new SeenBatches(db, clock), collector })
  await scanPersonalData({ db, warehouse })
}
