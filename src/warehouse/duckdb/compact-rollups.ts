import { join } from 'node:path'
import { attemptEach } from '../../core/attempt-each.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { MINUTES_MS } from '../relation-columns.ts'
import { type FileStore, replaceFiles } from './compact-events.ts'
import { countFiles, dayKey, finalCounts, hoursPath, isOfDay, isOpen, mergedCounts } from './counts-rollup.ts'
import { lineageOf, nameOf } from './file-lineage.ts'
import type { Manifest, RollupFile } from './manifest.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { GRACE_MS } from './plan-merges.ts'

/**
 * Count files to merge into one file, or one file per organization. `hours` are written in addition to their sources.
 */
export interface RollupMerge {
  files: RollupFile[]
  level: Exclude<RollupFile['level'], 'fresh'>
}

/** Number of small files of the current hour that are merged into one. */
const FAN_IN = 16
/** Windows of whole days begin at midnight in any time zone, and time zone offsets are multiples of 15 minutes. */
const COARSE_MS = 15 * MINUTE_MS
/** If a day has fewer counts, reading hourly counts is not faster. */
const MIN_ROWS = 1000
/**
 * Maximum number of days that get hourly counts per round. After an upgrade, hundreds of days need them, and other
 * merges would have to wait.
 */
const MAX_DAYS = 40

/**
 * Plans merges for small files of the current hour, hours that have ended, days that have ended, and days whose minutes
 * are no longer needed. All events received before `closedAt` must already be in a file.
 */
function planRollups(files: readonly RollupFile[], closedAt: Instant, now: Instant): RollupMerge[] {
  const counts = files.filter(({ level }) => level !== 'hours')
  const days = Map.groupBy(counts, ({ minMinute }) => startOf(minMinute, DAY_MS))
  const merges = [...days].flatMap(([day, group]): RollupMerge[] => {
    if (day + DAY_MS > closedAt) return hourMerges(group, closedAt)
    const fine = group.filter(({ level }) => level !== 'quarters')
    if (fine.some(({ level }) => level !== 'day')) return [{ files: fine, level: 'day' }]
    if (day + DAY_MS + MINUTES_MS > now) return []
    return fine.map((file) => ({ files: [file], level: 'quarters' }))
  })
  return merges.length > 0 ? merges : daysWithoutHours(files)
}

/** Days of each organization that have many counts but no hourly counts. */
function daysWithoutHours(files: readonly RollupFile[]): RollupMerge[] {
  const present = new Set(files.flatMap(({ level, path }) => (level === 'hours' ? [path] : [])))
  return [...Map.groupBy(files.filter(isOfDay), dayKey).values()]
    .filter((days) => days.reduce((sum, { rows }) => sum + rows, 0) >= MIN_ROWS && !present.has(hoursPath(days)))
    .slice(0, MAX_DAYS)
    .map((days) => ({ files: days, level: 'hours' }))
}

/** Hourly counts that no longer match the counts of their day. */
function withoutDays(files: readonly RollupFile[]): RollupFile[] {
  const days = Map.groupBy(files.filter(isOfDay), dayKey)
  return files.filter((file) => file.level === 'hours' && file.path !== hoursPath(days.get(dayKey(file)) ?? []))
}

function hourMerges(files: readonly RollupFile[], closedAt: Instant): RollupMerge[] {
  const hours = Map.groupBy(files, ({ minMinute }) => startOf(minMinute, HOUR_MS))
  return [...hours].flatMap(([hour, group]): RollupMerge[] => {
    const open = group.filter(isOpen)
    if (hour + HOUR_MS <= closedAt) return open.length > 0 ? [{ files: group, level: 'hour' }] : []
    return open.length < FAN_IN ? [] : [{ files: open.slice(0, FAN_IN), level: 'merged' }]
  })
}

/** Like `compactEvents`, but for counts. */
export async function compactRollups(
  parquet: ParquetFiles,
  manifest: Manifest,
  folder: string,
  now: Instant,
): Promise<void> {
  const plan = (closedAt: Instant) => planRollups(manifest.rollups(), closedAt, now)
  const first = plan(now - GRACE_MS)
  if (first.length === 0) return
  // After a failure, events may wait longer than usual. This time is determined before the files are listed, so that no
  // file is missed.
  const waiting = first.some(({ level }) => level !== 'merged') ? await parquet.firstUnloadedAt() : null
  const merges = plan(Math.min(now - GRACE_MS, waiting ?? now))
  await attemptEach('merges', merges, (merge) => runRollupMerge(parquet, manifest, folder, merge))
  const old = withoutDays(manifest.rollups())
  if (old.length === 0) return
  manifest.swapRollups(old, [])
  await parquet.remove(old.map(({ path }) => join(folder, path)))
}

/** Runs one merge, like `runMerge` for events. */
export async function runRollupMerge(
  parquet: ParquetFiles,
  manifest: Manifest,
  folder: string,
  merge: RollupMerge,
): Promise<void> {
  const store = {
    present: () => manifest.rollups(),
    swap: (removed: readonly RollupFile[], added: readonly RollupFile[]) => manifest.swapRollups(removed, added),
  }
  if (merge.level === 'hours') return addHours(parquet, folder, store, merge.files)
  await replaceFiles(parquet, folder, store, merge.files, () => mergedFiles(parquet, folder, merge))
}

/** Writes hourly counts for these files. If the process crashes, the next start removes the unlisted file. */
async function addHours(
  parquet: ParquetFiles,
  folder: string,
  store: FileStore<RollupFile>,
  days: readonly RollupFile[],
): Promise<void> {
  if (await parquet.check.excludeDamaged(days)) return
  const path = hoursPath(days)
  try {
    const rows = await parquet.write(path, finalCounts(folder, days, { stepMs: HOUR_MS }), { lineage: lineageOf([]) })
    const found = await parquet.describeRollup(path, rows, 'hours')
    // Hourly counts are deleted together with their day, so they get the day's last minute, which is later than the
    // start of their last hour.
    store.swap([], [{ ...found, maxMinute: Math.max(...days.map(({ maxMinute }) => maxMinute)) }])
  } catch (error) {
    throw new Error(`${path}: ${messageOf(error)}`, { cause: error })
  }
}

async function mergedFiles(
  parquet: ParquetFiles,
  folder: string,
  { files, level }: RollupMerge,
): Promise<RollupFile[]> {
  const write = async (path: string, select: string, parts = 1) => {
    const rows = await parquet.write(path, select, { lineage: lineageOf(files, parts) })
    return parquet.describeRollup(path, rows, level)
  }
  if (level === 'merged') return [await write(nameOf('counts/m', files), mergedCounts(folder, files))]
  if (level === 'hour') return [await write(nameOf('counts/h', files), finalCounts(folder, files))]
  const stepMs = level === 'quarters' ? COARSE_MS : MINUTE_MS
  const added: RollupFile[] = []
  const orgIds = await orgsOf(parquet, folder, files)
  for (const [index, orgId] of orgIds.entries()) {
    const path = nameOf(`counts/${level === 'day' ? 'd' : 'q'}${index}`, files)
    added.push(await write(path, finalCounts(folder, files, { orgId, stepMs }), orgIds.length))
  }
  return added
}

/** Organizations that have counts in these files, sorted. */
async function orgsOf(parquet: ParquetFiles, folder: string, files: readonly RollupFile[]): Promise<string[]> {
  const known = files.flatMap(({ orgId }) => orgId ?? [])
  const shared = files.filter(({ orgId }) => orgId === null)
  const sql = `SELECT DISTINCT orgId FROM ${countFiles(folder, shared)}`
  const found = shared.length === 0 ? [] : await parquet.run<{ orgId: string }>(sql)
  return [...new Set([...known, ...found.map(({ orgId }) => orgId)])].sort()
}

const startOf = (instant: Instant, lengthMs: number) => Math.floor(instant / lengthMs) * lengthMs
