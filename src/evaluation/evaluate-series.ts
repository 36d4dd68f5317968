import { type ActiveAlert, dueAlerts, watchedDomains } from '../alerts/alert-store.ts'
import { isInRunWindow } from '../alerts/allowed-run-hours.ts'
import { alertTypeOf, seriesOf, seriesTypes } from '../alerts/types/index.ts'
import { areRowsUnreliable } from '../alerts/unreliable-windows.ts'
import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { onlyImported } from '../ingest/import-store.ts'
import { type SeriesScope, tickBefore } from '../signals/series.ts'
import type { SeriesMonitor } from '../signals/series-monitor.ts'
import type { ServerOutageDetector } from '../signals/server-outage.ts'
import type { SignalChanges } from '../signals/signal-changes.ts'
import type { VerdictRow } from '../signals/verdict-row.ts'
import type { VisibleEvents } from '../warehouse/visible-events.ts'
import {
  type CommitDeps,
  type EvaluationResult,
  type EvaluationTask,
  evaluateGroup,
  type Failure,
  failureOf,
  oldestFirst,
  tasksOfAll,
} from './evaluation-task.ts'
import { skipImported } from './skip-imported.ts'

export interface EvaluateSeriesDeps extends CommitDeps {
  visible: Pick<VisibleEvents, 'watermark'>
  seriesMonitor: Pick<SeriesMonitor, 'verdicts'>
  /** Returns true if all traffic had dropped at the tick that ends at `tickAt`, so that the server may be the cause. */
  suspected(tickAt: Instant): Promise<boolean>
  /** Receives, for each evaluated alert, whether all signals that it monitors are still learning. */
  noteLearning?(alertId: string, isLearning: boolean): void
  /** Receives the verdicts of every tick. */
  signalChanges?: Pick<SignalChanges, 'take'>
}

/**
 * Evaluates the alerts that monitor series, at every tick. Runs separately, so that other alerts do not wait while the
 * baselines are relearned after startup. If an alert fails, it is retried in the next round, and the promise rejects at
 * the end. Returns early when the program stops; the remaining alerts are due at the next start.
 */
export async function evaluateSeries(parts: EvaluateSeriesDeps, stopping?: AbortSignal): Promise<void> {
  const { db, visible } = parts
  const watermark = visible.watermark()
  const following: ActiveAlert[] = []
  for (const { kind } of seriesTypes) following.push(...(await dueAlerts(db, kind, watermark)))
  const tasks = skipImported(
    db,
    tasksOfAll(db, following, watermark, () => false),
  )
  const shared = Map.groupBy(tasks, ({ alert, due: { window } }) => {
    const hours = alert.runWindows ? JSON.stringify([alert.runWindows, alert.timezone]) : ''
    // Ticks and rows end on whole minutes, so windows that begin in the same minute contain the same ticks and rows.
    const minute = Math.floor(window.from / MINUTE_MS)
    return [alert.orgId, minute, window.to, window.complete, hours].join(' ')
  })
  const failures: Failure[] = []
  for (const group of oldestFirst(shared.values())) {
    failures.push(...(await evaluateGroup(parts, group, () => resultsOf(parts, group, stopping), stopping)))
  }
  if (failures.length > 0) throw failureOf(failures)
}

/** Returns the result of each task. All tasks must have the same organization, window and run windows. */
async function resultsOf(
  parts: EvaluateSeriesDeps,
  group: readonly EvaluationTask[],
  stopping?: AbortSignal,
): Promise<EvaluationResult[]> {
  const [first] = group
  if (!first) return []
  const { alert, due } = first
  const domains = watchedDomains(parts.db, alert.orgId)
  const followed = group.map((task) => seriesOf(task.alert, domains))
  const { runWindows, timezone } = alert
  const counts = (instant: Instant) => isInRunWindow(runWindows, timezone, instant)
  const options = { ...(runWindows ? { counts } : {}), ...(stopping ? { stopping } : {}) }
  if (due.window.from >= due.window.to) return group.map(() => ({ findings: [], isInconclusive: true }))
  const [verdicts = []] = await parts.seriesMonitor.verdicts(followed.flat(), [due.window], options)
  parts.signalChanges?.take(followed.flat(), verdicts)
  noteLearning(parts, group, followed, verdicts)
  const quiet = verdicts.some(isFall) ? onlyImported(parts.db, alert.orgId) : new Set<string>()
  const rows = verdicts.filter((row) => !(isFall(row) && quiet.has(row.domainId)))
  const isSuspected = rows.some(isFall) && (await parts.suspected(tickBefore(due.window.to)))
  const byScope = Map.groupBy(isSuspected ? rows.filter((row) => !isFall(row)) : rows, ({ scope }) => scope)
  return group.map((task, index): EvaluationResult => {
    const scopes = followed[index] ?? []
    const own = scopes.flatMap((scope) => byScope.get(scope) ?? [])
    const findings = alertTypeOf(task.alert.alertType).judge(task.alert, own, due.window, domains)
    const whole = { ...due.window, from: task.due.windowStartAt }
    return { findings, isInconclusive: isSuspected || areRowsUnreliable(scopes[0], whole, parts.gapsOf) }
  })
}

function noteLearning(
  parts: EvaluateSeriesDeps,
  group: readonly EvaluationTask[],
  followed: readonly SeriesScope[][],
  verdicts: readonly VerdictRow[],
): void {
  if (!parts.noteLearning) return
  const byScope = Map.groupBy(verdicts, ({ scope }) => scope)
  for (const [index, { alert }] of group.entries()) {
    const rows = (followed[index] ?? []).flatMap((scope) => byScope.get(scope) ?? [])
    parts.noteLearning(alert.id, rows.length > 0 && rows.every(({ state }) => state === 'learning'))
  }
}

const isFall = ({ open, down }: VerdictRow) => open && down

export interface MonitorSeriesDeps extends Omit<EvaluateSeriesDeps, 'suspected'> {
  serverOutage: ServerOutageDetector
}

/** Evaluates the alerts that monitor series, soon after a tick or a short row ends. */
export async function monitorSeries(
  { serverOutage, ...parts }: MonitorSeriesDeps,
  stopping?: AbortSignal,
): Promise<void> {
  await evaluateSeries({ ...parts, suspected: (tickAt) => serverOutage.isSuspectedAt(tickAt) }, stopping)
  if (stopping?.aborted) return
  // When nothing dropped, the evaluation above does not check whether the outage is still suspected.
  if (serverOutage.suspected) await serverOutage.isSuspectedAt(tickBefore(parts.visible.watermark()))
}
