import type { Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import type { Gap } from './gap.ts'

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

/** Null when there was none yet. */
export function lastGap(db: Db): Gap | null {
  return db.prepare<[], Gap>('SELECT * FROM pipelineGap ORDER BY fromAt DESC LIMIT 1').get() ?? null
}

/** How many are kept, and how long they are together. */
export function gapTotals(db: Db): { count: number; totalMs: number } {
  const totals = db.prepare<[], { count: number; totalMs: number }>(
    'SELECT count(*) AS count, ifnull(sum(toAt - fromAt), 0) AS totalMs FROM pipelineGap',
  )
  return totals.get() ?? { count: 0, totalMs: 0 }
}

/** Those that ended before. */
export function removeOldGaps(db: Db, before: Instant): void {
  db.prepare('DELETE FROM pipelineGap WHERE toAt < ?').run(before)
}

/** When the program was last known to run; null: never before. */
export function lastHeartbeat(db: Db): Instant | null {
  return db.prepare<[], number>('SELECT at FROM heartbeat').pluck().get() ?? null
}

export function keepHeartbeat(db: Db, at: Instant): void {
  db.prepare('INSERT INTO heartbeat (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at').run(at)
}
