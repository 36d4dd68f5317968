import type { Instant } from '../core/clock.ts'
import { type Db, prepared } from './database.ts'
import { RECORDS_KEPT_MS } from './retention.ts'

/** That the clock was put back, so that times come which it showed before. */
export interface ClockStep {
  /** What it showed after it. */
  at: Instant
  /** From here to `latestAt` the program had run before: counts of these times are of both. */
  fromAt: Instant
  /** The latest time that was known before it. */
  latestAt: Instant
  /** Events of `at <= receivedAt <= latestAt` with this `seq` or a lower one came before it. */
  lastSeq: number
}

const COLUMNS = 'at, fromAt, latestAt, lastSeq'

export function keepClockStep(db: Db, step: ClockStep): void {
  db.prepare(`INSERT INTO clockStep (${COLUMNS}) VALUES (@at, @fromAt, @latestAt, @lastSeq)`).run({ ...step })
}

/** Those whose times that come twice reach into `from <= t < to`, oldest first. */
export function clockStepsBetween(db: Db, from: Instant, to: Instant): ClockStep[] {
  return prepared<[object], ClockStep>(
    db,
    `SELECT ${COLUMNS} FROM clockStep WHERE at < @to AND latestAt >= @from ORDER BY id`,
  ).all({ from, to })
}

/** The last one, while what was known before it lies ahead of `now`; null: the clock is where it should be. */
export function standingClockStep(db: Db, now: Instant): ClockStep | null {
  return (
    prepared<[Instant], ClockStep>(
      db,
      `SELECT ${COLUMNS} FROM clockStep WHERE latestAt > ? ORDER BY id DESC LIMIT 1`,
    ).get(now) ?? null
  )
}

/** The latest time that was known before any step; 0: there was none. */
export function latestBeforeSteps(db: Db): Instant {
  return db.prepare<[], number | null>('SELECT max(latestAt) FROM clockStep').pluck().get() ?? 0
}

/** The highest `lastSeq` of a step that is lower than this; 0: there was none. */
export function lastStepSeq(db: Db, below = Number.MAX_SAFE_INTEGER): number {
  return (
    db.prepare<[number], number | null>('SELECT max(lastSeq) FROM clockStep WHERE lastSeq < ?').pluck().get(below) ?? 0
  )
}

/** Those whose times all lie before. */
export function removeOldClockSteps(db: Db, now: Instant): void {
  db.prepare('DELETE FROM clockStep WHERE latestAt < ?').run(now - RECORDS_KEPT_MS)
}
