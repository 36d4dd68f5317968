import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Instant } from '../../core/clock.ts'
import { spooledSegments } from '../../ingest/segment-reader.ts'
import { COUNTS } from './counts-rollup.ts'
import { quoteText } from './duckdb-dialect.ts'
import { LINEAGE_KEY, type Lineage } from './file-lineage.ts'
import type { Manifest } from './manifest.ts'
import { pagesIn } from './pages-relation.ts'
import { type ParquetFiles, PIECES } from './parquet-files.ts'

/** A Parquet file that is not listed in the manifest. */
export interface UnlistedFile {
  /** Path relative to the events folder, as everywhere in this module. */
  path: string
  lineage: Lineage | null
}

/** Differences between the files on disk and the manifest. */
export interface Differences {
  /** Files in the manifest that are missing on disk. */
  missing: string[]
  /** Unlisted files without unique data, left behind by a killed process. */
  leftovers: string[]
  /** Unlisted files that may contain the only copy of their data. They are never deleted. */
  strays: UnlistedFile[]
}

export interface FolderDeps {
  parquet: ParquetFiles
  manifest: Manifest
  /** Folder of events. */
  folder: string
  spoolFolder: string
}

/** The folders that contain Parquet files, relative to the events folder. */
const FOLDERS = ['', `${COUNTS}/`, pagesIn('')] as const

/** Paths of all Parquet files in the events folder, excluding drafts; empty if the folder is missing. */
export function filesOnDisk(folder: string): string[] {
  return FOLDERS.flatMap((subfolder) => {
    if (!existsSync(join(folder, subfolder))) return []
    const names = readdirSync(join(folder, subfolder)).filter((name) => name.endsWith('.parquet'))
    return names.sort().map((name) => `${subfolder}${name}`)
  })
}

/** Paths of all files in the manifest, including damaged ones. */
export function listedPaths(manifest: Manifest): string[] {
  const damaged = manifest.damaged().map(({ file }) => file)
  return [...manifest.files(), ...manifest.rollups(), ...manifest.pages(), ...damaged].map(({ path }) => path)
}

/** Compares the files on disk with the manifest. Read-only. */
export async function findDifferences({ parquet, manifest, folder, spoolFolder }: FolderDeps): Promise<Differences> {
  const onDisk = filesOnDisk(folder)
  const listed = new Set(listedPaths(manifest))
  const present = onDisk.filter((path) => listed.has(path))
  const missing = [...listed].filter((path) => !onDisk.includes(path))
  const unlisted: UnlistedFile[] = []
  for (const path of onDisk) {
    if (!listed.has(path)) unlisted.push({ path, lineage: await readLineage(parquet, folder, path) })
  }
  const isSpooled = isNamedAfter(spooledSegments(spoolFolder))
  const isUnfinished = unfinishedIn(present)
  const unexplained = unlisted.filter((file) => !isSpooled(file) && !isUnfinished(file))
  // Names of replaced files are in the metadata of thousands of files, so they are read only when required.
  const replaced = unexplained.length > 0 ? await replacedBy(parquet, folder, present) : new Set<string>()
  const strays = unexplained.filter(({ path }) => !replaced.has(path))
  const leftovers = unlisted.filter((file) => !strays.includes(file)).map(({ path }) => path)
  return { missing, leftovers, strays }
}

/** Returns null for a file that does not replace other files, and for an unreadable file. */
async function readLineage(parquet: ParquetFiles, folder: string, path: string): Promise<Lineage | null> {
  const sql = `SELECT decode(value) AS text FROM parquet_kv_metadata(${quoteText(join(folder, path))})
    WHERE decode(key) = ${quoteText(LINEAGE_KEY)}`
  try {
    const [row] = await parquet.run<{ text: string }>(sql)
    return row ? (JSON.parse(row.text) as Lineage) : null
  } catch {
    // Unreadable files are reported elsewhere.
    return null
  }
}

/** True for the file of a segment that is still in the spool, because that file will be written again. */
function isNamedAfter(segments: readonly string[]): (file: UnlistedFile) => boolean {
  const names = new Set(segments)
  return ({ path }) => names.has(segmentOf(path) ?? '')
}

/** True for the result of an unfinished merge: all files that it replaces still exist. */
function unfinishedIn(present: readonly string[]): (file: UnlistedFile) => boolean {
  const inForce = new Set(present)
  return ({ lineage }) => lineage?.replaces.every((path) => inForce.has(path)) ?? false
}

/** Paths of the files that these files replaced. */
async function replacedBy(parquet: ParquetFiles, folder: string, paths: readonly string[]): Promise<Set<string>> {
  const replaced = new Set<string>()
  for (const path of paths.filter((path) => segmentOf(path) === null)) {
    for (const source of (await readLineage(parquet, folder, path))?.replaces ?? []) replaced.add(source)
  }
  return replaced
}

/** Name of the spool segment from which a fresh file was written; null for a merged file. */
export function segmentOf(path: string): string | null {
  return /(?:^|\/)(\d+)\.parquet$/.exec(path)?.[1] ?? null
}

/** Latest `receivedAt` in a file (for counts, the start of the latest minute); null if the file is unreadable. */
async function lastInstantOf(parquet: ParquetFiles, folder: string, path: string): Promise<Instant | null> {
  const column = path.startsWith(`${COUNTS}/`) ? 'minute' : 'receivedAt'
  try {
    const [row] = await parquet.run<{ last: Instant | null }>(
      `SELECT max(${column}) AS last FROM read_parquet(${quoteText(join(folder, path))})`,
    )
    return row?.last ?? null
  } catch {
    // The file is incomplete, or was not written by this program.
    return null
  }
}

/**
 * True if some files are newer than everything that the manifest has ever contained. The manifest then does not belong
 * to these files.
 */
export async function isManifestOlder(
  { parquet, manifest, folder }: FolderDeps,
  { missing, strays }: Differences,
): Promise<boolean> {
  const lastSegment = manifest.lastSegment()
  if (lastSegment === null) return strays.length > 0
  const gone = new Set(missing)
  const lastKnownAt = manifest.lastKnownAt()
  for (const { path, lineage } of strays) {
    if (lineage?.replaces.some((source) => gone.has(source))) return true
    const segment = segmentOf(path)
    if (segment !== null && segment > lastSegment) return true
    if (((await lastInstantOf(parquet, folder, path)) ?? 0) > lastKnownAt) return true
  }
  return false
}

/** Removes drafts and leftovers that killed processes left behind. */
export async function removeLeftovers(folder: string, leftovers: readonly string[]): Promise<void> {
  const drafts = readdirSync(join(folder, 'tmp')).filter((name) => /\.(?:parquet|ndjson)$/.test(name))
  for (const path of [...drafts.map((name) => `tmp/${name}`), PIECES, ...leftovers])
    await rm(join(folder, path), { recursive: true, force: true })
}
