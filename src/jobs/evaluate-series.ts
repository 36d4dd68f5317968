import { isRowsBlind } from '../alerts/blind.ts'
import { isInRunWindow } from '../alerts/run-window.ts'
import { activeAlerts, watchedDomains } from '../alerts/store.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import type { Instant } from '../core/clock.ts'
import type { Spool } from '../ingest/spool.ts'
import type { Follower } from '../signals/follower.ts'
import { tickBefore } from '../signals/series.ts'
import type { VerdictRow } from '../signals/verdict-row.ts'
import {
  type Failure,
  failureOf,
  inOrder,
  type Result,
  type SettleParts,
  settleGroup,
  type Task,
  tasksOf,
} from './settle-tasks.ts'

export interface EvaluateSeriesParts extends SettleParts {
  spool: Pick<Spool, 'settledAt'>
  follower: Pick<Follower, 'verdicts'>
  /** True when everything fell at the tick that ends then, so that falls are ours rather than those of tags. */
  suspected(tickAt: Instant): Promise<boolean>
}

/**
 * One round of the alerts that follow series, at every tick: what has to be learned anew after a start takes its time, and
 * the others don't wait for it. An alert that fails is tried again in the next round; the round fails at its end.
 */
export async function evaluateSeries(parts: EvaluateSeriesParts): Promise<void> {
  const { db, spool } = parts
  const settledAt = spool.settledAt()
  const following = activeAlerts(db).filter(({ alert }) => alertTypeOf(alert.alertType).series)
  const tasks = following.flatMap((active) => tasksOf(active, settledAt, false))
  const shared = Map.groupBy(tasks, ({ alert, due: { window } }) => {
    const hours = alert.runWindows ? JSON.stringify([alert.runWindows, alert.timezone]) : ''
    return [alert.orgId, window.from, window.to, window.complete, hours].join(' ')
  })
  const failures: Failure[] = []
  for (const group of inOrder(shared.values())) {
    failures.push(...(await settleGroup(parts, group, () => resultsOf(parts, group))))
  }
  if (failures.length > 0) throw failureOf(failures)
}

/** What came of each task; all of them are of one organization, window and run windows. */
async function resultsOf(parts: EvaluateSeriesParts, group: readonly Task[]): Promise<Result[]> {
  const [first] = group
  if (!first) return []
  const { alert, due } = first
  const domains = watchedDomains(parts.db, alert.orgId)
  const followed = group.map((task) => alertTypeOf(task.alert.alertType).series?.(task.alert, domains) ?? [])
  const { runWindows, timezone } = alert
  const counts = (instant: Instant) => isInRunWindow(runWindows, timezone, instant)
  const [rows = []] = await parts.follower.verdicts(followed.flat(), [due.window], runWindows ? { counts } : {})
  const isSuspected = rows.some(isFall) && (await parts.suspected(tickBefore(due.window.to)))
  const byScope = Map.groupBy(isSuspected ? rows.filter((row) => !isFall(row)) : rows, ({ scope }) => scope)
  return group.map((task, index): Result => {
    const scopes = followed[index] ?? []
    const own = scopes.flatMap((scope) => byScope.get(scope) ?? [])
    const findings = alertTypeOf(task.alert.alertType).judge(task.alert, own, due.window, domains)
    const whole = { ...due.window, from: task.due.windowStartAt }
    return { findings, isBlind: isSuspected || isRowsBlind(scopes[0], whole, parts.gapsOf) }
  })
}

const isFall = ({ open, down }: VerdictRow) => open && down
