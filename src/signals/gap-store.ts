import type { Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { RECORDS_KEPT_MS } from '../store/retention.ts'
import type { Gap, Span } from './gap.ts'

/** Keeps a gap, or what is known by now of one that is kept: it is known by its beginning. */
export function keepGap(db: Db, gap: Gap): void {
  db.prepare(
    `INSERT INTO pipelineGap (fromAt, toAt, cause) VALUES (@fromAt, @toAt, @cause)
     ON CONFLICT (fromAt) DO UPDATE SET toAt = excluded.toAt`,
  ).run({ ...gap })
}

/** Those that reach into `from <= t < to`, in order. */
export function gapsBetween(db: Db, from: Instant, to: Instant): Gap[] {
  return db
    .prepare<[object], Gap>('SELECT * FROM pipelineGap WHERE fromAt < @to AND toAt > @from ORDER BY fromAt')
    .all({ from, to })
}

/** The last that began by then; null when there is none. */
export function lastGap(db: Db, by: Instant): Gap | null {
  return (
    db.prepare<[Instant], Gap>('SELECT * FROM pipelineGap WHERE fromAt <= ? ORDER BY fromAt DESC LIMIT 1').get(by) ??
    null
  )
}

/** What was taken for a gap from before `at` to a time after it ends at `at`: the clock was wrong, and is put back. */
export function cutGaps(db: Db, at: Instant): void {
  db.prepare('UPDATE pipelineGap SET toAt = @at WHERE fromAt < @at AND toAt > @at').run({ at })
  db.prepare('DELETE FROM pipelineGap WHERE fromAt = @at AND toAt > @at').run({ at })
}

/** How many are kept, and how long they are together. */
export function gapTotals(db: Db): { count: number; totalMs: number } {
  const totals = db.prepare<[], { count: number; totalMs: number }>(
    'SELECT count(*) AS count, ifnull(sum(toAt - fromAt), 0) AS totalMs FROM pipelineGap',
  )
  return totals.get() ?? { count: 0, totalMs: 0 }
}

/** That the clock showed nothing of `fromAt < t < toAt`: the program did not run, or the clock was set on. */
export function keepJump(db: Db, { fromAt, toAt }: Span): void {
  db.prepare('INSERT OR REPLACE INTO clockJump (fromAt, toAt) VALUES (?, ?)').run(fromAt, toAt)
}

/** In order. */
export function jumps(db: Db): Span[] {
  return db.prepare<[], Span>('SELECT fromAt, toAt FROM clockJump ORDER BY toAt').all()
}

/** Those that ended before, and jumps of the clock. */
export function removeOldGaps(db: Db, now: Instant): void {
  db.prepare('DELETE FROM pipelineGap WHERE toAt < ?').run(now - RECORDS_KEPT_MS)
  db.prepare('DELETE FROM clockJump WHERE toAt < ?').run(now - RECORDS_KEPT_MS)
}

/** When the program was last known to run; null: never before. */
export function lastHeartbeat(db: Db): Instant | null {
  return db.prepare<[], number>('SELECT at FROM heartbeat').pluck().get() ?? null
}

export function keepHeartbeat(db: Db, at: Instant): void {
  db.prepare('INSERT INTO heartbeat (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at').run(at)
}
