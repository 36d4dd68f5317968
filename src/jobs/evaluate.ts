import type { Alert } from '../alerts/alert.ts'
import { type Cursor, type DueWindow, dueWindows, scheduleOf } from '../alerts/due.ts'
import type { Finding } from '../alerts/finding.ts'
import { meetsRunWindow } from '../alerts/run-window.ts'
import { samplesQuery, withSamples } from '../alerts/sample.ts'
import { type ActiveAlert, activeAlerts, advanceAlert, watchedDomains } from '../alerts/store.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Spool } from '../ingest/spool.ts'
import type { Enqueue } from '../issues/issue.ts'
import { settle } from '../issues/store.ts'
import { type Db, tx } from '../store/database.ts'
import type { Warehouse } from '../warehouse/query.ts'

export interface EvaluateParts {
  db: Db
  warehouse: Warehouse
  clock: Clock
  spool: Pick<Spool, 'settledAt'>
  woken: Woken
  enqueue: Enqueue
  regionsOf(orgId: string): PhoneRegions
}

/** Alerts that an event has just violated, and where. Filled by the collector, emptied by the evaluation. */
export class Woken {
  private readonly places = new Map<string, Set<string>>()
  private readonly failed = new Set<string>()
  /** What was violated shortly before a stop is known to nobody but the history, so the first round looks at all. */
  private all = true

  add(alertIds: Iterable<string>, domainId: string): void {
    for (const alertId of alertIds) this.places.set(alertId, (this.places.get(alertId) ?? new Set()).add(domainId))
  }

  /** Whether the alert is to be looked at before its window ends: somewhere it has no issue yet that says so. */
  take(db: Db, alertId: string): boolean {
    const domains = this.places.get(alertId)
    this.places.delete(alertId)
    if (this.failed.delete(alertId) || this.all) return true
    return domains !== undefined && [...domains].some((domainId) => !isToldOf(db, alertId, domainId))
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

/** One evaluation to be made, of one alert. */
interface Task {
  alert: Alert
  from: Cursor
  due: DueWindow
}

/**
 * One round: all that is due at this moment, oldest windows first; alerts that share a window share one scan. An alert
 * that fails costs the others nothing and is tried again in the next round; the round fails at its end.
 */
export async function evaluate(parts: EvaluateParts): Promise<void> {
  const { db, spool, woken } = parts
  const settledAt = spool.settledAt()
  const tasks = activeAlerts(db).flatMap((active) => tasksOf(active, settledAt, woken.take(db, active.alert.id)))
  woken.roundEnded()
  const shared = Map.groupBy(tasks, ({ alert, due: { window } }) => {
    const scan = alertTypeOf(alert.alertType).scanOf?.(alert, window)
    return [alert.orgId, alert.alertType, window.from, window.to, window.complete, scan].join(' ')
  })
  const groups = [...shared.values()].sort((a, b) => endOf(a) - endOf(b))
  const failures: Failure[] = []
  for (const group of groups) failures.push(...(await evaluateGroup(parts, group)))
  if (failures.length > 0) throw failureOf(failures, woken)
}

interface Failure {
  alert: Alert
  error: unknown
}

const FAILURES_NAMED = 5

function failureOf(failures: readonly Failure[], woken: Woken): AggregateError {
  for (const { alert } of failures) woken.again(alert.id)
  const named = failures.slice(0, FAILURES_NAMED).map(({ alert, error }) => `${alert.id}: ${messageOf(error)}`)
  const message = `${failures.length} evaluations failed, such as ${named.join('; ')}`
  return new AggregateError(
    failures.map(({ error }) => error),
    message,
  )
}

function endOf([first]: readonly Task[]): Instant {
  return first?.due.window.to ?? 0
}

function tasksOf({ alert, cursor }: ActiveAlert, settledAt: Instant, isWoken: boolean): Task[] {
  const tasks: Task[] = []
  let from = cursor
  for (const due of dueWindows(cursor, scheduleOf(alert), settledAt, isWoken)) {
    tasks.push({ alert, from, due })
    from = due.next
  }
  return tasks
}

/** So many alerts are settled at once; then others get their turn, such as the collector. */
const SETTLED_AT_ONCE = 250

async function evaluateGroup(parts: EvaluateParts, group: readonly Task[]): Promise<Failure[]> {
  const failures: Failure[] = []
  let settled = 0
  try {
    const findings = await findingsOf(parts, group)
    while (settled < group.length) {
      const end = settled + SETTLED_AT_ONCE
      failures.push(...settleTasks(parts, group.slice(settled, end), findings.slice(settled, end)))
      settled = end
      if (settled < group.length) await Bun.sleep(0)
    }
    return failures
  } catch (error) {
    return [...failures, ...group.slice(settled).map(({ alert }) => ({ alert, error }))]
  }
}

/** In one transaction, which costs one sync to disk; what one of them did is undone when it fails, and no other. */
function settleTasks(parts: EvaluateParts, tasks: readonly Task[], findings: readonly Finding[][]): Failure[] {
  const { db } = parts
  return tx(db, () => {
    const failures: Failure[] = []
    for (const [index, task] of tasks.entries()) {
      try {
        savepoint(db, () => settleTask(parts, task, findings[index] ?? []))
      } catch (error) {
        // A full disk ends the whole transaction.
        if (!db.inTransaction) throw error
        failures.push({ alert: task.alert, error })
      }
    }
    return failures
  })
}

/** A part of the transaction under way that is undone alone. */
function savepoint(db: Db, work: () => void): void {
  db.transaction(work)()
}

/** What each alert of a group found, with samples. */
async function findingsOf(parts: EvaluateParts, group: readonly Task[]): Promise<Finding[][]> {
  const { db, warehouse } = parts
  const [first] = group
  if (!first) return []
  const { alert, due } = first
  const type = alertTypeOf(alert.alertType)
  const domains = watchedDomains(db, alert.orgId)
  const alerts = group.map((task) => task.alert)
  const rows = await warehouse.query<unknown>(type.measure(alerts, due.window, domains))
  const findings = alerts.map((one) => type.judge(one, rows, due.window, domains))
  const samples = samplesQuery(alert.orgId, findings.flat())
  const events = samples ? await warehouse.query<StoredEvent>(samples) : []
  const regions = parts.regionsOf(alert.orgId)
  return alerts.map((one, index) => withSamples(one, findings[index] ?? [], events, regions))
}

/** Issue, history, outbox and cursor, in the caller's transaction: all of it happens, or none. */
function settleTask({ db, clock, enqueue }: EvaluateParts, { alert, from, due }: Task, findings: Finding[]): void {
  const { period, timezone } = scheduleOf(alert)
  if (!advanceAlert(db, alert.id, from, due.next)) return
  settle(
    db,
    {
      alert: { ...alert, impactValue: alert.impactValue ?? null, periodMs: period.lengthMs },
      findings,
      window: due.window,
      windowStartAt: due.windowStartAt,
      inRunWindow: meetsRunWindow(alert.runWindows, timezone, due.window),
      now: clock.now(),
    },
    enqueue,
  )
}
