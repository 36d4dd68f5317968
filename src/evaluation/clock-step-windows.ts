import { activeAlerts, activeAmong, restartAlert } from '../alerts/alert-store.ts'
import { firstCursor, scheduleOf } from '../alerts/due-windows.ts'
import { type LateSpan, lateSpansBetween, SLOTS } from '../collectors/store.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type ClockStep, clockStepsBetween, lastStepSeq } from '../store/clock-step.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { narrowed, type Query } from '../warehouse/query.ts'

/**
 * Events that an alert had not evaluated when the clock was set back: `fromAt <= receivedAt < toAt`, up to `lastSeq`,
 * and after the `lastSeq` of the previous clock step. They are evaluated once, in addition to the regular windows.
 */
export interface LateWindow {
  alertId: string
  fromAt: Instant
  toAt: Instant
  lastSeq: number
  /** For late events of a collector: its slot, and the number after which they begin. Null for a clock step. */
  slot: number | null
  afterSeq: number | null
}

/**
 * Schedules the evaluation of a collector's late events by the alerts that they violate, in the caller's transaction.
 * Alerts of types that evaluate only whole windows are skipped. Idempotent.
 */
export function addLateWindows(db: Db, span: LateSpan, alertIds: ReadonlySet<string>): void {
  const add = prepared<[object]>(
    db,
    `INSERT INTO lateWindow (alertId, fromAt, toAt, lastSeq, slot, afterSeq)
     VALUES (@alertId, @fromAt, @toAt, @lastSeq, @slot, @afterSeq) ON CONFLICT DO NOTHING`,
  )
  for (const { alert } of activeAmong(db, [...alertIds])) {
    const { partial, ticks = false } = scheduleOf(alert)
    if (partial && !ticks) add.run({ ...span, toAt: span.toAt + 1, alertId: alert.id })
  }
}

/**
 * Restarts every alert at the current time, because a cursor in the future would delay the alert. Unevaluated events
 * become a late window. For types that evaluate only whole windows, the current window is dropped. To be called before
 * the clock step is stored. `lastReceivedAt`: the latest `receivedAt` of any event.
 */
export function restartAlerts(db: Db, { at, lastSeq }: ClockStep, lastReceivedAt: Instant): void {
  tx(db, () => {
    // Without new events since the previous step, the late windows of that step already cover all unevaluated events.
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

/** Returns the `evaluatedThrough` of the most advanced enabled alert; 0 when no alert is enabled. */
export function judgedThrough(db: Db): Instant {
  return db.prepare<[], number | null>('SELECT max(evaluatedThrough) FROM alert WHERE enabled = 1').pluck().get() ?? 0
}

/** Returns the pending late windows by alert. */
export function lateWindows(db: Db): Map<string, LateWindow[]> {
  const rows = prepared<[], LateWindow>(
    db,
    'SELECT alertId, fromAt, toAt, lastSeq, slot, afterSeq FROM lateWindow',
  ).all()
  return Map.groupBy(rows, ({ alertId }) => alertId)
}

/**
 * Deletes a late window, in the transaction that writes the results of its evaluation. Returns false when the late
 * window was deleted with its alert.
 */
export function dropLateWindow(db: Db, { alertId, lastSeq }: LateWindow): boolean {
  return db.prepare('DELETE FROM lateWindow WHERE alertId = ? AND lastSeq = ?').run(alertId, lastSeq).changes === 1
}

/**
 * Maximum age of the events that a window's query reads before the window, because journey sessions are read from their
 * beginning.
 */
const BEFORE_MS = 24 * HOUR_MS

/**
 * Returns the query restricted to events that have not been evaluated yet. Excludes events that were received before
 * the clock was set back but have a later timestamp. For a late window: only events received between two clock steps.
 */
export function onlyUnjudged(db: Db, query: Query, late: LateWindow | null): Query {
  if (query.over === 'counts' || query.over === 'pages') return query
  const { from, to } = query.window
  if (late) return narrowed(query, [lateTest(db, late)])
  const steps = clockStepsBetween(db, from - BEFORE_MS, to)
  const spans = lateSpansBetween(db, from - BEFORE_MS, to)
  return narrowed(query, [
    ...steps.map((step) => `NOT (receivedAt >= ${step.at} AND seq <= ${step.lastSeq})`),
    ...spans.map((span) => `NOT (${spanTest(span)})`),
  ])
}

const spanTest = ({ slot, afterSeq, lastSeq }: Pick<LateSpan, 'slot' | 'afterSeq' | 'lastSeq'>) =>
  `seq % ${SLOTS} = ${slot} AND seq > ${afterSeq} AND seq <= ${lastSeq}`

function lateTest(db: Db, { slot, afterSeq, lastSeq }: LateWindow): string {
  if (slot === null || afterSeq === null) return `seq > ${lastStepSeq(db, lastSeq)} AND seq <= ${lastSeq}`
  return spanTest({ slot, afterSeq, lastSeq })
}
