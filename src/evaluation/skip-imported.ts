import { domainsOf } from '../alerts/alert.ts'
import { countedRangesOf } from '../alerts/types/alert-type.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import type { Instant } from '../core/clock.ts'
import { importedUntil } from '../ingest/import-store.ts'
import type { Db } from '../store/database.ts'
import type { EvaluationTask } from './evaluation-task.ts'

/**
 * Imported events are used only for learning and open no issues. Counts that include imported events are not evaluated,
 * nor are sessions that may include imported events.
 */

/** Returns the time at which the last imported event of the alert's domains was received; 0 when there is none. */
function importedBefore({ alert }: EvaluationTask, until: ReadonlyMap<string, Instant>): Instant {
  const watched = domainsOf(alert)
  const times = watched.length > 0 ? watched.map((id) => until.get(id) ?? 0) : [...until.values()]
  return times.reduce((last, at) => Math.max(last, at), 0)
}

/** Returns `importedUntil` with results cached by organization, because thousands of alerts are evaluated together. */
function imports(db: Db): (orgId: string) => ReadonlyMap<string, Instant> {
  const known = new Map<string, ReadonlyMap<string, Instant>>()
  return (orgId) => {
    const until = known.get(orgId) ?? importedUntil(db, orgId)
    known.set(orgId, until)
    return until
  }
}

/** Returns the tasks. For types that can evaluate partial windows, each window begins after the last imported event. */
export function skipImported(db: Db, tasks: readonly EvaluationTask[]): EvaluationTask[] {
  const untilOf = imports(db)
  return tasks.map((task) => {
    const { orgId, alertType } = task.alert
    const type = alertTypeOf(alertType)
    if (type.evaluated === 'on arrival' || countedRangesOf(type, task.alert, task.due.window)) return task
    const settlingMs = type.evaluated === 'by window' ? type.settlingMs : 0
    const last = importedBefore(task, untilOf(orgId))
    const { window } = task.due
    if (last === 0 || window.from > last + settlingMs) return task
    const from = Math.min(window.to, last + settlingMs + 1)
    return { ...task, due: { ...task.due, window: { ...window, from } } }
  })
}

/** Returns a predicate that is true for tasks whose counts include imported events. */
export function includesImports(db: Db): (task: EvaluationTask) => boolean {
  const untilOf = imports(db)
  return (task) => {
    const { alert, due } = task
    const last = importedBefore(task, untilOf(alert.orgId))
    if (last === 0) return false
    const spans = countedRangesOf(alertTypeOf(alert.alertType), alert, due.window) ?? []
    return spans.some(({ from }) => from <= last)
  }
}
