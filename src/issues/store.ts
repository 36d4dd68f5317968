import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { windowsInForce } from '../maintenance/store.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'
import { isActiveMember } from '../org/member-store.ts'
import { timezoneOf } from '../org/store.ts'
import { activeClockStep } from '../store/clock-step.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { findOrgRow } from '../store/org-rows.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import { nextEscalationOf, reopenEscalation } from './escalation-store.ts'
import {
  type Change,
  type Enqueue,
  type HistoryKind,
  type HistoryPayload,
  type Issue,
  type IssueDetail,
  type IssueRecord,
  type IssueStatus,
  type Mute,
  NO_MUTE,
  type NotificationRequest,
} from './issue.ts'
import { ruleOf } from './ownership-store.ts'
import { type Evaluation, REOPEN_WITHIN_MS, reconcile } from './reconcile-issues.ts'
import { type Actor, transition, unmute } from './transition-issue.ts'

const HISTORY_LIMIT = 500

const COLUMNS = [
  'id',
  'orgId',
  'alertId',
  'alertName',
  'alertType',
  'channels',
  'domainId',
  'subject',
  'status',
  'severity',
  'title',
  'occurrences',
  'capReached',
  'heldBack',
  'notificationsSent',
  'impactValue',
  'notes',
  'trackerKey',
  'assigneeId',
  'commentCount',
  'firstSeenAt',
  'lastSeenAt',
  'statusAt',
  'statusBy',
  'mutedUntil',
  'muteReason',
  'mutedHosts',
  'resolutionToldAt',
  'clearWindows',
  'firing',
  'firedWindowAt',
  'hosts',
  'evidence',
] as const satisfies readonly (keyof IssueRecord)[]

/** The columns of the `issue` table that `recordOf` needs. */
export const ISSUE_COLUMNS = COLUMNS.map((column) => `issue.${column}`).join(', ')

type Flag = 'capReached' | 'firing'
type Json = 'channels' | 'hosts' | 'mutedHosts' | 'evidence'
/** One row of the table. */
export type IssueRow = Omit<IssueRecord, Flag | Json> & Record<Flag, number> & Record<Json, string | null>

type Cell = string | number | null

function cellOf(value: unknown): Cell {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  return JSON.stringify(value)
}

export function recordOf(row: IssueRow): IssueRecord {
  return {
    ...row,
    capReached: row.capReached === 1,
    firing: row.firing === 1,
    channels: row.channels === null ? null : JSON.parse(row.channels),
    hosts: row.hosts === null ? null : JSON.parse(row.hosts),
    mutedHosts: row.mutedHosts === null ? null : JSON.parse(row.mutedHosts),
    evidence: row.evidence === null ? null : JSON.parse(row.evidence),
  }
}

/** Returns the maintenance window that is in force for an issue, as `windowsInForce`; null if there is none. */
type InMaintenance = ReturnType<typeof windowsInForce>

/** Returns the public fields of an issue. */
export function issueOf(record: IssueRecord, inMaintenance: InMaintenance = () => null): Issue {
  const { domainId, evidence, status } = record
  const window = status === 'resolved' ? null : inMaintenance({ domainId, vendor: evidence?.vendor ?? null })
  return {
    id: record.id,
    alertId: record.alertId,
    status: record.status,
    severity: record.severity,
    title: record.title,
    alertType: record.alertType,
    occurrences: record.occurrences,
    capReached: record.capReached,
    notificationsSent: record.notificationsSent,
    impactValue: record.impactValue,
    notes: record.notes,
    trackerKey: record.trackerKey,
    firstSeenAt: record.firstSeenAt,
    lastSeenAt: record.lastSeenAt,
    hosts: record.hosts && record.hosts.length > 0 ? record.hosts : null,
    assigneeId: record.assigneeId,
    commentCount: record.commentCount,
    ...(record.mutedUntil === null ? {} : { mutedUntil: record.mutedUntil }),
    ...(record.muteReason === null ? {} : { muteReason: record.muteReason }),
    ...(record.mutedHosts === null ? {} : { mutedHosts: record.mutedHosts }),
    ...(window && { maintenance: { name: window.name, until: window.until } }),
  }
}

/** SQL: issues that an evaluation continues, or may reopen. */
const RELEVANT = `(status <> 'resolved' OR mutedHosts IS NOT NULL OR statusAt >= ?)`

/**
 * For each domain and subject of the alert, returns the unresolved issue, or otherwise the most recent issue if it was
 * resolved recently or is muted on some hosts.
 */
export function issuesOfAlert(db: Db, alertId: string, now: Instant): IssueRecord[] {
  const since = now - REOPEN_WITHIN_MS
  // Most alerts have no issues, and sorting an empty result takes 20 times as long as this check.
  const any = prepared<[string, number]>(db, `SELECT 1 FROM issue WHERE alertId = ? AND ${RELEVANT} LIMIT 1`)
  if (any.get(alertId, since) === undefined) return []
  return prepared<[string, number], IssueRow>(
    db,
    `SELECT ${ISSUE_COLUMNS} FROM (
       SELECT *, row_number() OVER (
         PARTITION BY ifnull(domainId, ''), subject ORDER BY status <> 'resolved' DESC, statusAt DESC, id DESC
       ) AS place
       FROM issue WHERE alertId = ? AND ${RELEVANT}
     ) AS issue WHERE place = 1`,
  )
    .all(alertId, since)
    .map(recordOf)
}

/**
 * Compares an evaluation with the alert's issues and stores the changes in one transaction (or in the caller's), so
 * that two evaluations cannot both open an issue. Returns the changes.
 */
export function applyFindings(
  db: Db,
  evaluation: Omit<Evaluation, 'issues' | 'timezone' | 'newId'>,
  enqueue: Enqueue,
): Change[] {
  const { alert, now } = evaluation
  return tx(db, () => {
    const issues = presentIssues(db, alert.id, now)
    const changes = reconcile({
      ...evaluation,
      issues,
      timezone: timezoneOf(db, alert.orgId),
      newId: () => newId('iss', now),
    })
    applyChanges(db, changes, enqueue)
    return changes
  })
}

/** Like `issuesOfAlert`, for comparison with an evaluation at `now`. */
export function presentIssues(db: Db, alertId: string, now: Instant): readonly IssueRecord[] {
  return withoutFutureTimes(db, issuesOfAlert(db, alertId, now), now)
}

/**
 * Replaces times in the future, recorded before the clock was set back, with `now`. Otherwise nothing would be cleared,
 * reopened or reported until the clock reaches those times.
 */
function withoutFutureTimes(db: Db, issues: readonly IssueRecord[], now: Instant): readonly IssueRecord[] {
  const isAhead = ({ lastSeenAt, statusAt, firedWindowAt }: IssueRecord) =>
    Math.max(lastSeenAt, statusAt, firedWindowAt) > now
  if (!issues.some(isAhead)) return issues
  const putBackAt = activeClockStep(db, now)?.at ?? now
  const present = (instant: Instant) => (instant > now ? putBackAt : instant)
  return issues.map((issue) => ({
    ...issue,
    firstSeenAt: present(issue.firstSeenAt),
    lastSeenAt: present(issue.lastSeenAt),
    statusAt: present(issue.statusAt),
    firedWindowAt: present(issue.firedWindowAt),
  }))
}

/**
 * Stores changes, in the same transaction in which the underlying issues were read. `enqueue` is called inside the
 * transaction and may only write to the database.
 */
export function applyChanges(db: Db, changes: readonly Change[], enqueue: Enqueue): void {
  tx(db, () => {
    for (const change of changes) applyChange(db, change, enqueue)
  })
}

function applyChange(db: Db, change: Change, enqueue: Enqueue): void {
  switch (change.kind) {
    case 'open': {
      const blank = {
        occurrences: 0,
        capReached: false,
        heldBack: 0,
        notificationsSent: 0,
        notes: null,
        trackerKey: null,
        assigneeId: null,
        commentCount: 0,
        ...NO_MUTE,
      }
      const record: IssueRecord = { ...change.issue, ...blank }
      const places = COLUMNS.map(() => '?').join(', ')
      const cells = COLUMNS.map((column) => cellOf(record[column]))
      prepared(db, `INSERT INTO issue (${COLUMNS.join(', ')}) VALUES (${places})`).run(...cells)
      return
    }
    case 'update': {
      const entries = Object.entries(change.values)
      const assignments = entries.map(([column]) => `${column} = ?`).join(', ')
      const cells = entries.map(([, value]) => cellOf(value))
      // There are few distinct statements, because the same columns always change together.
      prepared(db, `UPDATE issue SET ${assignments} WHERE id = ?`).run(...cells, change.issueId)
      return
    }
    case 'count':
      prepared(
        db,
        `INSERT INTO issueOccurrence (issueId, day, count) VALUES (?, ?, ?)
         ON CONFLICT (issueId, day) DO UPDATE SET count = count + excluded.count`,
      ).run(change.issueId, change.day, change.count)
      prepared(db, 'UPDATE issue SET occurrences = occurrences + ? WHERE id = ?').run(change.count, change.issueId)
      return
    case 'history': {
      const { issueId, at, notice } = change
      const historySeq = addHistory(db, issueId, change.entry, change.payload, at)
      if (change.entry === 'reopened') reopenEscalation(db, issueId, { historySeq, at, isAnnounced: notice === null })
      // Before the notice, so that its message names the assignee.
      const mail = change.entry === 'opened' || change.entry === 'reopened' ? assignByRule(db, issueId, at) : null
      if (notice) enqueue({ kind: 'notify', issueId, historySeq, at, ...notice })
      if (mail) enqueue(mail)
      return
    }
    case 'withdraw':
      enqueue(change)
  }
}

/** Returns the entry's sequence number: unique and increasing. */
export function addHistory(
  db: Db,
  issueId: string,
  kind: HistoryKind,
  payload: HistoryPayload | null,
  at: Instant,
): number {
  const sql = 'INSERT INTO issueHistory (issueId, kind, payload, createdAt) VALUES (?, ?, ?, ?)'
  const { lastInsertRowid } = prepared(db, sql).run(issueId, kind, payload && JSON.stringify(payload), at)
  return Number(lastInsertRowid)
}

/** Returns the issue's most recent 500 entries, oldest first. */
export function issueHistory(db: Db, issueId: string): IssueDetail['history'] {
  return db
    .prepare<[string, number], { kind: string; payload: string | null; createdAt: number }>(
      'SELECT kind, payload, createdAt FROM issueHistory WHERE issueId = ? ORDER BY seq DESC LIMIT ?',
    )
    .all(issueId, HISTORY_LIMIT)
    .reverse()
    .map((row) => ({ ...row, payload: row.payload === null ? null : JSON.parse(row.payload) }))
}

/** Returns the occurrences by UTC day, oldest first, without empty days; they add up to the issue's `occurrences`. */
export function occurrenceSeries(db: Db, issueId: string): IssueDetail['occurrenceSeries'] {
  return db
    .prepare<[string], { day: string; count: number }>(
      'SELECT day, count FROM issueOccurrence WHERE issueId = ? ORDER BY day',
    )
    .all(issueId)
}

/** Returns the stored issue. Fails with `notFound` if the issue does not exist in the organization. */
export function issueRecord(db: Db, orgId: string, issueId: string): IssueRecord {
  const missing = `id: issue ${issueId} does not exist`
  return recordOf(findOrgRow<IssueRow>(db, `SELECT ${ISSUE_COLUMNS} FROM issue`, { orgId, id: issueId }, missing))
}

function domainName(db: Db, domainId: string | null): string | null {
  const row = db.prepare<[string | null], { name: string }>('SELECT name FROM domain WHERE id = ?').get(domainId)
  return row?.name ?? null
}

/**
 * Returns the issue with its history, and with the maintenance window in force at `now`, if given. Fails with `notFound`
 * if the issue does not exist in the organization.
 */
export function findIssue(db: Db, orgId: string, issueId: string, now?: Instant): IssueDetail {
  const record = issueRecord(db, orgId, issueId)
  const next = nextEscalationOf(db, record)
  return {
    ...issueOf(record, now === undefined ? undefined : windowsInForce(db, orgId, now)),
    domainId: record.domainId,
    domain: domainName(db, record.domainId),
    occurrenceSeries: occurrenceSeries(db, issueId),
    history: issueHistory(db, issueId),
    ...(next && { nextEscalation: { step: next.step, at: next.at, channels: next.channels } }),
  }
}

/** Issue data for a message, read when the message is created. */
export interface IssueFacts {
  issue: IssueRecord
  /** Name of the domain; null if the domain was deleted or the issue has no domain. */
  domain: string | null
  /** Number of open issues in the organization, including this one. */
  openNow: number
}

/** Returns the history entry of the issue's last opening; null if there is none. */
export function lastOpening(db: Db, issueId: string): { seq: number; kind: 'opened' | 'reopened' } | null {
  const find = db.prepare<[string], { seq: number; kind: 'opened' | 'reopened' }>(
    `SELECT seq, kind FROM issueHistory WHERE issueId = ? AND kind IN ('opened', 'reopened') ORDER BY seq DESC LIMIT 1`,
  )
  return find.get(issueId) ?? null
}

/** Returns null if the issue was deleted. */
export function issueFacts(db: Db, issueId: string): IssueFacts | null {
  const row = db.prepare<[string], IssueRow>(`SELECT ${ISSUE_COLUMNS} FROM issue WHERE id = ?`).get(issueId)
  if (!row) return null
  const open = db
    .prepare<[string], { count: number }>(`SELECT count(*) AS count FROM issue WHERE orgId = ? AND status = 'open'`)
    .get(row.orgId)
  return { issue: recordOf(row), domain: domainName(db, row.domainId), openNow: open?.count ?? 0 }
}

/** Actor and time of a manual change. */
export interface ManualChange {
  orgId: string
  by: Actor
  now: Instant
}

/**
 * Changes an issue's status manually; `mute` as in `transition`. Fails with `notFound` if the issue does not
 * exist in the organization. Fails with `conflict` if the current status does not allow the change, or if a newer issue
 * has replaced this resolved one.
 */
export function setStatus(
  db: Db,
  hand: ManualChange,
  issueId: string,
  to: IssueStatus,
  enqueue: Enqueue,
  mute?: Mute,
): void {
  tx(db, () => {
    const issue = issueRecord(db, hand.orgId, issueId)
    const changes = transition(issue, to, hand.by, hand.now, mute)
    if (issue.status === 'resolved' && changes.length > 0) refuseRival(db, issue)
    applyChanges(db, changes, enqueue)
  })
}

function refuseRival(db: Db, issue: IssueRecord): void {
  const rival = db
    .prepare<[string, string, string], { id: string }>(
      `SELECT id FROM issue WHERE alertId = ? AND ifnull(domainId, '') = ? AND subject = ? AND status <> 'resolved'`,
    )
    .get(issue.alertId, issue.domainId ?? '', issue.subject)
  if (rival)
    throw new AppError('conflict', `status: this issue was replaced by issue ${rival.id}; update that issue instead`)
}

/** Ends the mutes of all organizations that last until `now` or earlier. */
export function unmuteDue(db: Db, now: Instant, enqueue: Enqueue): void {
  const due = prepared<[Instant], IssueRow>(db, `SELECT ${ISSUE_COLUMNS} FROM issue WHERE mutedUntil <= ?`)
  tx(db, () => {
    for (const row of due.all(now)) applyChanges(db, unmute(recordOf(row), now), enqueue)
  })
}

/**
 * Assigns an issue to a member, or to nobody, manually. The new assignee is notified by e-mail unless they made the
 * change. Has no effect if the issue is already assigned so. Fails with `notFound` if the issue does not exist in the
 * organization, and with `invalid` if the assignee is not a member of it.
 */
export function setAssignee(
  db: Db,
  { orgId, by, now }: ManualChange,
  issueId: string,
  assigneeId: string | null,
  enqueue: Enqueue,
): void {
  tx(db, () => {
    const issue = issueRecord(db, orgId, issueId)
    if (assigneeId !== null && !isActiveMember(db, { orgId, id: assigneeId })) {
      throw new AppError('invalid', 'assigneeId: is not a member of the organization')
    }
    if (issue.assigneeId === assigneeId) return
    prepared(db, 'UPDATE issue SET assigneeId = ? WHERE id = ?').run(assigneeId, issueId)
    const historySeq = addHistory(db, issueId, 'assigned', { by, assigneeId }, now)
    if (assigneeId === null || assigneeId === by) return
    enqueue({ kind: 'mail', issueId, historySeq, at: now, reason: 'assigned', userId: assigneeId, by, comment: null })
  })
}

/** Assigns an unassigned issue to the member who has acknowledged it. Has no effect if the actor is not a member. */
export function claimIssue(db: Db, hand: ManualChange, issueId: string, enqueue: Enqueue): void {
  const { assigneeId } = issueRecord(db, hand.orgId, issueId)
  if (assigneeId !== null || !isActiveMember(db, { orgId: hand.orgId, id: hand.by })) return
  setAssignee(db, hand, issueId, hand.by, enqueue)
}

/**
 * Assigns an unassigned issue according to the organization's rules. Returns the e-mail for the assignee; null if no
 * rule assigns the issue.
 */
function assignByRule(db: Db, issueId: string, now: Instant): NotificationRequest | null {
  const row = prepared<[string], IssueRow>(db, `SELECT ${ISSUE_COLUMNS} FROM issue WHERE id = ?`).get(issueId)
  if (!row || row.assigneeId !== null) return null
  const issue = recordOf(row)
  const rule = ruleOf(db, issue, issue.evidence)
  const userId = rule?.assigneeId
  if (!userId) return null
  prepared(db, 'UPDATE issue SET assigneeId = ? WHERE id = ?').run(userId, issueId)
  const payload = { by: 'rule', assigneeId: userId, rule: rule.position }
  const historySeq = addHistory(db, issueId, 'assigned', payload, now)
  return { kind: 'mail', issueId, historySeq, at: now, reason: 'assigned', userId, by: null, comment: null }
}

/** Resolves the unresolved issues of an alert that is being deleted, as a manual change. */
export function resolveAll(db: Db, alertId: string, hand: ManualChange, enqueue: Enqueue): void {
  for (const { id, status } of issuesOfAlert(db, alertId, hand.now)) {
    if (status !== 'resolved') setStatus(db, hand, id, 'resolved', enqueue)
  }
}

/** Resolves all issues of a domain, one after another, so that the event loop is not blocked. */
export async function resolveIssuesOfDomain(
  db: Db,
  domainId: string,
  hand: ManualChange,
  enqueue: Enqueue,
): Promise<void> {
  const ids = prepared<[string, string], string>(
    db,
    `SELECT id FROM issue WHERE orgId = ? AND domainId = ? AND status <> 'resolved'`,
  )
    .pluck()
    .all(hand.orgId, domainId)
  const yielder = new Yielder()
  for (const id of ids) {
    setStatus(db, hand, id, 'resolved', enqueue)
    if (yielder.isDue) await yielder.yieldNow()
  }
}

/** Deletes old history entries, but not the issues. */
export function removeOldHistory(db: Db, now: Instant): void {
  db.prepare('DELETE FROM issueHistory WHERE createdAt < ?').run(now - RECORD_RETENTION_MS)
}

/** True if the organization has any issue. */
export function hasIssues(db: Db, orgId: string): boolean {
  return prepared(db, 'SELECT 1 FROM issue WHERE orgId = ? LIMIT 1').get(orgId) !== undefined
}

/** Deletes all issues of an organization with their deliveries. */
export function deleteIssuesOf(db: Db, orgId: string): void {
  prepared(db, 'DELETE FROM issue WHERE orgId = ?').run(orgId)
}

/** Number of open issues of all organizations, except the internal one. */
export function countOpenIssues(db: Db): number {
  const sql = `SELECT count(*) AS count FROM issue WHERE status = 'open' AND orgId <> ?`
  return prepared<[string], { count: number }>(db, sql).get(INTERNAL_ORG_ID)?.count ?? 0
}
