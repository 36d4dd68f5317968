import type { Instant } from '../../core/clock.ts'
import type { DayDifference } from './compare-day.ts'
import type { MigrationProgress, WrittenDay } from './migration-progress.ts'

/** Copies the history of single UTC days to another engine. */
export interface DayCopier {
  /** Days with data, and their number of events. */
  days(): Promise<Map<Instant, number>>
  /**
   * Copies a day.
   * @param attempt 1, or more if an earlier copy may be incomplete or different, and must be replaced
   */
  copy(day: Instant, attempt: number): Promise<WrittenDay>
  /** Compares the copy of a day with the original. */
  compare(day: Instant, written: WrittenDay): Promise<DayDifference[]>
}

/** Called after each copied day, with numbers of events. */
export type DayProgress = (progress: { day: Instant; events: number; done: number; total: number }) => void

/** Maximum number of differences that are returned. */
const MAX_DIFFERENCES = 20

/**
 * Copies all days that are not copied yet, oldest first, and compares all of them afterwards. Days that differ are copied
 * a second time, because a server may have changed them since they were copied. Returns the remaining differences; these
 * days are copied again by the next call.
 */
export async function copyHistory(
  copier: DayCopier,
  progress: MigrationProgress,
  report: DayProgress,
): Promise<DayDifference[]> {
  await copyDays(copier, progress, report)
  const differing = await compareDays(copier, progress)
  if (differing.length === 0) return []
  await copyDays(copier, progress, report)
  return compareDays(copier, progress)
}

async function copyDays(copier: DayCopier, progress: MigrationProgress, report: DayProgress): Promise<void> {
  const sizes = await copier.days()
  const total = [...sizes.values()].reduce((sum, events) => sum + events, 0)
  let done = 0
  for (const day of union(sizes.keys(), progress.days())) {
    const events = sizes.get(day) ?? 0
    done += events
    if (progress.written(day) !== null) continue
    progress.finish(day, await copier.copy(day, progress.begin(day)))
    report({ day, events, done, total })
  }
}

async function compareDays(copier: DayCopier, progress: MigrationProgress): Promise<DayDifference[]> {
  const differences: DayDifference[] = []
  for (const day of union((await copier.days()).keys(), progress.days())) {
    const written = progress.written(day)
    const found = written === null ? [] : await copier.compare(day, written)
    if (found.length > 0) progress.reopen(day)
    differences.push(...found.slice(0, MAX_DIFFERENCES - differences.length))
  }
  return differences
}

/** All days in order. */
function union(...lists: Iterable<Instant>[]): Instant[] {
  return [...new Set(lists.flatMap((list) => [...list]))].sort((a, b) => a - b)
}
