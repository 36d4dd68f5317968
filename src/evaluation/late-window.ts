import { firstCursor, scheduleOf } from '../alerts/due.ts'
import { activeAlerts, restartAlert } from '../alerts/store.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type ClockStep, clockStepsBetween, lastStepSeq } from '../store/clock-step.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { narrowed, type Query } from '../warehouse/query.ts'

/**
 * What an alert had not judged yet when the clock was put back: events of `fromAt <= receivedAt < toAt` up to `lastSeq`, and
 * behind that of the step before. It is judged once, beside the windows that follow the clock.
 */
export interface LateWindow {
  alertId: string
  fromAt: Instant
  toAt: Instant
  lastSeq: number
}

/**
 * Every alert goes on from what the clock shows now: its cursor may lie ahead, and it would judge nothing until then. What
 * it had not judged becomes a late window; of a type that judges whole windows only, the window under way is given up. To be
 * called before the step is kept. `lastReceivedAt`: no event has a later time.
 */
export function beginAnew(db: Db, { at, lastSeq }: ClockStep, lastReceivedAt: Instant): void {
  tx(db, () => {
    // Else nothing came since the step before, whose late windows hold all.
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

/** Up to when an alert has judged what came in, of those that are switched on; 0: none is. */
export function judgedThrough(db: Db): Instant {
  return db.prepare<[], number | null>('SELECT max(evaluatedThrough) FROM alert WHERE enabled = 1').pluck().get() ?? 0
}

/** Those that wait, by alert. */
export function lateWindows(db: Db): Map<string, LateWindow[]> {
  const rows = prepared<[], LateWindow>(db, 'SELECT alertId, fromAt, toAt, lastSeq FROM lateWindow').all()
  return Map.groupBy(rows, ({ alertId }) => alertId)
}

/** In the transaction that writes what its evaluation found. False when it is gone, with its alert. */
export function dropLateWindow(db: Db, { alertId, lastSeq }: LateWindow): boolean {
  return db.prepare('DELETE FROM lateWindow WHERE alertId = ? AND lastSeq = ?').run(alertId, lastSeq).changes === 1
}

/** What is asked of a window may be older by so much: journeys are walked from their beginning. */
const BEFORE_MS = 24 * HOUR_MS

/**
 * The same question about events that no evaluation has seen: without those that came before the clock was put back and
 * have a time of after it; of a late window, those that came between two steps.
 */
export function unseen(db: Db, query: Query, late: LateWindow | null): Query {
  if (query.over === 'counts' || query.over === 'pages') return query
  const { from, to } = query.window
  const tests = late
    ? [`seq > ${lastStepSeq(db, late.lastSeq)} AND seq <= ${late.lastSeq}`]
    : clockStepsBetween(db, from - BEFORE_MS, to).map(
        (step) => `NOT (receivedAt >= ${step.at} AND seq <= ${step.lastSeq})`,
      )
  return narrowed(query, tests)
}
