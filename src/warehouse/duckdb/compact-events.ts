import { join } from 'node:path'
import { attemptEach } from '../../core/attempt-each.ts'
import { HOUR_MS, type Instant } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { quoteText } from './duckdb-dialect.ts'
import { lineageOf, nameOf } from './file-lineage.ts'
import type { EventFile, Manifest, ManifestFile } from './manifest.ts'
import { MergeRetries, mergeNotice } from './merge-retries.ts'
import { joined, shredded, shreddingOf, sortedEvents, wholeEvents } from './parameter-columns.ts'
import { isOutOfMemory, type ParquetFiles } from './parquet-files.ts'
import { isCompacted, type Merge, planMerges, unpackedBytesOf } from './plan-merges.ts'
import { RELATION_COLUMNS, readFiles, VIOLATED } from './spool-relation.ts'

export interface Compaction {
  parquet: ParquetFiles
  manifest: Manifest
  /** Folder that contains the event files. */
  folder: string
  /** If absent, failed merges are retried in the next round. */
  retries?: MergeRetries
  /** Called when merges start to fail. */
  notifyOperator?: ((notice: { subject: string; text: string }) => void) | undefined
}

/**
 * Runs all planned merges that are due. Idempotent and crash-safe. A failed merge does not affect other merges and is
 * retried after a delay. Throws the same errors as `attemptEach`.
 */
export async function compactEvents(compaction: Compaction, now: Instant): Promise<void> {
  const { parquet, manifest, retries = new MergeRetries(), notifyOperator } = compaction
  const planned = planMerges(manifest.files(), now)
  retries.keep(planned)
  const due = planned.filter((merge) => retries.isDue(merge, now))
  const isNew = retries.failing === 0
  const failed: Merge[] = []
  try {
    await attemptEach('merges', due, async (merge) => {
      try {
        await mergeOrSplit(compaction, merge)
      } catch (error) {
        if (!parquet.isInterrupted) {
          retries.failed(merge, now)
          failed.push(merge)
        }
        throw error
      }
    })
  } catch (error) {
    if (isNew && failed.length > 0) notifyOperator?.(mergeNotice(failed, messageOf(error)))
    throw error
  }
}

/**
 * Runs a merge, splitting it in half if the engine runs out of memory. A single file that is still too large is written
 * unsorted, which requires only enough memory for its longest rows.
 */
async function mergeOrSplit(compaction: Compaction, merge: Merge): Promise<void> {
  const { parquet, manifest, folder } = compaction
  const { files, level } = merge
  try {
    await runMerge(parquet, manifest, folder, merge)
  } catch (error) {
    if (parquet.isInterrupted || level !== 'compacted' || files.every(isCompacted) || !isOutOfMemory(error)) throw error
    if (files.length === 1) return runMerge(parquet, manifest, folder, { files, level: 'unsorted' })
    const middle = Math.ceil(files.length / 2)
    for (const half of [files.slice(0, middle), files.slice(middle)]) {
      if (!half.every(isCompacted)) await mergeOrSplit(compaction, { files: half, level })
    }
  }
}

export async function runMerge(
  parquet: ParquetFiles,
  manifest: Manifest,
  folder: string,
  { files, level }: Pick<Merge, 'files'> & { level: Merge['level'] | 'unsorted' },
): Promise<void> {
  const isScanned = ({ lookedAt }: EventFile) => Boolean(lookedAt)
  const [first] = files
  const store = {
    // A file scanned in the meantime can't be merged with unscanned files, because its events would be scanned again.
    present: () => manifest.files().filter((file) => first && isScanned(file) === isScanned(first)),
    swap: (removed: readonly EventFile[], added: readonly EventFile[]) => manifest.swap(removed, added),
  }
  await replaceFiles(parquet, folder, store, files, async () => {
    if (level === 'merged') return [await mergeFiles(parquet, folder, files)]
    if (level === 'unsorted') return compactUnsorted(parquet, folder, files)
    return files.every(isCompacted) ? [await joinFiles(parquet, files)] : compactFiles(parquet, folder, files)
  })
}

/** Files of one kind that are listed in the manifest. */
export interface FileStore<File> {
  present(): readonly File[]
  swap(removed: readonly File[], added: readonly File[]): void
}

/**
 * Replaces `files` with the output of `make`. The swap in the manifest is atomic, and running queries keep using the
 * files with which they started. If the process crashes, the old files remain in use. Changes nothing if a file is
 * damaged or was dropped in the meantime. Errors name the first file, because the engine does not always name a file.
 */
export async function replaceFiles<File extends ManifestFile>(
  parquet: ParquetFiles,
  folder: string,
  store: FileStore<File>,
  files: readonly File[],
  make: () => Promise<File[]>,
): Promise<void> {
  const pathsOf = (files: readonly File[]) => files.map((file) => join(folder, file.path))
  const isPresent = () => {
    const paths = new Set(store.present().map((file) => file.path))
    return files.every((file) => paths.has(file.path))
  }
  try {
    // Merging would copy the damage to the new file undetected. The next plan excludes damaged files.
    if (await parquet.check.excludeDamaged(files)) return
    const added = await make()
    if (!isPresent()) return await parquet.remove(pathsOf(added))
    store.swap(files, added)
  } catch (error) {
    // The read failed because a file was dropped in the meantime.
    if (!isPresent()) return
    throw new Error(`${files[0]?.path}: ${messageOf(error)}`, { cause: error })
  }
  await parquet.remove(pathsOf(files))
}

/** Returns the scan time of merged files, which are either all scanned or all unscanned. */
const lookedAt = ([first]: readonly EventFile[]): Pick<EventFile, 'lookedAt'> =>
  first?.lookedAt ? { lookedAt: first.lookedAt } : {}

/** Columns of events whose parameters are stored as JSON. */
const UNSHREDDED_COLUMNS = [...RELATION_COLUMNS, 'params'].join(', ')

const unpackedBytesIn = (files: readonly EventFile[]) => files.reduce((sum, file) => sum + unpackedBytesOf(file), 0)

async function mergeFiles(parquet: ParquetFiles, folder: string, files: readonly EventFile[]): Promise<EventFile> {
  const path = nameOf('m', files)
  const part = (test: string) => `SELECT ${UNSHREDDED_COLUMNS} FROM ${readFiles(folder, files)} WHERE ${test}`
  // Evaluation reads violating events only. Storing them together lets it skip most of the other events' data.
  const select = `${part(VIOLATED)} UNION ALL ${part(`NOT ${VIOLATED}`)}`
  const rows = await parquet.write(path, select, { lineage: lineageOf(files), groupBytes: MERGED_GROUP_BYTES })
  const unpackedBytes = unpackedBytesIn(files)
  return {
    ...(await parquet.describe(path, { rows, level: 'merged', keys: null, hasSegments: true })),
    unpackedBytes,
    ...lookedAt(files),
  }
}

/** Row count and value ranges of one organization's events. */
type Span = Pick<EventFile, 'minReceivedAt' | 'maxReceivedAt' | 'maxSeq' | 'rows'>

/** Uncompressed size of a row group when nothing else uses memory. */
const MERGED_GROUP_BYTES = 32 * 1024 * 1024
const GROUP_BYTES = { min: 16 * 1024 * 1024, max: 64 * 1024 * 1024 }
/** Engine memory shared by row groups and sorting. */
const SHARED_BYTES = 112 * 1024 * 1024
/** Memory for sorting, as a multiple of the uncompressed bytes. Measured with events of 0.3 to 1 kB. */
const SORT_FACTOR = 2.3

function groupBytesFor(unpackedBytes: number): number {
  const left = SHARED_BYTES - unpackedBytes * SORT_FACTOR
  return Math.round(Math.min(GROUP_BYTES.max, Math.max(GROUP_BYTES.min, left)))
}

async function compactFiles(parquet: ParquetFiles, folder: string, files: readonly EventFile[]): Promise<EventFile[]> {
  const source = wholeEvents(folder, files)
  const spans = await spansOf(parquet, files, source)
  const added: EventFile[] = []
  for (const [index, [orgId, span]] of spans.entries()) {
    const own = spans.length === 1 ? null : orgId
    const ours = own === null ? `(${source})` : `(SELECT * FROM (${source}) WHERE orgId = ${quoteText(own)})`
    const shredding = await shreddingOf(parquet, ours, span.rows)
    const path = nameOf(`c${index}`, files)
    const unpackedBytes = shareOf(files, span)
    await parquet.write(path, shredded(sortedEvents(folder, files, own), shredding), {
      lineage: lineageOf(files, spans.length),
      keys: shredding.keys.length,
      groupBytes: groupBytesFor(unpackedBytes),
    })
    added.push(await compacted(parquet, files, { path, orgId, ...span, unpackedBytes, keys: shredding.keys }))
  }
  return added
}

/** Estimated uncompressed size in bytes of the span's rows, based on all rows in the files. */
function shareOf(files: readonly EventFile[], { rows }: Span): number {
  return Math.round((unpackedBytesIn(files) * rows) / Math.max(1, spanOf(files).rows))
}

/** File name prefix of compacted files that are neither sorted nor shredded. */
export const UNSORTED_PREFIX = 'k'

/** Merges files into one file per organization, without sorting or shredding. */
async function compactUnsorted(
  parquet: ParquetFiles,
  folder: string,
  files: readonly EventFile[],
): Promise<EventFile[]> {
  const spans = await spansOf(parquet, files, `SELECT * FROM ${readFiles(folder, files)}`)
  const added: EventFile[] = []
  for (const [index, [orgId, span]] of spans.entries()) {
    const path = nameOf(`${UNSORTED_PREFIX}${index}`, files)
    const own = spans.length === 1 ? '' : ` WHERE orgId = ${quoteText(orgId)}`
    const select = `SELECT ${UNSHREDDED_COLUMNS} FROM ${readFiles(folder, files)}${own}`
    await parquet.write(path, select, { lineage: lineageOf(files, spans.length), groupBytes: GROUP_BYTES.min })
    added.push(
      await compacted(parquet, files, { path, orgId, ...span, unpackedBytes: shareOf(files, span), keys: null }),
    )
  }
  return added
}

/** Joins compacted files that belong to one organization. */
async function joinFiles(parquet: ParquetFiles, files: readonly EventFile[]): Promise<EventFile> {
  const { select, keys } = await joined(parquet, files)
  const path = nameOf('c0', files)
  const form = { lineage: lineageOf(files), keys: keys.length, groupBytes: GROUP_BYTES.max }
  await parquet.write(path, select, form)
  const unpackedBytes = unpackedBytesIn(files)
  return compacted(parquet, files, { path, orgId: files[0]?.orgId ?? '', ...spanOf(files), unpackedBytes, keys })
}

/** Returns the manifest entry of a compacted file that replaces other files. */
async function compacted(
  parquet: ParquetFiles,
  files: readonly EventFile[],
  own: Span & Pick<EventFile, 'path' | 'orgId' | 'unpackedBytes' | 'keys'>,
): Promise<EventFile> {
  const hour = Math.floor(own.minReceivedAt / HOUR_MS) * HOUR_MS
  return {
    ...own,
    hour,
    ...(await parquet.measure(own.path)),
    level: 'compacted',
    hasSegments: true,
    ...lookedAt(files),
  }
}

function spanOf(files: readonly EventFile[]): Span {
  const all = (numberOf: (file: EventFile) => number) => files.map(numberOf)
  return {
    minReceivedAt: Math.min(...all(({ minReceivedAt }) => minReceivedAt)),
    maxReceivedAt: Math.max(...all(({ maxReceivedAt }) => maxReceivedAt)),
    maxSeq: Math.max(...all(({ maxSeq }) => maxSeq)),
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
  }
}

/** Organizations that have events in these files, sorted. `source`: SQL that selects all events. */
async function spansOf(
  parquet: ParquetFiles,
  files: readonly EventFile[],
  source: string,
): Promise<[orgId: string, Span][]> {
  const [first] = files
  if (first?.orgId && files.every(({ orgId }) => orgId === first.orgId)) return [[first.orgId, spanOf(files)]]
  const found = await parquet.run<Span & { orgId: string }>(
    `SELECT orgId, count(*) AS rows, min(receivedAt) AS minReceivedAt, max(receivedAt) AS maxReceivedAt, max(seq) AS maxSeq
     FROM (${source}) GROUP BY orgId ORDER BY orgId`,
  )
  return found.map(({ orgId, ...span }) => [orgId, span])
}
