import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Instant } from '../../core/clock.ts'
import { spooledSegments } from '../../ingest/segment-reader.ts'
import { quoteText } from './dialect.ts'
import { LINEAGE_KEY, type Lineage } from './lineage.ts'
import type { Manifest } from './manifest.ts'
import { pagesIn } from './pages-relation.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { COUNTS } from './rollup.ts'

/** A Parquet file that the manifest does not list. */
export interface UnlistedFile {
  /** Relative to the folder of events, as all paths here. */
  path: string
  lineage: Lineage | null
}

/** How the files on disk differ from the manifest. */
export interface Differences {
  /** Listed, and not there. */
  missing: string[]
  /** Not listed, and known to hold nothing that is not elsewhere: what a process that was killed left behind. */
  leftovers: string[]
  /** Not listed, and perhaps the only copy of what they hold. Never deleted. */
  strays: UnlistedFile[]
}

export interface FolderDeps {
  parquet: ParquetFiles
  manifest: Manifest
  /** Of events. */
  folder: string
  spoolFolder: string
}

/** The folders of Parquet files, below the folder of events. */
export const PLACES = ['', `${COUNTS}/`, pagesIn('')] as const

/** Every Parquet file below the folder of events, but for drafts; none when the folder is not there. */
export function filesOnDisk(folder: string): string[] {
  return PLACES.flatMap((place) => {
    if (!existsSync(join(folder, place))) return []
    const names = readdirSync(join(folder, place)).filter((name) => name.endsWith('.parquet'))
    return names.sort().map((name) => `${place}${name}`)
  })
}

/** Paths of everything that the manifest lists, damaged files among it. */
export function listedPaths(manifest: Manifest): string[] {
  const damaged = manifest.damaged().map(({ file }) => file)
  return [...manifest.files(), ...manifest.rollups(), ...manifest.pages(), ...damaged].map(({ path }) => path)
}

/** Compares the disk with the manifest. Changes nothing. */
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
  // Their own files say what they replaced; there are thousands of them, and seldom a reason to ask.
  const replaced = unexplained.length > 0 ? await replacedBy(parquet, folder, present) : new Set<string>()
  const strays = unexplained.filter(({ path }) => !replaced.has(path))
  const leftovers = unlisted.filter((file) => !strays.includes(file)).map(({ path }) => path)
  return { missing, leftovers, strays }
}

/** Null of a file that replaces none, and of one that can't be read. `path` is relative to the folder of events. */
async function readLineage(parquet: ParquetFiles, folder: string, path: string): Promise<Lineage | null> {
  const sql = `SELECT decode(value) AS text FROM parquet_kv_metadata(${quoteText(join(folder, path))})
    WHERE decode(key) = ${quoteText(LINEAGE_KEY)}`
  try {
    const [row] = await parquet.run<{ text: string }>(sql)
    return row ? (JSON.parse(row.text) as Lineage) : null
  } catch {
    // Whether it can be read is asked elsewhere; here it only says nothing.
    return null
  }
}

/** A segment that is still in the spool is written again, into the same file. */
function isNamedAfter(segments: readonly string[]): (file: UnlistedFile) => boolean {
  const names = new Set(segments)
  return ({ path }) => names.has(segmentOf(path) ?? '')
}

/** Written in the place of files that are all still in force: a merge that did not come to its end. */
function unfinishedIn(present: readonly string[]): (file: UnlistedFile) => boolean {
  const inForce = new Set(present)
  return ({ lineage }) => lineage?.replaces.every((path) => inForce.has(path)) ?? false
}

/** What these files were written in the place of. */
async function replacedBy(parquet: ParquetFiles, folder: string, paths: readonly string[]): Promise<Set<string>> {
  const replaced = new Set<string>()
  for (const path of paths.filter((path) => segmentOf(path) === null)) {
    for (const source of (await readLineage(parquet, folder, path))?.replaces ?? []) replaced.add(source)
  }
  return replaced
}

/** The segment that a file was made of alone; null for a merged file. */
export function segmentOf(path: string): string | null {
  return /(?:^|\/)(\d+)\.parquet$/.exec(path)?.[1] ?? null
}

/** Start of the latest minute of a file of counts, latest `receivedAt` of any other; null when it can't be read. */
export async function lastInstantOf(parquet: ParquetFiles, folder: string, path: string): Promise<Instant | null> {
  const column = path.startsWith(`${COUNTS}/`) ? 'minute' : 'receivedAt'
  try {
    const [row] = await parquet.run<{ last: Instant | null }>(
      `SELECT max(${column}) AS last FROM read_parquet(${quoteText(join(folder, path))})`,
    )
    return row?.last ?? null
  } catch {
    // Not whole, or not ours.
    return null
  }
}

/** True when files are there that came after everything the manifest ever knew: it does not belong to them. */
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

/** Removes what killed processes left behind: drafts, and files that hold nothing that is not elsewhere. */
export async function removeLeftovers(folder: string, leftovers: readonly string[]): Promise<void> {
  const drafts = readdirSync(join(folder, 'tmp')).filter((name) => /\.(?:parquet|ndjson)$/.test(name))
  for (const path of [...drafts.map((name) => `tmp/${name}`), ...leftovers])
    await rm(join(folder, path), { force: true })
}
