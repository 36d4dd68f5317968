import type { Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import type { Gap, TimeSpan } from './gap.ts'

/** Stores a gap, replacing a stored gap with the same start. */
export function saveGap(db: Db, gap: Gap): void {
  db.prepare(
    `INSERT INTO pipelineGap (fromAt, toAt, cause) VALUES (@fromAt, @toAt, @cause)
     ON CONFLICT (fromAt) DO UPDATE SET toAt = excluded.toAt`,
  ).run({ ...gap })
}

/** Returns the gaps that overlap `from <= t < to`, in order. */
export function gapsBetween(db: Db, from: Instant, to: Instant): Gap[] {
  return db
    .prepare<[object], Gap>('SELECT * FROM pipelineGap WHERE fromAt < @to AND toAt > @from ORDER BY fromAt')
    .all({ from, to })
}

/** Returns the last gap that began at or before `by`; null when there is none. */
export function lastGap(db: Db, by: Instant): Gap | null {
  return (
    db.prepare<[Instant], Gap>('SELECT * FROM pipelineGap WHERE fromAt <= ? ORDER BY fromAt DESC LIMIT 1').get(by) ??
    null
  )
}

/** Truncates gaps at `at`. To be called when a wrong clock is set back. */
export function truncateGaps(db: Db, at: Instant): void {
  db.prepare('UPDATE pipelineGap SET toAt = @at WHERE fromAt < @at AND toAt > @at').run({ at })
  db.prepare('DELETE FROM pipelineGap WHERE fromAt = @at AND toAt > @at').run({ at })
}

/** Returns the number of stored gaps and their total length. */
export function gapTotals(db: Db): { count: number; totalMs: number } {
  const totals = db.prepare<[], { count: number; totalMs: number }>(
    'SELECT count(*) AS count, ifnull(sum(toAt - fromAt), 0) AS totalMs FROM pipelineGap',
  )
  return totals.get() ?? { count: 0, totalMs: 0 }
}

/**
 * Records that the clock skipped `fromAt < t < toAt`, because the program was not running or the clock was set forward.
 */
export function saveClockJump(db: Db, { fromAt, toAt }: TimeSpan): void {
  db.prepare('INSERT OR REPLACE INTO clockJump (fromAt, toAt) VALUES (?, ?)').run(fromAt, toAt)
}

/** Returns the clock jumps in chronological order. */
export function clockJumps(db: Db): TimeSpan[] {
  return db.prepare<[], TimeSpan>('SELECT fromAt, toAt FROM clockJump ORDER BY toAt').all()
}

/** Deletes old gaps and old clock jumps. */
export function removeOldGaps(db: Db, now: Instant): void {
  db.prepare('DELETE FROM pipelineGap WHERE toAt < ?').run(now - RECORD_RETENTION_MS)
  db.prepare('DELETE FROM clockJump WHERE toAt < ?').run(now - RECORD_RETENTION_MS)
}

/** Returns the time at which the program was last known to be running; null before the first start. */
export function lastHeartbeat(db: Db): Instant | null {
  return db.prepare<[], number>('SELECT at FROM heartbeat').pluck().get() ?? null
}

export function saveHeartbeat(db: Db, at: Instant): void {
  db.prepare('INSERT INTO heartbeat (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at').run(at)
}
