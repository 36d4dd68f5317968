import { mkdirSync } from 'node:fs'
import type { Clock } from '../core/clock.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type SegmentDamage, segmentNotice } from '../ingest/segment-recovery.ts'
import { Spool } from '../ingest/spool.ts'
import { type Db, openDatabase } from '../store/database.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { inspectDatabase, isDamage, openToRead } from '../store/inspect.ts'
import { flawNotice } from '../warehouse/duckdb/file-check.ts'
import { Manifest } from '../warehouse/duckdb/manifest.ts'
import {
  filesOnDisk,
  findDifferences,
  isManifestOlder,
  listedPaths,
  removeLeftovers,
  spooledSegments,
} from '../warehouse/duckdb/unlisted.ts'
import { DuckdbWarehouse } from '../warehouse/duckdb/warehouse.ts'
import { type FolderPaths, pathsOf } from './paths.ts'
import { cutDatabase, damagedDatabase, lostDatabase, olderDatabase, strayWarning } from './refusal.ts'
import { checkKey, keyModeWarning, openBox } from './sealed.ts'

/**
 * The database and the key of a data folder. Both are made in a folder that has no data yet. Fails with `FolderError`,
 * and changes nothing, when the database is damaged, is not there although the folder has data, or has secrets that the
 * key does not open.
 */
export function openStores(folder: string): { db: Db; box: SecretBox } {
  const paths = pathsOf(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (checkDatabase(paths) === 'sound') {
    using db = toRead(paths)
    readable(paths, () => checkKey(paths, db.value))
  }
  return openChecked(paths)
}

function openChecked(paths: FolderPaths): { db: Db; box: SecretBox } {
  const db = readable(paths, () => openDatabase(paths.database))
  try {
    return { db, box: openBox(paths, db) }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Fails with `FolderError` where the database shows its damage only now. */
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

/** Fails with `FolderError` when the database is damaged, or not there although there are events. */
export function checkDatabase(paths: FolderPaths): 'sound' | 'empty' {
  const state = inspectDatabase(paths.database)
  if (state.kind === 'damaged') throw damagedDatabase(paths, state.reason)
  if (state.kind === 'cut') throw cutDatabase(paths, state.reason)
  if (state.kind === 'sound') return state.kind
  const [files, segments] = [filesOnDisk(paths.events).length, spooledSegments(paths.spool).length]
  if (files + segments > 0) throw lostDatabase(paths, { files, segments })
  return state.kind
}

/** Who hears of what. */
export interface FolderReports {
  /** What failed later. */
  report(error: unknown, where: string): void
  /** What an operator should know who reads the log. */
  log: { info(message: string): void; warn(message: string): void }
  /** What an operator must know. */
  tellOperator(notice: { subject: string; text: string }): void
}

/** Everything of a data folder, for one process. */
export type Stores = Awaited<ReturnType<typeof openAllStores>>

/**
 * Opens everything on disk, for this process alone. Fails with `FolderError` when the folder's parts don't belong
 * together; then nothing was changed.
 */
export async function openAllStores(folder: string, clock: Clock, reports: FolderReports) {
  const paths = pathsOf(folder)
  for (const path of [folder, paths.events, paths.spool]) mkdirSync(path, { recursive: true, mode: 0o700 })
  using opened = new DisposableStack()
  opened.adopt(lockFolder(folder), (unlock) => unlock())
  const { strays, leftovers } = await checkFolder(paths, clock)
  if (strays.length > 0) reports.log.warn(strayWarning(paths, strays))
  const { db, box } = openChecked(paths)
  opened.adopt(db, (db) => db.close())
  const exposed = keyModeWarning(paths)
  if (exposed) reports.log.warn(exposed)
  const manifest = manifestOf(paths, db)
  const warehouse = await DuckdbWarehouse.open({
    folder: paths.events,
    manifest,
    clock,
    spoolFiles: () => spool.files(),
    report: reports.report,
    damaged: (flaws) => reports.tellOperator(flawNotice(flaws)),
    restored: (files) =>
      reports.log.info(`files are whole again and in use: ${files.map(({ path }) => path).join(', ')}`),
  })
  opened.adopt(warehouse, (warehouse) => warehouse.close())
  await removeLeftovers(paths.events, leftovers)
  await warehouse.files.start()
  const spool = openSpool(paths.spool, clock, manifest, reports.tellOperator)
  const all = opened.move()
  const { events, late } = paths
  return { db, box, manifest, spool, warehouse, events, late, close: () => all.dispose() }
}

/** Fails with `FolderError` when a cell of the list is not what it can be: SQLite can't tell. */
export function manifestOf(paths: FolderPaths, db: Db): Manifest {
  try {
    return readable(paths, () => new Manifest(db))
  } catch (error) {
    if (error instanceof SyntaxError) throw damagedDatabase(paths, 'its list of files is garbled')
    throw error
  }
}

/**
 * Looks whether the parts of the folder belong together; answers the files of events that the database does not list, all
 * by their paths. Reads only, so that a folder that is refused stays as it is. Fails with `FolderError`.
 */
async function checkFolder(paths: FolderPaths, clock: Clock): Promise<{ strays: string[]; leftovers: string[] }> {
  if (checkDatabase(paths) === 'empty') return { strays: [], leftovers: [] }
  using db = toRead(paths)
  readable(paths, () => checkKey(paths, db.value))
  const manifest = manifestOf(paths, db.value)
  const listed = new Set(listedPaths(manifest))
  if (filesOnDisk(paths.events).every((path) => listed.has(path))) return { strays: [], leftovers: [] }
  const warehouse = await DuckdbWarehouse.open({ folder: paths.events, manifest, clock, spoolFiles: () => [] })
  try {
    const parts = { manifest, warehouse, folder: paths.events, spoolFolder: paths.spool }
    const differences = await findDifferences(parts)
    const strays = differences.strays.map(({ path }) => path)
    if (await isManifestOlder(parts, differences)) throw olderDatabase(paths, strays)
    return { strays, leftovers: differences.leftovers }
  } finally {
    warehouse.close()
  }
}

/** What is found damaged in the spool is told at once. */
function openSpool(
  folder: string,
  clock: Clock,
  manifest: Manifest,
  tellOperator: FolderReports['tellOperator'],
): Spool {
  const found: SegmentDamage[] = []
  let damaged = (damage: SegmentDamage): void => void found.push(damage)
  const loaded = {
    has: (name: string) => manifest.hasSegment(name),
    last: manifest.lastSegment(),
    lastReceivedAt: manifest.lastReceivedAt(),
    lastSeq: manifest.lastSeq(),
  }
  const spool = new Spool(folder, clock, loaded, { damaged: (damage) => damaged(damage) })
  // Of a start that finds many one notice is enough.
  if (found.length > 0) tellOperator(segmentNotice(found))
  damaged = (damage) => tellOperator(segmentNotice([damage]))
  return spool
}
