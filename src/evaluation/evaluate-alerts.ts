import { type ActiveAlert, activeAmong, dueAlerts, watchedDomains } from '../alerts/alert-store.ts'
import { type TotalRow, totalsQuery } from '../alerts/event-totals.ts'
import type { Finding } from '../alerts/finding.ts'
import { samplesQuery, withSamples } from '../alerts/finding-samples.ts'
import { isPartial, type MeasuredType, scanKeyOf, type WatchedDomain } from '../alerts/types/alert-type.ts'
import { alertTypeOf, measuredTypeOf, measuredTypes } from '../alerts/types/index.ts'
import { isWindowUnreliable } from '../alerts/unreliable-windows.ts'
import { resolveLabels } from '../conditions/label-conditions.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { Emitter } from '../core/emitter.ts'
import type { StoredEvent } from '../core/event.ts'
import type { MembersOf } from '../labels/label.ts'
import { membersOf } from '../labels/store.ts'
import { type Db, prepared } from '../store/database.ts'
import type { Query } from '../warehouse/query.ts'
import type { VisibleEvents } from '../warehouse/visible-events.ts'
import type { History } from '../warehouse/warehouse.ts'
import { lateWindows, onlyUnjudged } from './clock-step-windows.ts'
import {
  type CommitDeps,
  type EvaluationResult,
  type EvaluationTask,
  evaluateGroup,
  type Failure,
  failureOf,
  lateTaskOf,
  oldestFirst,
  tasksOfAll,
} from './evaluation-task.ts'
import { includesImports, skipImported } from './skip-imported.ts'

export interface EvaluateDeps extends CommitDeps {
  warehouse: History
  visible: VisibleEvents
  woken: WokenAlerts
  privacyOf(orgId: string): Privacy
}

/**
 * Interval at which further violations are counted while an alert has an open issue: once per UTC minute, for all
 * alerts together.
 */
const COUNT_EVERY_MS = MINUTE_MS

/**
 * When violating events were received: the latest, and one that was not later. Without `firstAt`, an alert that is
 * violated all the time would never be evaluated if events can only be queried after some seconds.
 */
interface ViolationTimes {
  firstAt: Instant
  lastAt: Instant
}

/** Alerts violated by incoming events, by domain. The collector adds alerts, and the evaluation removes them. */
export class WokenAlerts {
  /** Times at which violating events were received, by alert and domain. */
  private readonly violatedAt = new Map<string, Map<string, ViolationTimes>>()
  private readonly failed = new Set<string>()
  /** Emits when a violation may open a new issue, but not for further violations that are only counted. */
  readonly emitter = new Emitter()
  /**
   * True until the round that evaluates all alerts. Violations received shortly before the program stopped are only in
   * the history.
   */
  private all = true
  /** True in the round that evaluates all alerts. */
  private isFirstRound = false
  /** True when a violation was received too late for this round. */
  private isMore = false

  /**
   * @param startedAt null if events can be queried as soon as they are written, so that rounds follow each other until
   * all violations are evaluated. Otherwise, the time of the start: the next round is the next scheduled one, and all
   * alerts are evaluated once the events from before the start can be queried.
   */
  constructor(private readonly startedAt: Instant | null = null) {}

  add(alertIds: Iterable<string>, domainId: string, receivedAt: Instant): void {
    let isNew = false
    for (const alertId of alertIds) {
      const domains = this.violatedAt.get(alertId) ?? new Map<string, ViolationTimes>()
      const known = domains.get(domainId)
      isNew ||= !known
      const firstAt = this.startedAt === null ? receivedAt : (known?.firstAt ?? receivedAt)
      this.violatedAt.set(alertId, domains.set(domainId, { firstAt, lastAt: receivedAt }))
    }
    if (isNew) this.emitter.emit()
  }

  /** Begins a round. Returns the ids of the alerts for which `take` may return true; null for all alerts. */
  candidates(watermark: Instant): string[] | null {
    this.isFirstRound = this.all && (this.startedAt === null || watermark >= this.startedAt)
    return this.isFirstRound ? null : [...this.failed, ...this.violatedAt.keys()]
  }

  /**
   * Returns true if the alert must be evaluated before its window ends: it has no active issue yet in one of the
   * domains, or it was last evaluated in an earlier minute. Other alerts remain for a later round, as do events
   * received at or after `watermark`, which can't be queried yet.
   */
  take(db: Db, alertId: string, watermark: Instant): boolean {
    const places = [...(this.violatedAt.get(alertId) ?? [])]
    this.isMore ||= places.some(([, { lastAt }]) => lastAt >= watermark)
    const isTaken =
      this.failed.delete(alertId) ||
      this.isFirstRound ||
      (places.some(([, { firstAt }]) => firstAt < watermark) && isCountDue(db, alertId, watermark)) ||
      places.some(([domainId, { firstAt }]) => firstAt < watermark && !hasActiveIssue(db, alertId, domainId))
    if (!isTaken) return false
    const later = places.flatMap(([domainId, { firstAt, lastAt }]): [string, ViolationTimes][] =>
      lastAt >= watermark ? [[domainId, { firstAt: firstAt >= watermark ? firstAt : lastAt, lastAt }]] : [],
    )
    if (later.length > 0) this.violatedAt.set(alertId, new Map(later))
    else this.violatedAt.delete(alertId)
    return true
  }

  /**
   * To be called when the evaluation of an alert has failed after `take`, so that the alert is evaluated again in the
   * next round.
   */
  retry(alertId: string): void {
    this.failed.add(alertId)
  }

  roundEnded(): void {
    if (this.isFirstRound) this.all = false
    this.isFirstRound = false
    if (this.isMore && this.startedAt === null) this.emitter.emit()
    this.isMore = false
  }
}

/**
 * True when a minute has ended since the last evaluation. Also true for a deleted or disabled alert, so that it is
 * removed.
 */
function isCountDue(db: Db, alertId: string, watermark: Instant): boolean {
  const sql = 'SELECT evaluatedThrough FROM alert WHERE id = ? AND enabled = 1'
  const row = prepared<[string], { evaluatedThrough: Instant }>(db, sql).get(alertId)
  return !row || Math.floor(row.evaluatedThrough / COUNT_EVERY_MS) < Math.floor(watermark / COUNT_EVERY_MS)
}

/** True when there is an issue for which further violations would only be counted. */
function hasActiveIssue(db: Db, alertId: string, domainId: string): boolean {
  const row = prepared(
    db,
    `SELECT 1 FROM issue WHERE alertId = ? AND domainId = ?
       AND (status = 'open' OR (status = 'muted' AND mutedHosts IS NULL) OR (status = 'acknowledged' AND firing = 1))`,
  ).get(alertId, domainId)
  return row !== undefined
}

/**
 * Evaluates all due alerts, oldest windows first. Alerts with the same window share one query. If an alert fails, the
 * others are not affected; the alert is retried in the next round, and the promise rejects at the end. Returns early
 * when the program stops; the remaining alerts are due at the next start.
 */
export async function evaluate(parts: EvaluateDeps, stopping?: AbortSignal): Promise<void> {
  const watermark = parts.visible.watermark()
  const shared = Map.groupBy(await tasksNow(parts, watermark), ({ alert, due: { window }, late }) => {
    const type = measuredTypeOf(alert.alertType)
    const begins = type.evaluated === 'on arrival' ? alert.period : window.from
    const scan = scanKeyOf(type, alert, window)
    return [alert.orgId, type.kind, begins, window.to, window.complete, scan, late?.lastSeq].join(' ')
  })
  const failures: Failure[] = []
  for (const group of oldestFirst(shared.values())) {
    failures.push(...(await evaluateGroup(parts, group, () => resultsOf(parts, group), stopping)))
  }
  for (const { alert } of failures) parts.woken.retry(alert.id)
  if (failures.length > 0) throw failureOf(failures)
}

/** Returns the tasks for alerts that are due or woken by an event, without reading other alerts. */
async function tasksNow({ db, woken, visible }: EvaluateDeps, watermark: Instant): Promise<EvaluationTask[]> {
  const candidates = woken.candidates(watermark)
  const early = new Set(candidates?.filter((id) => woken.take(db, id, watermark)))
  const found: ActiveAlert[] = []
  for (const type of measuredTypes) {
    const isWhole = candidates === null && isPartial(type)
    found.push(...(await dueAlerts(db, type.kind, isWhole ? Number.POSITIVE_INFINITY : watermark)))
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
  return skipImported(db, [...lateTasks(db, visible), ...tasks])
}

/** Returns the tasks for late windows whose events can all be queried. */
function lateTasks(db: Db, visible: VisibleEvents): EvaluationTask[] {
  const late = lateWindows(db)
  return activeAmong(db, [...late.keys()]).flatMap((active) =>
    (late.get(active.alert.id) ?? [])
      // Late events of a collector are stored before their windows are scheduled.
      .filter(({ slot, lastSeq }) => slot !== null || visible.isVisible(lastSeq))
      .map((one) => lateTaskOf(active, one)),
  )
}

/** Returns the result of each task in a group that shares a query. */
async function resultsOf(parts: EvaluateDeps, group: readonly EvaluationTask[]): Promise<EvaluationResult[]> {
  const countsImported = includesImports(parts.db)
  const isLost = (task: EvaluationTask) => {
    const { alert, due } = task
    const isEmpty = due.window.from >= due.window.to
    const isLess = isWindowUnreliable(alertTypeOf(alert.alertType), alert, due.window, parts.gapsOf)
    return isEmpty || isLess || countsImported(task)
  }
  const lost = new Set(group.filter(isLost))
  const judged = group.filter((task) => !lost.has(task))
  const findings = new Map((await findingsOf(parts, judged)).map((found, index) => [judged[index], found]))
  return group.map((task) => ({ findings: findings.get(task) ?? [], isInconclusive: lost.has(task) }))
}

/** Returns the findings for each alert in a group, with samples. */
async function findingsOf(parts: EvaluateDeps, given: readonly EvaluationTask[]): Promise<Finding[][]> {
  const { db, warehouse } = parts
  const [first] = given
  if (!first) return []
  const { late = null } = first
  const { orgId } = first.alert
  const type = measuredTypeOf(first.alert.alertType)
  const domains = watchedDomains(db, orgId)
  const members = membersOf(db, orgId)
  const group = given.map((task) => ({ ...task, alert: resolveLabels(task.alert, members) }))
  const rows = await warehouse.query<unknown>(onlyUnjudged(db, queryOf(type, group, domains, members), late))
  const findings = group.map(({ alert, due }) => type.judge(alert, rows, due.window, domains))
  const samples = samplesQuery(orgId, findings.flat())
  const total = totalQueryOf(type, group, findings.flat())
  const [events, totals] = await Promise.all([
    samples ? warehouse.query<StoredEvent>(samples) : [],
    total ? warehouse.query<TotalRow>(total) : [],
  ])
  const privacy = parts.privacyOf(orgId)
  return group.map(({ alert }, index) => withSamples(alert, findings[index] ?? [], events, privacy, totals))
}

/**
 * Returns the query for the total number of similar events since the start of the window. Null when the group has
 * different windows, or when a window is evaluated a second time.
 */
function totalQueryOf(
  type: MeasuredType,
  group: readonly EvaluationTask[],
  findings: readonly Finding[],
): Query | null {
  const [first] = group
  if (type.evaluated !== 'on arrival' || !first || first.late) return null
  const { window, windowStartAt } = first.due
  const isShared = group.every(({ due }) => due.windowStartAt === windowStartAt)
  return isShared ? totalsQuery(first.alert.orgId, findings, { ...window, from: windowStartAt }) : null
}

/** Returns one query for all tasks, from the earliest start of their windows. */
function queryOf(
  type: MeasuredType,
  group: readonly EvaluationTask[],
  domains: readonly WatchedDomain[],
  members: MembersOf,
): Query {
  const alerts = group.map(({ alert }) => alert)
  const windows = group.map(({ due }) => due.window)
  const begins = windows.map(({ from }) => from)
  const from = begins.reduce((first, one) => Math.min(first, one))
  const whole = { to: 0, complete: false, ...windows[0], from }
  const isApart = begins.some((one) => one !== from)
  if (isApart && type.evaluated === 'on arrival') return type.measureSince(alerts, begins, whole)
  return type.measure(alerts, whole, domains, members)
}
