import { join } from 'node:path'
import { attemptEach } from '../../core/attempt.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { columnName, quoteName, quoteText } from './dialect.ts'
import { lineageOf } from './lineage.ts'
import type { EventFile, Manifest, ManifestFile } from './manifest.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { eventsRelation } from './relation.ts'
import { RELATION_COLUMNS, VIOLATED } from './spooled.ts'

/** Files that should become one. */
export interface Merge {
  files: EventFile[]
  level: 'merged' | 'compacted'
}

/** So many small files of a running hour become one. */
const FAN_IN = 16
/** A file with more rows is not worth writing twice before its hour ends. */
const SMALL_ROWS = 40_000
/** Neither is a larger one: a file can only be sorted as a whole. */
export const SMALL_BYTES = 2 * 1024 * 1024
/** A compacted file holds about this many rows and bytes at most: sorting must fit the engine's memory, whatever came. */
const MAX_ROWS = 4_000_000
export const MAX_SORTED_BYTES = 32 * 1024 * 1024
/** Late segments of an hour that just ended get this long to arrive. */
export const GRACE_MS = 2 * MINUTE_MS

/** Shredded are parameters in at least this share of an hour's events, and so many at most. */
const MIN_SHARE = 0.01
export const MAX_KEYS = 256

/**
 * What is worth merging now, most urgent first: ended hours into sorted files, small files of running hours together. What
 * was looked through stays apart from what was not.
 */
export function planMerges(files: readonly EventFile[], now: Instant): Merge[] {
  const hours = Map.groupBy(files, ({ hour, lookedAt }) => `${hour} ${lookedAt ? 'looked through' : 'not yet'}`)
  const merges: Merge[] = []
  for (const group of hours.values()) {
    const hour = group[0]?.hour ?? 0
    if (hour + HOUR_MS + GRACE_MS <= now) {
      if (group.some((file) => file.level !== 'compacted')) merges.push(...compactions(group))
    } else {
      const small = group.filter(isSmall)
      if (small.length >= FAN_IN) merges.push({ files: small.slice(0, FAN_IN), level: 'merged' })
    }
  }
  return merges
}

const isSmall = ({ level, rows, sizeBytes }: EventFile) =>
  level !== 'compacted' && rows < SMALL_ROWS && sizeBytes < SMALL_BYTES

function compactions(files: readonly EventFile[]): Merge[] {
  const fillOf = ({ rows, sizeBytes }: EventFile) => Math.max(rows / MAX_ROWS, sizeBytes / MAX_SORTED_BYTES)
  return runsOf(files, fillOf, ({ level }) => level === 'compacted').map((files) => ({ files, level: 'compacted' }))
}

/**
 * Files in so many runs that each can be sorted; `fillOf`: what share of a run it takes. Left out are full ones that are
 * done, and runs of which all is done: they have nothing to be joined with.
 */
export function runsOf<File>(
  files: readonly File[],
  fillOf: (file: File) => number,
  isDone: (file: File) => boolean,
): File[][] {
  const runs: File[][] = []
  let run: File[] = []
  let fill = 0
  for (const file of files) {
    const own = fillOf(file)
    if (isDone(file) && own > 0.5) continue
    if (run.length > 0 && fill + own > 1) {
      runs.push(run)
      run = []
      fill = 0
    }
    run.push(file)
    fill += own
  }
  runs.push(run)
  return runs.filter((files) => !files.every(isDone))
}

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
  await replaceFiles(parquet, folder, store, merge.files, async () =>
    merge.level === 'merged' ? [await mergeFiles(parquet, folder, merge)] : compactFiles(parquet, folder, merge),
  )
}

/** A part of the manifest. */
interface FileStore<File> {
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

async function compactFiles(parquet: ParquetFiles, folder: string, { files }: Merge): Promise<EventFile[]> {
  const source = everything(folder, files)
  const orgs = await parquet.run<{ orgId: string; rows: number }>(
    `SELECT orgId, count(*) AS rows FROM (${source}) GROUP BY orgId ORDER BY orgId`,
  )
  const added: EventFile[] = []
  for (const [index, { orgId, rows }] of orgs.entries()) {
    const ours = `(SELECT * FROM (${source}) WHERE orgId = ${quoteText(orgId)})`
    const { keys, isAll } = await keysWorthAColumn(parquet, ours, rows)
    const path = nameOf(`c${index}`, files)
    await parquet.write(path, shredded(ours, keys, isAll), { lineage: lineageOf(files, orgs.length) })
    added.push({ ...(await parquet.describe(path, rows, 'compacted', keys)), ...lookedAt(files) })
  }
  return added
}

/** Selects the events of `source`, sorted, with columns for these parameters; `isAll`: there are no others. */
export function shredded(source: string, keys: readonly string[], isAll: boolean): string {
  const columns = keys.map((key) => `params[${quoteText(key)}] AS ${quoteName(columnName(key))}`)
  const select = [...RELATION_COLUMNS, ...columns, `${restOf(keys, isAll)} AS params`].join(', ')
  return `SELECT ${select} FROM ${source} ORDER BY NOT ${VIOLATED}, domainId, vendor, event, receivedAt`
}

/** What stays in the map. Going through every event's map costs more than all the rest, and mostly nothing stays. */
function restOf(keys: readonly string[], isAll: boolean): string {
  if (isAll) return 'MAP([]::VARCHAR[], []::VARCHAR[])'
  const list = keys.map(quoteText).join(', ')
  return keys.length === 0
    ? 'params'
    : `map_from_entries(list_filter(map_entries(params), lambda e: NOT list_contains([${list}], e.key)))`
}

/** The parameters that get a column; `isAll` when there are no others. */
async function keysWorthAColumn(
  parquet: ParquetFiles,
  source: string,
  rows: number,
): Promise<{ keys: string[]; isAll: boolean }> {
  const found = await parquet.run<{ key: string; events: number }>(
    `SELECT key, count(*) AS events FROM (SELECT unnest(map_keys(params)) AS key FROM ${source}) GROUP BY key
     ORDER BY events DESC, key LIMIT ${MAX_KEYS + 1}`,
  )
  return keysWorthIt(found, rows)
}

/** Of so many events these parameters, most frequent first, of which one more than `MAX_KEYS` is given where there are more. */
export function keysWorthIt(
  found: readonly { key: string; events: number }[],
  rows: number,
): { keys: string[]; isAll: boolean } {
  const worthIt = found.slice(0, MAX_KEYS).filter(({ events }) => events >= rows * MIN_SHARE)
  return { keys: worthIt.map(({ key }) => key), isAll: worthIt.length === found.length }
}

/** Every event of the files with its whole map, whatever their levels. */
function everything(folder: string, files: readonly EventFile[]): string {
  const window = { from: 0, to: Number.MAX_SAFE_INTEGER }
  return eventsRelation({ files, folder, spool: [] }, { keys: [], wholeParams: true, orgId: null, window })
}

/** Named after what went in, so that a repeat after a crash replaces the same file. */
export function nameOf(kind: string, files: readonly { path: string }[]): string {
  const paths = files.map((file) => file.path).sort()
  return `${kind}-${Bun.hash(paths.join('\n')).toString(16).padStart(16, '0')}.parquet`
}
