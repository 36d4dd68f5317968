import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, HOUR_MS, type Instant, SECOND_MS, systemClock } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import type { SegmentContent } from '../ingest/segment-counts.ts'
import { spooledSegments } from '../ingest/segment-reader.ts'
import type { Db } from '../store/database.ts'
import { quoteText } from './duckdb/duckdb-dialect.ts'
import { ListError, type Manifest, type ManifestFile, readManifest } from './duckdb/manifest.ts'
import { ParquetFiles } from './duckdb/parquet-files.ts'
import { isCompacted } from './duckdb/plan-merges.ts'
import {
  addToListing,
  contentOfFiles,
  type HourUsage,
  type Listing,
  type Owner,
  ownersOf,
  selectListable,
} from './duckdb/rebuild-manifest.ts'
import { filesOnDisk, findDifferences, isManifestOlder, listedPaths } from './duckdb/unlisted-files.ts'
import type { StoredPart } from './warehouse.ts'

/* Checks and examines the files of a warehouse that is not open, and rebuilds its manifest. */

export { ListError, type Owner }

/** Folder, database and spool of a warehouse. */
export interface WarehouseFolder {
  db: Db
  /** Folder of events. */
  folder: string
  spoolFolder: string
}

/** Version of the engine's library, such as `v1.5.4`. */
export async function engineVersion(): Promise<string> {
  const { libraryVersion } = await import('./duckdb/execute-sql.ts')
  return libraryVersion()
}

/** Number of files of events, counts and `pages` on disk. */
export function storedFiles(folder: string): number {
  return filesOnDisk(folder).length
}

/** Number of files in the manifest. Throws `ListError` if the manifest is unreadable. */
export function listedFiles(db: Db): number {
  return listedFilePaths(db).length
}

/** Time at which a spool segment was last moved into the event files; null if none has been. */
export function lastLoadedAt(db: Db): Instant | null {
  return db.prepare<[], Instant | null>('SELECT max(loadedAt) FROM segment').pluck().get() ?? null
}

/**
 * Paths of all files in the manifest, relative to the folder and including damaged files. Throws `ListError` if the
 * manifest is unreadable.
 */
export function listedFilePaths(db: Db): string[] {
  return listedPaths(listOf(db))
}

/** Events in files whose last event was received before a time; all fields are 0 without such files. */
export interface StoredEvents {
  events: number
  bytes: number
  firstAt: Instant
  lastAt: Instant
}

type SizedPart = Pick<StoredPart, 'kind' | 'rows' | 'bytes' | 'firstAt' | 'lastAt'>

/** Returns the events in files that end before this time. Throws `ListError` if the manifest is unreadable. */
export function storedEvents(db: Db, before: Instant): StoredEvents {
  const parts = listOf(db)
    .files()
    .map(({ rows, sizeBytes: bytes, minReceivedAt: firstAt, maxReceivedAt: lastAt }) => {
      return { kind: 'events' as const, rows, bytes, firstAt, lastAt }
    })
  return eventsOfParts(parts, before)
}

/** Returns the events in parts that end before this time. */
export function eventsOfParts(parts: readonly SizedPart[], before: Instant): StoredEvents {
  const found: StoredEvents = { events: 0, bytes: 0, firstAt: 0, lastAt: 0 }
  for (const { kind, rows, bytes, firstAt, lastAt } of parts) {
    if (kind !== 'events' || lastAt >= before) continue
    found.firstAt = found.events === 0 ? firstAt : Math.min(found.firstAt, firstAt)
    found.lastAt = Math.max(found.lastAt, lastAt)
    found.events += rows
    found.bytes += bytes
  }
  return found
}

/** Differences between the files on disk and the manifest. Paths are relative to the folder. */
export interface Comparison {
  /** Unlisted files that may contain the only copy of their data. */
  strays: string[]
  /** Unlisted files without unique data, left behind by a killed process. */
  leftovers: string[]
  /**
   * True if some files are newer than everything that the manifest has ever contained. The manifest then does not
   * belong to these files.
   */
  isOlder: boolean
}

/** Read-only. Throws `ListError`. */
export async function compareFolder({ db, folder, spoolFolder }: WarehouseFolder, clock: Clock): Promise<Comparison> {
  const manifest = readManifest(db)
  const listed = new Set(listedPaths(manifest))
  if (filesOnDisk(folder).every((path) => listed.has(path))) return { strays: [], leftovers: [], isOlder: false }
  const parquet = await ParquetFiles.open({ folder, manifest, clock, spoolFiles: () => [] })
  try {
    const parts = { parquet, manifest, folder, spoolFolder }
    const differences = await findDifferences(parts)
    const isOlder = await isManifestOlder(parts, differences)
    return { strays: differences.strays.map(({ path }) => path), leftovers: differences.leftovers, isOlder }
  } finally {
    parquet.close()
  }
}

/** Duration of a query that reads some of the event files. */
export interface QueryTiming {
  query: string
  files: number
  rows: number
  ms: number
}

/** Columns that the measured queries read. */
const MEASURED = { 'receivedAt of all events': 'count(receivedAt)', 'vendors of all events': 'count(DISTINCT vendor)' }
/** Number of the most recent event files that are read. */
const MEASURED_FILES = 50

/**
 * Measures queries over the most recent event files, and returns nothing from them. Writes nothing to the folder. Throws
 * `ListError` if the manifest is unreadable.
 */
export async function timeQueries(
  { db, folder }: Pick<WarehouseFolder, 'db' | 'folder'>,
  temporaryFolder: string,
): Promise<QueryTiming[]> {
  const manifest = listOf(db)
  const files = manifest.files().slice(-MEASURED_FILES)
  if (files.length === 0) return []
  const options = { folder, manifest, clock: systemClock, spoolFiles: () => [], temporaryFolder }
  const parquet = await ParquetFiles.open(options)
  try {
    const list = files.map(({ path }) => quoteText(join(folder, path))).join(', ')
    const rows = files.reduce((sum, file) => sum + file.rows, 0)
    const timings: QueryTiming[] = []
    for (const [query, column] of Object.entries(MEASURED)) {
      const begun = performance.now()
      await parquet.run(`SELECT ${column} FROM read_parquet([${list}], union_by_name = true)`)
      timings.push({ query, files: files.length, rows, ms: Math.round(performance.now() - begun) })
    }
    return timings
  } finally {
    parquet.close()
  }
}

/** Called after each file with the number of processed files. */
export type Progress = (done: number, of: number) => void

/** Result of examining a folder. */
export interface Examined {
  /** Number of files in the manifest. */
  listed: number
  /** Damaged files in the manifest, with the reason. */
  broken: { path: string; fault: string }[]
  /** Number of uncompacted files from hours that ended more than 6 h ago. */
  uncompacted: number
  /** As in `Comparison`; null while a server is running, because it is writing files. */
  unlisted: Pick<Comparison, 'strays' | 'leftovers'> | null
}

/** A server compacts an hour within minutes of its end. After this time, a problem must be preventing compaction. */
const UNCOMPACTED_MS = 6 * HOUR_MS

export interface ExamineOptions {
  isRunning: boolean
  /** Existing folder for the engine's temporary files, outside the data folder. */
  temporaryFolder: string
  progress: Progress
}

/**
 * Reads every file in the manifest completely and writes nothing to the folder. Throws `ListError` if the manifest is
 * unreadable.
 */
export async function examineFolder(
  { db, folder, spoolFolder }: WarehouseFolder,
  { isRunning, temporaryFolder, progress }: ExamineOptions,
): Promise<Examined> {
  const manifest = listOf(db)
  const options = { folder, manifest, clock: systemClock, spoolFiles: () => [], temporaryFolder }
  const parquet = await ParquetFiles.open(options)
  try {
    const broken: Examined['broken'] = []
    const files = manifest.present()
    for (const [index, file] of files.entries()) {
      const fault = await faultOf(parquet, file)
      // A running server may have replaced the file in the meantime.
      if (fault !== null && listedPaths(readManifest(db)).includes(file.path)) broken.push({ path: file.path, fault })
      progress(index + 1, files.length)
    }
    const oldestRunning = systemClock.now() - UNCOMPACTED_MS
    const differences = isRunning ? null : await findDifferences({ parquet, manifest, folder, spoolFolder })
    const unlisted = differences && { ...differences, strays: differences.strays.map(({ path }) => path) }
    const uncompacted = manifest.files().filter((file) => !isCompacted(file) && file.hour < oldestRunning).length
    return { listed: listedPaths(manifest).length, broken, uncompacted, unlisted }
  } finally {
    parquet.close()
  }
}

function listOf(db: Db): Manifest {
  try {
    return readManifest(db)
  } catch (error) {
    throw new ListError(messageOf(error), { cause: error })
  }
}

async function faultOf(parquet: ParquetFiles, { path, rows, sizeBytes }: ManifestFile): Promise<string | null> {
  const file = join(parquet.folder, path)
  if (!existsSync(file)) return 'is listed but missing'
  try {
    // The hash covers every cell, so every page of the file is decompressed.
    const [found] = await parquet.run<{ rows: number }>(
      `SELECT count(*) AS rows, bit_xor(hash(cells)) AS cells FROM read_parquet(${quoteText(file)}) cells`,
    )
    if (found?.rows !== rows) return `has ${found?.rows} rows instead of ${rows}`
    const bytes = statSync(file).size
    return bytes === sizeBytes ? null : `has ${bytes} bytes instead of ${sizeBytes}`
  } catch (error) {
    return `is unreadable (${messageOf(error).split('\n', 1)[0]})`
  }
}

/** Result of rebuilding the manifest. */
export interface RebuiltFileList {
  /** Files that were added to the manifest. */
  listed: string[]
  /** Unreadable files, which are not in the manifest. */
  unreadable: string[]
  /** Missing files, which were removed from the manifest. */
  gone: string[]
  /** Organizations and domains that have events in the added files and the spool, oldest first. */
  owners: Owner[]
  /** Content of all files. */
  content: SegmentContent
  usage: HourUsage[]
}

/**
 * Adds unlisted files to the manifest and removes missing files from it. `account` runs in the same transaction.
 * Deletes no files. Idempotent. Throws `ListError`.
 */
export async function rebuildFileList(
  { db, folder, spoolFolder }: WarehouseFolder,
  clock: Clock,
  { account, progress }: { account(found: RebuiltFileList): void; progress: Progress },
): Promise<RebuiltFileList> {
  const manifest = readManifest(db)
  const spool = spooledSegments(spoolFolder).map((name) => join(spoolFolder, `${name}.ndjson`))
  const parquet = await ParquetFiles.open({ folder, manifest, clock, spoolFiles: () => spool })
  try {
    const { missing: gone, strays } = await findDifferences({ parquet, manifest, folder, spoolFolder })
    const worth = selectListable(strays, filesOnDisk(folder))
    const { listing, listed, unreadable } = await listingOf(parquet, worth, progress)
    const owners = await ownersOf(parquet, folder, { ...listing, spool })
    const isGone = new Set(gone)
    const present = <File extends { path: string }>(known: readonly File[], found: readonly File[]) => [
      ...known.filter(({ path }) => !isGone.has(path)),
      ...found,
    ]
    const known = await contentOfFiles(parquet, folder, {
      files: present(manifest.files(), listing.files),
      rollups: present(manifest.rollups(), listing.rollups),
      pages: [],
    })
    const found = { listed, unreadable, gone, owners, ...known }
    const at = clock.now()
    manifest.relist(listing, { gone: isGone, segment: segmentAt(at), at }, () => account(found))
    return found
  } finally {
    parquet.close()
  }
}

async function listingOf(parquet: ParquetFiles, paths: readonly string[], progress: Progress) {
  const listing: Listing = { files: [], rollups: [], pages: [] }
  const [listed, unreadable]: [string[], string[]] = [[], []]
  for (const [index, path] of paths.entries()) {
    try {
      await addToListing(listing, parquet, parquet.folder, path)
      listed.push(path)
    } catch {
      // Files that are unreadable for any reason are reported and left unchanged.
      unreadable.push(path)
    }
    progress(index + 1, paths.length)
  }
  return { listing, listed, unreadable }
}

/**
 * Returns a name that sorts after those of all existing segments. There is at most one segment per second. Names must
 * not repeat, because the names of merged files are derived from them.
 */
function segmentAt(at: Instant): string {
  return String(Math.floor(at / SECOND_MS)).padStart(12, '0')
}
