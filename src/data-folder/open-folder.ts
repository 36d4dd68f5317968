import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { migrations } from '../../migrations/index.ts'
import { SHARED_NUMBERING } from '../collectors/store.ts'
import type { Clock } from '../core/clock.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { spooledSegments } from '../ingest/segment-reader.ts'
import { type SegmentDamage, segmentNotice } from '../ingest/segment-recovery.ts'
import { Spool, type SpoolOptions } from '../ingest/spool.ts'
import { type Db, openDatabase, type UpgradeLog } from '../store/database.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { inspectDatabase, isDamage, openToRead, schemaOf } from '../store/inspect-database.ts'
import { upgradeCopyPath } from '../store/upgrade-copy.ts'
import { compareFolder, ListError, listedFiles, storedFiles } from '../warehouse/inspect-warehouse-folder.ts'
import { undoMoves } from '../warehouse/migration/moved-files.ts'
import { type ClickhouseAddress, openWarehouse } from '../warehouse/open-warehouse.ts'
import { storedEngine } from '../warehouse/stored-engine.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { sealStoredTargets } from './encrypt-stored-targets.ts'
import {
  cutDatabase,
  damagedDatabase,
  type FolderError,
  lostDatabase,
  lostEvents,
  olderDatabase,
  otherEngine,
  otherProcess,
  strayWarning,
} from './folder-errors.ts'
import { type FolderPaths, folderPaths } from './folder-paths.ts'
import { checkKey, keyModeWarning, openBox } from './sealed-secrets.ts'

/**
 * Opens the database and the key of a data folder, or creates both if the folder is empty. Copies and upgrades a database
 * of an older version, and passes what it does to `log`. Throws `FolderError` without
 * changing anything in three cases: the database is damaged, it is missing although the folder contains data, or it
 * contains secrets that the key can't decrypt.
 */
export function openStores(folder: string, log?: UpgradeLog): { db: Db; box: SecretBox } {
  const paths = folderPaths(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (checkDatabase(paths) === 'sound') {
    const undo = upgradeOlder(paths, log)
    try {
      using db = toRead(paths)
      readable(paths, () => checkOwner(paths, db.value))
      readable(paths, () => checkKey(paths, db.value))
    } catch (error) {
      undo()
      throw error
    }
  }
  return openChecked(paths)
}

/**
 * Upgrades the database of an older version, because the checks of a folder read tables as they are in this version.
 * Returns a function that puts the older database back if the folder is rejected.
 */
function upgradeOlder(paths: FolderPaths, log?: UpgradeLog): () => void {
  const schema = schemaOf(paths.database)
  if (schema >= migrations.length) return () => {}
  readable(paths, () => openDatabase(paths.database, log).close())
  return () => renameSync(upgradeCopyPath(paths.database, schema), paths.database)
}

function openChecked(paths: FolderPaths): { db: Db; box: SecretBox } {
  const db = readable(paths, () => openDatabase(paths.database))
  try {
    const box = openBox(paths, db)
    sealStoredTargets(db, box)
    return { db, box }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Returns the result of `work`. Throws `FolderError` if the database is found to be damaged. */
function readable<T>(paths: FolderPaths, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isDamage(error)) throw damagedDatabase(paths, error.message)
    throw error
  }
}

function toRead({ database }: FolderPaths) {
  const db = openToRead(database)
  return { value: db, [Symbol.dispose]: () => db.close() }
}

/**
 * Returns the state of the database. Throws `FolderError` if it is damaged, or if it is missing although there are
 * events.
 */
export function checkDatabase(paths: FolderPaths): 'sound' | 'empty' {
  const state = inspectDatabase(paths.database)
  if (state.kind === 'damaged') throw damagedDatabase(paths, state.reason)
  if (state.kind === 'cut') throw cutDatabase(paths, state.reason)
  if (state.kind === 'sound') return state.kind
  const [files, segments] = [storedFiles(paths.events), spooledSegments(paths.spool).length]
  if (files + segments > 0) throw lostDatabase(paths, { files, segments })
  return state.kind
}

/** Settings of the event history, and callbacks for errors, the log, and messages to the operator. */
export interface FolderOptions {
  /** Time limit for a caller's query on the history. Default: 20 s. */
  queryTimeoutMs?: number
  /** Server that stores the events. Default: none, and they are stored in the folder. */
  clickhouse?: ClickhouseAddress | null
  /** Called for errors that occur after startup. */
  report(error: unknown, where: string): void
  log: { info(message: string): void; warn(message: string): void }
  /** Sends an e-mail to the operator. */
  notifyOperator(notice: { subject: string; text: string }): void
}

/** All opened stores of a data folder. */
export type Stores = Awaited<ReturnType<typeof openAllStores>>

/**
 * Locks the folder and opens all of its stores. Throws `FolderError` without changing anything if the parts of the
 * folder don't match.
 */
export async function openAllStores(folder: string, clock: Clock, options: FolderOptions) {
  const paths = folderPaths(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  using opened = new DisposableStack()
  opened.adopt(lockFolder(folder), (unlock) => unlock())
  const { strays, leftovers } = await checkFolder(paths, clock, (line) => options.log.info(line))
  for (const path of [paths.events, paths.spool]) mkdirSync(path, { recursive: true, mode: 0o700 })
  if (strays.length > 0) options.log.warn(strayWarning(paths, strays))
  const { db, box } = openChecked(paths)
  opened.adopt(db, (db) => db.close())
  const { clickhouse = null } = options
  const fault = engineFault(paths, db, clickhouse !== null)
  if (fault) throw fault
  const exposed = keyModeWarning(paths)
  if (exposed) options.log.warn(exposed)
  const warehouse = await readList(paths, () =>
    openWarehouse({
      folder: paths.events,
      db,
      clock,
      clickhouse,
      leftovers,
      callersTimeoutMs: options.queryTimeoutMs,
      spoolFiles: (window) => spool.files(window),
      report: options.report,
      info: (message) => options.log.info(message),
      notifyOperator: options.notifyOperator,
    }),
  )
  opened.adopt(warehouse, (warehouse) => warehouse.close())
  const spool = openSpool(paths.spool, clock, warehouse, options.notifyOperator, {
    // Collectors can number events of the same history at any time.
    ...(clickhouse && { numbering: { ...SHARED_NUMBERING, slot: 0 } }),
  })
  const all = opened.move()
  return { db, box, spool, warehouse, late: paths.late, close: () => all.dispose() }
}

/** Throws `FolderError` if the folder belongs to a collector, whose database has only copies of some rows. */
function checkOwner(paths: FolderPaths, db: Db): void {
  if (db.prepare('SELECT 1 FROM collectorState').get()) throw otherProcess(paths, 'collector')
}

/**
 * Returns an error if the events are stored in the other engine; null if they are not. A folder without stored events
 * fits both.
 */
export function engineFault(paths: FolderPaths, db: Db, isClickhouse: boolean): FolderError | null {
  const stored = storedEngine(db)
  if (stored === 'clickhouse') return isClickhouse ? null : otherEngine(paths, stored)
  return isClickhouse && listedFiles(db) > 0 ? otherEngine(paths, stored) : null
}

/** Returns the result of `work`. Throws `FolderError` if the manifest is damaged. */
export async function readList<T>(paths: FolderPaths, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ListError) throw damagedDatabase(paths, 'its list of files is unreadable')
    if (isDamage(error)) throw damagedDatabase(paths, error.message)
    throw error
  }
}

/**
 * Checks that the parts of the folder match, after upgrading the database of an older version. Returns the paths of
 * event files that are not in the manifest. Throws `FolderError` and leaves the folder unchanged if it is rejected.
 */
async function checkFolder(paths: FolderPaths, clock: Clock, log: UpgradeLog) {
  if (checkDatabase(paths) === 'empty') return { strays: [], leftovers: [] }
  const undo = upgradeOlder(paths, log)
  try {
    return await checkParts(paths, clock)
  } catch (error) {
    undo()
    throw error
  }
}

async function checkParts(paths: FolderPaths, clock: Clock): Promise<{ strays: string[]; leftovers: string[] }> {
  using db = toRead(paths)
  readable(paths, () => checkOwner(paths, db.value))
  readable(paths, () => checkKey(paths, db.value))
  const listed = existsSync(paths.events) ? 0 : await readList(paths, async () => listedFiles(db.value))
  if (listed > 0) throw lostEvents(paths, listed)
  await readList(paths, async () => undoMoves(db.value, paths.events))
  const parts = { db: db.value, folder: paths.events, spoolFolder: paths.spool }
  const { strays, leftovers, isOlder } = await readList(paths, () => compareFolder(parts, clock))
  if (isOlder) throw olderDatabase(paths, strays)
  return { strays, leftovers }
}

/** Opens the spool. Reports damage to the operator by e-mail. */
function openSpool(
  folder: string,
  clock: Clock,
  { loaded }: Pick<Warehouse, 'loaded'>,
  notifyOperator: FolderOptions['notifyOperator'],
  options: Pick<SpoolOptions, 'numbering'>,
): Spool {
  const found: SegmentDamage[] = []
  let damaged = (damage: SegmentDamage): void => void found.push(damage)
  const spool = new Spool(folder, clock, loaded, { ...options, damaged: (damage) => damaged(damage) })
  // All damage found during startup is reported in a single e-mail.
  if (found.length > 0) notifyOperator(segmentNotice(found))
  damaged = (damage) => notifyOperator(segmentNotice([damage]))
  return spool
}
