import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { EventFile } from './manifest.ts'

/** Files to merge into one. */
export interface Merge {
  files: EventFile[]
  level: 'merged' | 'compacted'
}

/** Number of small files of the current hour that are merged into one. */
const FAN_IN = 16
/** A file with more rows or bytes than this is not rewritten within its hour. */
const SMALL_ROWS = 40_000
export const SMALL_BYTES = 2 * 1024 * 1024
/** Approximate maximum size of a compacted file. */
const MAX_ROWS = 4_000_000
export const MAX_SORTED_BYTES = 32 * 1024 * 1024
/**
 * Maximum number of uncompressed bytes that are sorted together. Wide events (more than `WIDE_BYTES` each) must fit in
 * the engine's memory, and sorting uses about 2.3 times their size. For other events, the engine spills to disk.
 */
const MAX_UNPACKED_BYTES = { narrow: 1024 * 1024 * 1024, wide: 32 * 1024 * 1024 }
const WIDE_BYTES = 1024
/**
 * Maximum number of rows joined per plan. After an upgrade there are months of small files, and fresh files must not
 * have to wait for them.
 */
export const JOINED_ROWS = 1_000_000
/** Grace period for segments of an ended hour that arrive late. */
export const GRACE_MS = 2 * MINUTE_MS

/**
 * Plans merges, most urgent first: files of hours that have ended into sorted files, small files of the current hour,
 * and small sorted files of days that have ended into one. Scanned and unscanned files are never mixed. When planning
 * is repeated until no merges remain, each organization has at most one small file per day.
 */
export function planMerges(files: readonly EventFile[], now: Instant): Merge[] {
  const hours = groupsOf(files, ({ hour }) => String(hour))
  const merges = hours.flatMap((group): Merge[] => {
    const hour = group[0]?.hour ?? 0
    if (hour + HOUR_MS + GRACE_MS <= now) return group.every(isCompacted) ? [] : compactions(group)
    const small = group.filter((file) => !isCompacted(file) && isSmall(file))
    return small.length < FAN_IN ? [] : [{ files: small.slice(0, FAN_IN), level: 'merged' }]
  })
  return [...merges, ...firstOf(joins(files, now))]
}

export const isCompacted = ({ level }: EventFile) => level === 'compacted'
const isSmall = ({ rows, sizeBytes }: EventFile) => rows < SMALL_ROWS && sizeBytes < SMALL_BYTES
const fillOf = (file: EventFile) =>
  Math.max(file.rows / MAX_ROWS, file.sizeBytes / MAX_SORTED_BYTES, unpackedFill(file))

function unpackedFill(file: EventFile): number {
  const bytes = unpackedBytesOf(file)
  return bytes / (bytes > file.rows * WIDE_BYTES ? MAX_UNPACKED_BYTES.wide : MAX_UNPACKED_BYTES.narrow)
}

/** Uncompressed size of a file in bytes, or an estimate based on typical traffic. */
export const unpackedBytesOf = ({ unpackedBytes, rows, sizeBytes }: EventFile) =>
  unpackedBytes ?? Math.max(rows * 250, sizeBytes * 8)

function groupsOf(files: readonly EventFile[], nameOf: (file: EventFile) => string): EventFile[][] {
  const groups = Map.groupBy(files, (file) => `${nameOf(file)} ${file.lookedAt ? 'scanned' : 'new'}`)
  return [...groups.values()]
}

function compactions(files: readonly EventFile[]): Merge[] {
  return runsOf(files, fillOf, isCompacted).map((files) => ({ files, level: 'compacted' }))
}

const dayOf = ({ hour }: EventFile) => Math.floor(hour / DAY_MS) * DAY_MS

/** Joins an organization's small hourly files once their UTC day has ended and all of its hours are compacted. */
function joins(files: readonly EventFile[], now: Instant): Merge[] {
  const unfinished = new Set(files.flatMap((file) => (isCompacted(file) ? [] : dayOf(file))))
  const waiting = files.filter((file) => {
    const day = dayOf(file)
    // A file without columns was too large to be sorted, so it is not joined either.
    return isSmall(file) && file.keys !== null && day + DAY_MS + GRACE_MS <= now && !unfinished.has(day)
  })
  return groupsOf(waiting, (file) => `${dayOf(file)} ${file.orgId}`)
    .flatMap((group) => runsOf(group, fillOf, () => false))
    .flatMap((files) => (files.length < 2 ? [] : { files, level: 'compacted' as const }))
}

/** The first merges that together have up to `JOINED_ROWS` rows; at least one merge. */
function firstOf(merges: readonly Merge[]): Merge[] {
  let rows = 0
  return merges.filter(({ files }, index) => {
    for (const file of files) rows += file.rows
    return index === 0 || rows <= JOINED_ROWS
  })
}

/**
 * Splits files into runs that are small enough to sort. `fillOf` returns the fraction of a run that a file fills. Skips
 * finished files that fill a run, and runs in which all files are finished.
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
