import { join } from 'node:path'
import { attemptEach } from '../../core/attempt.ts'
import { HOUR_MS, type Instant } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { quoteText } from './dialect.ts'
import { lineageOf, nameOf } from './lineage.ts'
import type { EventFile, Manifest, ManifestFile } from './manifest.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { isCompacted, type Merge, planMerges } from './plan-merges.ts'
import { joined, shredded, shreddingOf, wholeEvents } from './shred.ts'
import { RELATION_COLUMNS, VIOLATED } from './spooled.ts'

/** Merges all events that are worth it. Killed anywhere and run again, it has the same end. Fails as `attemptEach`. */
export async function compactEvents(
  parquet: ParquetFiles,
  manifest: Manifest,
  folder: string,
  now: Instant,
): Promise<void> {
  await attemptEach('merges', planMerges(manifest.files(), now), (merge) => runMerge(parquet, manifest, folder, merge))
}

/** Carries out one merge. */
export async function runMerge(parquet: ParquetFiles, manifest: Manifest, folder: string, merge: Merge): Promise<void> {
  const isLooked = ({ lookedAt }: EventFile) => Boolean(lookedAt)
  const [first] = merge.files
  const store = {
    // One that was looked through meanwhile is not what was planned: what comes of the others would count it again.
    present: () => manifest.files().filter((file) => first && isLooked(file) === isLooked(first)),
    swap: (removed: readonly EventFile[], added: readonly EventFile[]) => manifest.swap(removed, added),
  }
  await replaceFiles(parquet, folder, store, merge.files, async () => {
    if (merge.level === 'merged') return [await mergeFiles(parquet, folder, merge)]
    return merge.files.every(isCompacted) ? [await joinFiles(parquet, merge)] : compactFiles(parquet, folder, merge)
  })
}

/** A part of the manifest. */
export interface FileStore<File> {
  present(): readonly File[]
  swap(removed: readonly File[], added: readonly File[]): void
}

/**
 * Puts what `make` writes in the place of `files`. The swap in the manifest is atomic; a query that is running keeps the
 * files it started with. Dying anywhere leaves the old files in force. Changes nothing when one of them was dropped in
 * the meantime, or is damaged. An error names the first of them, as the engine does not always.
 */
export async function replaceFiles<File extends ManifestFile>(
  parquet: ParquetFiles,
  folder: string,
  store: FileStore<File>,
  files: readonly File[],
  make: () => Promise<File[]>,
): Promise<void> {
  const pathsOf = (files: readonly File[]) => files.map((file) => join(folder, file.path))
  const isInForce = () => {
    const paths = new Set(store.present().map((file) => file.path))
    return files.every((file) => paths.has(file.path))
  }
  try {
    // A flipped byte would get into the new file unseen. The next plan is made without what is damaged.
    if (await parquet.check.leaveOutDamaged(files)) return
    const added = await make()
    if (!isInForce()) return await parquet.remove(pathsOf(added))
    store.swap(files, added)
  } catch (error) {
    // Reading failed because a file is gone, as it should be.
    if (!isInForce()) return
    throw new Error(`${files[0]?.path}: ${messageOf(error)}`, { cause: error })
  }
  await parquet.remove(pathsOf(files))
}

/** Files that are merged were all looked through, or none was. */
const lookedAt = ([first]: readonly EventFile[]): Pick<EventFile, 'lookedAt'> =>
  first?.lookedAt ? { lookedAt: first.lookedAt } : {}

async function mergeFiles(parquet: ParquetFiles, folder: string, { files }: Merge): Promise<EventFile> {
  const path = nameOf('m', files)
  const columns = [...RELATION_COLUMNS, 'params'].join(', ')
  const source = `read_parquet([${files.map(({ path }) => quoteText(join(folder, path))).join(', ')}])`
  const part = (test: string) => `SELECT ${columns} FROM ${source} WHERE ${test}`
  // Evaluation looks for violations only: where they stand together, the other columns are hardly read.
  const select = `${part(VIOLATED)} UNION ALL ${part(`NOT ${VIOLATED}`)}`
  const rows = await parquet.write(path, select, { lineage: lineageOf(files) })
  return { ...(await parquet.describe(path, rows, 'merged', null)), ...lookedAt(files) }
}

/** What the manifest says of the events of one organization. */
type Span = Pick<EventFile, 'minReceivedAt' | 'maxReceivedAt' | 'maxSeq' | 'rows'>

async function compactFiles(parquet: ParquetFiles, folder: string, { files }: Merge): Promise<EventFile[]> {
  const source = wholeEvents(folder, files)
  const spans = await spansOf(parquet, files, source)
  const added: EventFile[] = []
  for (const [index, [orgId, span]] of spans.entries()) {
    const ours = spans.length === 1 ? `(${source})` : `(SELECT * FROM (${source}) WHERE orgId = ${quoteText(orgId)})`
    const shredding = await shreddingOf(parquet, ours, span.rows)
    const path = nameOf(`c${index}`, files)
    const form = { lineage: lineageOf(files, spans.length), keys: shredding.keys.length }
    await parquet.write(path, shredded(ours, shredding), form)
    added.push(await compacted(parquet, files, { path, orgId, ...span, keys: shredding.keys }))
  }
  return added
}

/** Compacted files of one organization as one. */
async function joinFiles(parquet: ParquetFiles, { files }: Merge): Promise<EventFile> {
  const { select, keys } = await joined(parquet, files)
  const path = nameOf('c0', files)
  await parquet.write(path, select, { lineage: lineageOf(files), keys: keys.length })
  return compacted(parquet, files, { path, orgId: files[0]?.orgId ?? '', ...spanOf(files), keys })
}

/** The manifest row of a compacted file that was written in the place of others. */
async function compacted(
  parquet: ParquetFiles,
  files: readonly EventFile[],
  own: Span & { path: string; orgId: string; keys: string[] },
): Promise<EventFile> {
  const hour = Math.floor(own.minReceivedAt / HOUR_MS) * HOUR_MS
  return { ...own, hour, ...(await parquet.measure(own.path)), level: 'compacted', ...lookedAt(files) }
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

/** The organizations that have events in these files, in order; `source`: all of them, as SQL. */
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
