import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, HOUR_MS, type Instant, SECOND_MS, systemClock } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import type { SegmentContent } from '../ingest/segment-content.ts'
import { spooledSegments } from '../ingest/segment-reader.ts'
import type { Db } from '../store/database.ts'
import { quoteText } from './duckdb/dialect.ts'
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
} from './duckdb/rebuild-listing.ts'
import { filesOnDisk, findDifferences, isManifestOlder, listedPaths } from './duckdb/unlisted-files.ts'

/*
 * What a warehouse that is not open keeps on disk, for whoever checks a data folder before it is used, examines it, or makes
 * its list anew.
 */

export { type HourUsage, ListError, type Owner }

/** A warehouse's folder, what belongs to it, and the spool that it is filled from. */
export interface WarehouseFolder {
  db: Db
  /** Of events. */
  folder: string
  spoolFolder: string
}

/** How many files of events, counts and `pages` there are; needs no database. */
export function storedFiles(folder: string): number {
  return filesOnDisk(folder).length
}

/** Number of files that the database lists; fails with `ListError` when the list can't be read. */
export function listedFiles(db: Db): number {
  return listedPaths(listOf(db)).length
}

/** How what is on disk differs from the list. Names are paths below the folder. */
export interface Comparison {
  /** Not listed, and perhaps the only copy of what they hold. */
  strays: string[]
  /** Not listed, and known to hold nothing that is not elsewhere: what a process that was killed left behind. */
  leftovers: string[]
  /** True when files are there that came after everything the list ever knew: it does not belong to them. */
  isOlder: boolean
}

/** Changes nothing. Fails with `ListError`. */
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

/** Hears after each file how many are done. */
export type Progress = (done: number, of: number) => void

/** What is wrong with what is stored. */
export interface Examined {
  /** How many files are listed. */
  listed: number
  /** Listed files that are not as they should be, and what is wrong with each. */
  broken: { path: string; fault: string }[]
  /** How many files of hours that ended long ago are not compacted. */
  uncompacted: number
  /** As `Baseline`; null while a server runs, which is writing some. */
  unlisted: Pick<Comparison, 'strays' | 'leftovers'> | null
}

/** A server compacts an hour minutes after its end; longer ago something keeps it from doing so. */
const UNCOMPACTED_MS = 6 * HOUR_MS

/** Reads every listed file to its end, and changes nothing. Fails with `ListError` when the list can't be read, whatever the reason. */
export async function examineFolder(
  { db, folder, spoolFolder }: WarehouseFolder,
  { isRunning, progress }: { isRunning: boolean; progress: Progress },
): Promise<Examined> {
  const manifest = listOf(db)
  const parquet = await ParquetFiles.open({ folder, manifest, clock: systemClock, spoolFiles: () => [] })
  try {
    const broken: Examined['broken'] = []
    const files = manifest.present()
    for (const [index, file] of files.entries()) {
      const fault = await faultOf(parquet, file)
      // A server that runs may have put another in its place meanwhile.
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
    // Every cell has a part in it, so every page is unpacked.
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

/** What a list that was made anew says. */
export interface RebuiltFileList {
  /** Files that were not listed before. */
  listed: string[]
  /** Files that can't be read; they are not listed. */
  unreadable: string[]
  /** Files that were listed and are not there. */
  gone: string[]
  /** Whose events the newly listed files and the spool hold, oldest first. */
  owners: Owner[]
  /** What all files hold, and how many events of which hour. */
  content: SegmentContent
  usage: HourUsage[]
}

/**
 * Lists the files that are not listed, and takes off the list what is gone. `account` writes in the same transaction.
 * Deletes no file; doing it again changes nothing. Fails with `ListError`.
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
      // Whatever is wrong with it: it is named, and left alone.
      unreadable.push(path)
    }
    progress(index + 1, paths.length)
  }
  return { listing, listed, unreadable }
}

/**
 * A name later than any that a segment ever had: there is never more than one a second, and names of merged files are
 * made of those of segments, so none may come twice.
 */
function segmentAt(at: Instant): string {
  return String(Math.floor(at / SECOND_MS)).padStart(12, '0')
}
