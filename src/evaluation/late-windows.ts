import { activeAlerts, restartAlert } from '../alerts/alert-store.ts'
import { firstCursor, scheduleOf } from '../alerts/due-windows.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type ClockStep, clockStepsBetween, lastStepSeq } from '../store/clock-step.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { narrowed, type Query } from '../warehouse/query.ts'

/**
 * Events that an alert had not judged when the clock was set back: `fromAt <= receivedAt < toAt`, up to `lastSeq`, and
 * after the `lastSeq` of the previous clock step. Judged once, in addition to the regular windows.
 */
export interface LateWindow {
  alertId: string
  fromAt: Instant
  toAt: Instant
  lastSeq: number
}

/**
 * Restarts every alert at the present time, because a cursor in the future would delay it. Unjudged events become a late
 * window; for types that judge whole windows only, the current window is dropped. To be called before the clock step is
 * stored. `lastReceivedAt`: the latest time of any event.
 */
export function restartAlerts(db: Db, { at, lastSeq }: ClockStep, lastReceivedAt: Instant): void {
  tx(db, () => {
    // Without new events since the previous step, its late windows cover everything.
    const hasEvents = lastSeq > lastStepSeq(db)
    const addLate = db.prepare('INSERT INTO lateWindow (alertId, fromAt, toAt, lastSeq) VALUES (?, ?, ?, ?)')
    for (const { alert, cursor } of activeAlerts(db)) {
      const schedule = scheduleOf(alert)
      const { partial, ticks = false } = schedule
      if (hasEvents && partial && !ticks && cursor.evaluatedThrough <= lastReceivedAt) {
        addLate.run(alert.id, cursor.evaluatedThrough, lastReceivedAt + 1, lastSeq)
      }
      restartAlert(db, alert.id, firstCursor(schedule, at))
    }
  })
}

/** Returns the `evaluatedThrough` of the most advanced enabled alert; 0 when none is enabled. */
export function judgedThrough(db: Db): Instant {
  return db.prepare<[], number | null>('SELECT max(evaluatedThrough) FROM alert WHERE enabled = 1').pluck().get() ?? 0
}

/** Returns the pending late windows by alert. */
export function lateWindows(db: Db): Map<string, LateWindow[]> {
  const rows = prepared<[], LateWindow>(db, 'SELECT alertId, fromAt, toAt, lastSeq FROM lateWindow').all()
  return Map.groupBy(rows, ({ alertId }) => alertId)
}

/**
 * Deletes a late window, in the transaction that writes the results of its evaluation. Returns false when it was
 * deleted with its alert.
 */
export function dropLateWindow(db: Db, { alertId, lastSeq }: LateWindow): boolean {
  return db.prepare('DELETE FROM lateWindow WHERE alertId = ? AND lastSeq = ?').run(alertId, lastSeq).changes === 1
}

/** A window's query may read events this much older: sessions of journeys are read from their beginning. */
const BEFORE_MS = 24 * HOUR_MS

/**
 * Returns the same query, restricted to events that no evaluation has judged: without those that were received before
 * the clock was set back and have a time after it; for a late window, those received between two steps.
 */
export function onlyUnjudged(db: Db, query: Query, late: LateWindow | null): Query {
  if (query.over === 'counts' || query.over === 'pages') return query
  const { from, to } = query.window
  const tests = late
    ? [`seq > ${lastStepSeq(db, late.lastSeq)} AND seq <= ${late.lastSeq}`]
    : clockStepsBetween(db, from - BEFORE_MS, to).map(
        (step) => `NOT (receivedAt >= ${step.at} AND seq <= ${step.lastSeq})`,
      )
  return narrowed(query, tests)
}
