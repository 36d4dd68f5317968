import { isBlind } from '../alerts/blind.ts'
import type { Finding } from '../alerts/finding.ts'
import { lateWindows, unseen } from '../alerts/late-window.ts'
import { samplesQuery, withSamples } from '../alerts/sample.ts'
import { activeAlerts, watchedDomains } from '../alerts/store.ts'
import { measure } from '../alerts/types/alert-type.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Spool } from '../ingest/spool.ts'
import type { Db } from '../store/database.ts'
import type { Warehouse } from '../warehouse/query.ts'
import {
  type Failure,
  failureOf,
  inOrder,
  lateTaskOf,
  type Result,
  type SettleParts,
  settleGroup,
  type Task,
  tasksOf,
} from './settle-tasks.ts'

export interface EvaluateParts extends SettleParts {
  warehouse: Warehouse
  spool: Pick<Spool, 'settledAt' | 'isWritten'>
  woken: Woken
  regionsOf(orgId: string): PhoneRegions
}

/** Alerts that an event has just violated, and where. Filled by the collector, emptied by the evaluation. */
export class Woken {
  /** By alert and domain: when the latest of those events came in. */
  private readonly places = new Map<string, Map<string, Instant>>()
  private readonly failed = new Set<string>()
  /** What was violated shortly before a stop is known to nobody but the history, so the first round looks at all. */
  private all = true

  add(alertIds: Iterable<string>, domainId: string, receivedAt: Instant): void {
    for (const alertId of alertIds) {
      this.places.set(alertId, (this.places.get(alertId) ?? new Map()).set(domainId, receivedAt))
    }
  }

  /**
   * Whether the alert is to be looked at before its window ends: somewhere it has no issue yet that says so. What came in
   * at `settledAt` or later is not seen by this round, and is kept for the next.
   */
  take(db: Db, alertId: string, settledAt: Instant): boolean {
    const places = [...(this.places.get(alertId) ?? [])]
    const later = places.filter(([, receivedAt]) => receivedAt >= settledAt)
    if (later.length > 0) this.places.set(alertId, new Map(later))
    else this.places.delete(alertId)
    if (this.failed.delete(alertId) || this.all) return true
    return places.some(([domainId, receivedAt]) => receivedAt < settledAt && !isToldOf(db, alertId, domainId))
  }

  /** What woke the alert was taken, and not seen: it is to be looked at again. */
  again(alertId: string): void {
    this.failed.add(alertId)
  }

  roundEnded(): void {
    this.all = false
  }
}

/** True when an issue stands that a further violation would only count on. */
function isToldOf(db: Db, alertId: string, domainId: string): boolean {
  const row = db
    .prepare(
      `SELECT 1 FROM issue WHERE alertId = ? AND domainId = ?
       AND (status IN ('open', 'muted') OR (status = 'acknowledged' AND firing = 1))`,
    )
    .get(alertId, domainId)
  return row !== undefined
}

/**
 * One round: all that is due at this moment, oldest windows first; alerts that share a window share one scan. An alert
 * that fails costs the others nothing and is tried again in the next round; the round fails at its end. Types that follow
 * series have a round of their own.
 */
export async function evaluate(parts: EvaluateParts): Promise<void> {
  const { db, spool, woken } = parts
  const settledAt = spool.settledAt()
  const measured = activeAlerts(db).filter(({ alert }) => !alertTypeOf(alert.alertType).series)
  const late = lateWindows(db)
  const tasks = measured.flatMap((active) => [
    ...(late.get(active.alert.id) ?? [])
      .filter(({ lastSeq }) => spool.isWritten(lastSeq))
      .map((one) => lateTaskOf(active, one)),
    ...tasksOf(active, settledAt, woken.take(db, active.alert.id, settledAt)),
  ])
  woken.roundEnded()
  const shared = Map.groupBy(tasks, ({ alert, due: { window }, late }) => {
    const scan = alertTypeOf(alert.alertType).scanOf?.(alert, window)
    return [alert.orgId, alert.alertType, window.from, window.to, window.complete, scan, late?.lastSeq].join(' ')
  })
  const failures: Failure[] = []
  for (const group of inOrder(shared.values())) {
    failures.push(...(await settleGroup(parts, group, () => resultsOf(parts, group))))
  }
  for (const { alert } of failures) woken.again(alert.id)
  if (failures.length > 0) throw failureOf(failures)
}

/** What came of each task of a group that shares a scan. */
async function resultsOf(parts: EvaluateParts, group: readonly Task[]): Promise<Result[]> {
  const isBlindTo = ({ alert, due }: Task) => isBlind(alertTypeOf(alert.alertType), alert, due.window, parts.gapsOf)
  const blind = new Set(group.filter(isBlindTo))
  const seeing = group.filter((task) => !blind.has(task))
  const findings = new Map((await findingsOf(parts, seeing)).map((found, index) => [seeing[index], found]))
  return group.map((task) => ({ findings: findings.get(task) ?? [], isBlind: blind.has(task) }))
}

/** What each alert of a group found, with samples. */
async function findingsOf(parts: EvaluateParts, group: readonly Task[]): Promise<Finding[][]> {
  const { db, warehouse } = parts
  const [first] = group
  if (!first) return []
  const { alert, due, late = null } = first
  const type = alertTypeOf(alert.alertType)
  const domains = watchedDomains(db, alert.orgId)
  const alerts = group.map((task) => task.alert)
  const rows = await warehouse.query<unknown>(unseen(db, measure(type, alerts, due.window, domains), late))
  const findings = alerts.map((one) => type.judge(one, rows, due.window, domains))
  const samples = samplesQuery(alert.orgId, findings.flat())
  const events = samples ? await warehouse.query<StoredEvent>(samples) : []
  const regions = parts.regionsOf(alert.orgId)
  return alerts.map((one, index) => withSamples(one, findings[index] ?? [], events, regions))
}
