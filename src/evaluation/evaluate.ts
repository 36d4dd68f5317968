import type { Finding } from '../alerts/finding.ts'
import { isLostToGaps } from '../alerts/lost-to-gaps.ts'
import { samplesQuery, withSamples } from '../alerts/sample.ts'
import { type ActiveAlert, activeAmong, dueAlerts, watchedDomains } from '../alerts/store.ts'
import { type TotalRow, totalsQuery } from '../alerts/totals.ts'
import { type AlertType, measure, type WatchedDomain } from '../alerts/types/alert-type.ts'
import { alertTypeOf, alertTypes } from '../alerts/types/index.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Spool } from '../ingest/spool.ts'
import { type Db, prepared } from '../store/database.ts'
import type { Query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import {
  type CommitParts,
  evaluateGroup,
  type Failure,
  failureOf,
  inOrder,
  lateTaskOf,
  type Result,
  type Task,
  tasksOfAll,
} from './commit-tasks.ts'
import { lateWindows, unseen } from './late-window.ts'

export interface EvaluateParts extends CommitParts {
  warehouse: History
  spool: Pick<Spool, 'watermark' | 'isWritten'>
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

  /** Alerts of which `take` may say so; null: it says so of all. */
  candidates(): string[] | null {
    return this.all ? null : [...this.failed, ...this.places.keys()]
  }

  /**
   * Whether the alert is to be looked at before its window ends: somewhere it has no issue yet that says so. What came in
   * at `watermark` or later is not seen by this round, and is kept for the next.
   */
  take(db: Db, alertId: string, watermark: Instant): boolean {
    const places = [...(this.places.get(alertId) ?? [])]
    const later = places.filter(([, receivedAt]) => receivedAt >= watermark)
    if (later.length > 0) this.places.set(alertId, new Map(later))
    else this.places.delete(alertId)
    if (this.failed.delete(alertId) || this.all) return true
    return places.some(([domainId, receivedAt]) => receivedAt < watermark && !isToldOf(db, alertId, domainId))
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
  const row = prepared(
    db,
    `SELECT 1 FROM issue WHERE alertId = ? AND domainId = ?
       AND (status IN ('open', 'muted') OR (status = 'acknowledged' AND firing = 1))`,
  ).get(alertId, domainId)
  return row !== undefined
}

/** Types whose rows come from a query; the others follow series and have a round of their own. */
const MEASURED = alertTypes.filter(({ series }) => !series)

/**
 * One round: all that is due at this moment, oldest windows first; alerts that share a window share one scan. An alert
 * that fails costs the others nothing and is tried again in the next round; the round fails at its end. Ends early when
 * the program stops: what is left is due at the next start.
 */
export async function evaluate(parts: EvaluateParts, stopping?: AbortSignal): Promise<void> {
  const watermark = parts.spool.watermark()
  const shared = Map.groupBy(await tasksNow(parts, watermark), ({ alert, due: { window }, late }) => {
    const type = alertTypeOf(alert.alertType)
    const begins = type.measureApart ? alert.period : window.from
    const scan = type.scanOf?.(alert, window)
    return [alert.orgId, type.kind, begins, window.to, window.complete, scan, late?.lastSeq].join(' ')
  })
  const failures: Failure[] = []
  for (const group of inOrder(shared.values())) {
    failures.push(...(await evaluateGroup(parts, group, () => resultsOf(parts, group), stopping)))
  }
  for (const { alert } of failures) parts.woken.again(alert.id)
  if (failures.length > 0) throw failureOf(failures)
}

/** What is due, and what an event woke. Reads no other alerts, however many there are. */
async function tasksNow({ db, woken, spool }: EvaluateParts, watermark: Instant): Promise<Task[]> {
  const candidates = woken.candidates()
  const early = new Set(candidates?.filter((id) => woken.take(db, id, watermark)))
  const found: ActiveAlert[] = []
  for (const { kind, partial } of MEASURED) {
    const isWhole = candidates === null && partial
    found.push(...(await dueAlerts(db, kind, isWhole ? Number.POSITIVE_INFINITY : watermark)))
  }
  woken.roundEnded()
  const due = new Set(found.map(({ alert }) => alert.id))
  found.push(
    ...activeAmong(
      db,
      [...early].filter((id) => !due.has(id)),
    ),
  )
  const tasks = tasksOfAll(db, found, watermark, ({ id }) => candidates === null || early.has(id))
  return [...lateTasks(db, spool), ...tasks]
}

/** What was not judged when the clock was put back, as soon as all of it can be seen. */
function lateTasks(db: Db, spool: EvaluateParts['spool']): Task[] {
  const late = lateWindows(db)
  return activeAmong(db, [...late.keys()]).flatMap((active) =>
    (late.get(active.alert.id) ?? [])
      .filter(({ lastSeq }) => spool.isWritten(lastSeq))
      .map((one) => lateTaskOf(active, one)),
  )
}

/** What came of each task of a group that shares a scan. */
async function resultsOf(parts: EvaluateParts, group: readonly Task[]): Promise<Result[]> {
  const isBlindTo = ({ alert, due }: Task) =>
    isLostToGaps(alertTypeOf(alert.alertType), alert, due.window, parts.gapsOf)
  const blind = new Set(group.filter(isBlindTo))
  const seeing = group.filter((task) => !blind.has(task))
  const findings = new Map((await findingsOf(parts, seeing)).map((found, index) => [seeing[index], found]))
  return group.map((task) => ({ findings: findings.get(task) ?? [], isLostToGaps: blind.has(task) }))
}

/** What each alert of a group found, with samples. */
async function findingsOf(parts: EvaluateParts, group: readonly Task[]): Promise<Finding[][]> {
  const { db, warehouse } = parts
  const [first] = group
  if (!first) return []
  const { late = null } = first
  const { orgId } = first.alert
  const type = alertTypeOf(first.alert.alertType)
  const domains = watchedDomains(db, orgId)
  const rows = await warehouse.query<unknown>(unseen(db, queryOf(type, group, domains), late))
  const findings = group.map(({ alert, due }) => type.judge(alert, rows, due.window, domains))
  const samples = samplesQuery(orgId, findings.flat())
  const total = totalQueryOf(type, group, findings.flat())
  const [events, totals] = await Promise.all([
    samples ? warehouse.query<StoredEvent>(samples) : [],
    total ? warehouse.query<TotalRow>(total) : [],
  ])
  const regions = parts.regionsOf(orgId)
  return group.map(({ alert }, index) => withSamples(alert, findings[index] ?? [], events, regions, totals))
}

/** How many events there were like those that were found; not asked for where windows differ or are judged for a second time. */
function totalQueryOf(type: AlertType, group: readonly Task[], findings: readonly Finding[]): Query | null {
  const [first] = group
  if (!type.explain || !first || first.late) return null
  const { window } = first.due
  const isShared = group.every(({ due }) => due.window.from === window.from)
  return isShared ? totalsQuery(first.alert.orgId, findings, window) : null
}

/** One scan for all, from where the first of them begins. */
function queryOf(type: AlertType, group: readonly Task[], domains: readonly WatchedDomain[]): Query {
  const alerts = group.map(({ alert }) => alert)
  const windows = group.map(({ due }) => due.window)
  const begins = windows.map(({ from }) => from)
  const from = begins.reduce((first, one) => Math.min(first, one))
  const whole = { to: 0, complete: false, ...windows[0], from }
  const isApart = begins.some((one) => one !== from)
  return isApart && type.measureApart ? type.measureApart(alerts, begins, whole) : measure(type, alerts, whole, domains)
}
