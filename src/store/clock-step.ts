import type { Instant } from '../core/clock.ts'
import { type Db, prepared } from './database.ts'
import { RECORD_RETENTION_MS } from './retention.ts'

/** A backward step of the clock. The times between the clock's new time and the latest recorded time occur twice. */
export interface ClockStep {
  /** Time on the clock immediately after the step. */
  at: Instant
  /**
   * The program was also running from this time to `latestAt` before the step, so counts for that interval include
   * events from before and after the step.
   */
  fromAt: Instant
  /** The latest time recorded before the step. */
  latestAt: Instant
  /** Events with `at <= receivedAt <= latestAt` and at most this `seq` were received before the step. */
  lastSeq: number
}

const COLUMNS = 'at, fromAt, latestAt, lastSeq'

export function addClockStep(db: Db, step: ClockStep): void {
  db.prepare(`INSERT INTO clockStep (${COLUMNS}) VALUES (@at, @fromAt, @latestAt, @lastSeq)`).run({ ...step })
}

/** Returns the steps whose repeated times overlap with `from <= t < to`, oldest first. */
export function clockStepsBetween(db: Db, from: Instant, to: Instant): ClockStep[] {
  return prepared<[object], ClockStep>(
    db,
    `SELECT ${COLUMNS} FROM clockStep WHERE at < @to AND latestAt >= @from ORDER BY id`,
  ).all({ from, to })
}

/** Returns the most recent step while its `latestAt` is later than `now`; null once the clock has caught up. */
export function activeClockStep(db: Db, now: Instant): ClockStep | null {
  return (
    prepared<[Instant], ClockStep>(
      db,
      `SELECT ${COLUMNS} FROM clockStep WHERE latestAt > ? ORDER BY id DESC LIMIT 1`,
    ).get(now) ?? null
  )
}

/** Returns the latest time that was recorded before any step; 0 if there have been no steps. */
export function latestBeforeSteps(db: Db): Instant {
  return db.prepare<[], number | null>('SELECT max(latestAt) FROM clockStep').pluck().get() ?? 0
}

/** Returns the highest `lastSeq` of any step that is less than `below`; 0 if there is none. */
export function lastStepSeq(db: Db, below = Number.MAX_SAFE_INTEGER): number {
  return (
    db.prepare<[number], number | null>('SELECT max(lastSeq) FROM clockStep WHERE lastSeq < ?').pluck().get(below) ?? 0
  )
}

/** Deletes steps whose times are all older than `RECORD_RETENTION_MS`. */
export function removeOldClockSteps(db: Db, now: Instant): void {
  db.prepare('DELETE FROM clockStep WHERE latestAt < ?').run(now - RECORD_RETENTION_MS)
}
