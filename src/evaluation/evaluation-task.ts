import type { Alert } from '../alerts/alert.ts'
import { windowAt } from '../alerts/alert-period.ts'
import { type ActiveAlert, advanceAlert, saveDueAt } from '../alerts/alert-store.ts'
import { meetsRunWindow } from '../alerts/allowed-run-hours.ts'
import { type Cursor, type DueWindow, dueWindows, nextDueAt, scheduleOf } from '../alerts/due-windows.ts'
import type { Finding, Window } from '../alerts/finding.ts'
import type { GapsOf } from '../alerts/unreliable-windows.ts'
import { combinedError } from '../core/attempt-each.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import type { Enqueue } from '../issues/issue.ts'
import { applyFindings } from '../issues/store.ts'
import { coveredMs } from '../signals/gap.ts'
import { type Db, tx } from '../store/database.ts'
import { dropLateWindow, type LateWindow } from './clock-step-windows.ts'

export interface CommitDeps {
  db: Db
  clock: Clock
  enqueue: Enqueue
  gapsOf: GapsOf
}

/** One evaluation of one alert. */
export interface EvaluationTask {
  alert: Alert
  from: Cursor
  due: DueWindow
  /** A late window to evaluate. When absent, the task advances the alert's cursor. */
  late?: LateWindow
}

/** The result of an evaluation. */
export interface EvaluationResult {
  findings: Finding[]
  /**
   * True when the window can't be evaluated reliably, for example because of collection gaps. The evaluation then
   * resolves no issues.
   */
  isInconclusive: boolean
}

export interface Failure {
  alert: Alert
  error: unknown
}

/** Returns the due evaluations of one alert, in order. */
export function tasksOf({ alert, cursor }: ActiveAlert, watermark: Instant, isWoken: boolean): EvaluationTask[] {
  const tasks: EvaluationTask[] = []
  let from = cursor
  for (const due of dueWindows(cursor, scheduleOf(alert), watermark, isWoken)) {
    tasks.push({ alert, from, due })
    from = due.next
  }
  return tasks
}

/**
 * Returns the task for a late window. It is evaluated as a partial window: it opens issues and counts occurrences, but
 * resolves no issues.
 */
export function lateTaskOf({ alert, cursor }: ActiveAlert, late: LateWindow): EvaluationTask {
  const { period, timezone } = scheduleOf(alert)
  const windowStartAt = windowAt(period, timezone, late.fromAt).start
  const window = { from: late.fromAt, to: late.toAt, complete: false }
  return { alert, from: cursor, due: { window, windowStartAt, next: cursor }, late }
}

/** Returns the tasks of many alerts. For alerts without tasks, stores the time at which they are next due. */
export function tasksOfAll(
  db: Db,
  found: readonly ActiveAlert[],
  watermark: Instant,
  isWoken: (alert: Alert) => boolean,
): EvaluationTask[] {
  const idle: ActiveAlert[] = []
  const tasks = found.flatMap((active) => {
    const own = tasksOf(active, watermark, isWoken(active.alert))
    if (own.length === 0 && active.dueAt <= watermark) idle.push(active)
    return own
  })
  if (idle.length > 0) {
    tx(db, () => {
      for (const active of idle) saveDueAt(db, active)
    })
  }
  return tasks
}

/** Returns the groups sorted by the end of their windows, earliest first. */
export function oldestFirst(groups: Iterable<readonly EvaluationTask[]>): (readonly EvaluationTask[])[] {
  const endOf = ([first]: readonly EvaluationTask[]): Instant => first?.due.window.to ?? 0
  return [...groups].sort((a, b) => endOf(a) - endOf(b))
}

/**
 * Evaluates tasks together and commits each one. If a task can't be committed, the others are not affected. Tasks that
 * remain when the program stops are not failures; they stay due. Returns the failures.
 */
export async function evaluateGroup(
  parts: CommitDeps,
  group: readonly EvaluationTask[],
  evaluated: () => Promise<EvaluationResult[]>,
  stopping?: AbortSignal,
): Promise<Failure[]> {
  const failures: Failure[] = []
  let committed = 0
  try {
    if (stopping?.aborted) return []
    const evaluations = paired(group, await evaluated())
    // Storing a batch takes several turns of the event loop, and each turn may have to wait for a commit.
    const yielder = new Yielder()
    while (committed < group.length && !stopping?.aborted) {
      const turn = commitTasks(parts, evaluations.slice(committed), yielder)
      failures.push(...turn.failures)
      committed += turn.committed
      if (committed < group.length) await yielder.yieldNow()
    }
    return failures
  } catch (error) {
    if (stopping?.aborted) return failures
    return [...failures, ...group.slice(committed).map(({ alert }) => ({ alert, error }))]
  }
}

type Evaluation = readonly [EvaluationTask, EvaluationResult]

/**
 * Throws unless there is one result per task, because a missing result would be treated as no violation and resolve
 * issues.
 */
function paired(tasks: readonly EvaluationTask[], results: readonly EvaluationResult[]): Evaluation[] {
  return tasks.map((task, index) => {
    const result = results[index]
    if (!result || results.length > tasks.length) {
      throw new Error(`expected ${tasks.length} evaluation results, got ${results.length}`)
    }
    return [task, result]
  })
}

/**
 * Commits the tasks of one turn in one transaction, which requires only one sync to disk. If a task fails, only that
 * task is rolled back.
 */
function commitTasks(
  parts: CommitDeps,
  evaluations: readonly Evaluation[],
  yielder: Yielder,
): { committed: number; failures: Failure[] } {
  const { db } = parts
  return tx(db, () => {
    const failures: Failure[] = []
    for (const [index, [task, result]] of evaluations.entries()) {
      if (index > 0 && yielder.isDue) return { committed: index, failures }
      try {
        savepoint(db, () => commitTask(parts, task, result))
      } catch (error) {
        // A full disk aborts the whole transaction.
        if (!db.inTransaction) throw error
        failures.push({ alert: task.alert, error })
      }
    }
    return { committed: evaluations.length, failures }
  })
}

/** Runs `work` in a savepoint of the current transaction, which can be rolled back separately. */
function savepoint(db: Db, work: () => void): void {
  db.transaction(work)()
}

/** Writes issue, history, outbox and cursor in the caller's transaction, atomically. */
function commitTask(
  { db, clock, enqueue, gapsOf }: CommitDeps,
  task: EvaluationTask,
  { findings, isInconclusive }: EvaluationResult,
): void {
  const { alert, from, due, late } = task
  const schedule = scheduleOf(alert)
  const isStill = late
    ? dropLateWindow(db, late)
    : advanceAlert(db, alert.id, from, due.next, nextDueAt(due.next, schedule))
  if (!isStill) return
  applyFindings(
    db,
    {
      alert: { ...alert, impactValue: alert.impactValue ?? null, periodMs: schedule.period.lengthMs },
      findings,
      window: { ...due.window, complete: due.window.complete && !isInconclusive },
      windowStartAt: due.windowStartAt,
      inRunWindow: meetsRunWindow(alert.runWindows, alert.timezone, judgedWindow(task)),
      gapMs: (start, end) => coveredMs(gapsOf(start, end), { from: start, to: end }),
      now: clock.now(),
    },
    enqueue,
  )
}

/**
 * Returns the evaluated window. For an alert that is evaluated at every tick, the last part covers the whole window.
 */
function judgedWindow({ alert, due: { window, windowStartAt } }: EvaluationTask): Window {
  return window.complete && scheduleOf(alert).ticks ? { ...window, from: windowStartAt } : window
}

/** Returns the error for a round with failures. */
export function failureOf(failures: readonly Failure[]): AggregateError {
  const errors = failures.map(({ alert, error }) => new Error(`${alert.id}: ${messageOf(error)}`, { cause: error }))
  return combinedError('evaluations', errors)
}
