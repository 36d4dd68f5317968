import type { EscalationStep } from '../alerts/alert.ts'
import { type EscalationRules, findEscalationRules } from '../alerts/alert-store.ts'
import { nextInRunWindow } from '../alerts/allowed-run-hours.ts'
import { type Instant, MINUTE_MS } from '../core/clock.ts'
import type { ClockStep } from '../store/clock-step.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import type { IssueRecord } from './issue.ts'

/**
 * Minimum time between two steps of an issue. Steps that became due while the server was stopped or the issue was muted
 * are sent at this interval.
 */
const MIN_INTERVAL_MS = MINUTE_MS

/** How far the escalation of an issue has come since its last announced opening. */
export interface EscalationState {
  /** Sequence number of the opening's history entry. */
  openingSeq: number
  /** Time at which the opening was announced. */
  startedAt: Instant
  /** Steps with up to this `afterMinutes` have been sent or no longer apply. */
  doneMinutes: number
  /** Time at which the last step was sent; null if none was. */
  sentAt: Instant | null
}

/** The step that follows. */
export interface NextStep extends EscalationStep {
  /** Number of the step, from 1. */
  step: number
  /** Number of steps. */
  steps: number
  /** Time at which the step is due. */
  dueAt: Instant
  /** Time at which the step is sent: later than `dueAt` if it is late or due outside the alert's run windows. */
  at: Instant
}

/** The steps that apply to an issue, and the times at which its alert may notify. Null rules: any time. */
export interface EscalationPlan {
  steps: readonly EscalationStep[]
  rules: EscalationRules | null
}

/**
 * Returns the first step that has not been sent; null if there is none or the alert is disabled. Steps are identified
 * by their `afterMinutes`, so that they can be changed while an issue is open.
 */
export function nextStep({ steps, rules }: EscalationPlan, state: EscalationState): NextStep | null {
  const index = steps.findIndex(({ afterMinutes }) => afterMinutes > state.doneMinutes)
  const step = steps[index]
  if (!step || rules?.enabled === false) return null
  const dueAt = state.startedAt + step.afterMinutes * MINUTE_MS
  const soonest = state.sentAt === null ? dueAt : Math.max(dueAt, state.sentAt + MIN_INTERVAL_MS)
  const at = rules ? nextInRunWindow(rules.runWindows, rules.timezone, soonest) : soonest
  return { ...step, step: index + 1, steps: steps.length, dueAt, at }
}

/** Returns the alert's own steps, or otherwise the organization's. */
export function escalationPlan(db: Db, { orgId, alertId }: Pick<IssueRecord, 'orgId' | 'alertId'>): EscalationPlan {
  const rules = findEscalationRules(db, { orgId, id: alertId })
  return { steps: rules?.escalation?.steps ?? orgSteps(db, orgId), rules }
}

/** Returns the next step of an open issue; null if there is none. Channel targets are sealed. */
export function nextEscalationOf(
  db: Db,
  issue: Pick<IssueRecord, 'id' | 'orgId' | 'alertId' | 'status'>,
): NextStep | null {
  const state = issue.status === 'open' ? escalationState(db, issue.id) : null
  return state && nextStep(escalationPlan(db, issue), state)
}

/** Returns null if no opening of the issue has been announced. */
export function escalationState(db: Db, issueId: string): EscalationState | null {
  const sql = 'SELECT openingSeq, startedAt, doneMinutes, sentAt FROM escalation WHERE issueId = ?'
  return prepared<[string], EscalationState>(db, sql).get(issueId) ?? null
}

/**
 * Starts the escalation of an opening that has been announced, inside the transaction that queues its notifications.
 * Has no effect if it has already started.
 */
export function startEscalation(
  db: Db,
  { id, orgId }: Pick<IssueRecord, 'id' | 'orgId'>,
  openingSeq: number,
  now: Instant,
): void {
  prepared(
    db,
    `INSERT INTO escalation (issueId, orgId, openingSeq, startedAt, doneMinutes, checkAt)
     VALUES (@id, @orgId, @openingSeq, @now, 0, 0)
     ON CONFLICT (issueId) DO UPDATE SET openingSeq = @openingSeq, startedAt = @now, doneMinutes = 0, sentAt = NULL,
       dueAt = NULL, checkAt = 0
     WHERE openingSeq <> @openingSeq`,
  ).run({ id, orgId, openingSeq, now })
}

/**
 * Ends the escalation of the previous opening when an issue is reopened. An opening that is announced starts it again.
 * If recipients still consider the issue open, nothing is announced, and it starts again now.
 */
export function reopenEscalation(
  db: Db,
  issueId: string,
  { historySeq, at, isAnnounced }: { historySeq: number; at: Instant; isAnnounced: boolean },
): void {
  if (!isAnnounced) {
    prepared(db, 'DELETE FROM escalation WHERE issueId = ?').run(issueId)
    return
  }
  prepared(
    db,
    `UPDATE escalation SET openingSeq = ?, startedAt = ?, doneMinutes = 0, sentAt = NULL, dueAt = NULL, checkAt = 0
     WHERE issueId = ?`,
  ).run(historySeq, at, issueId)
}

/** Returns up to `most` issues whose next step may be due, longest due first. */
export function issuesToCheck(db: Db, now: Instant, most: number): string[] {
  const sql = 'SELECT issueId AS id FROM escalation WHERE checkAt <= ? ORDER BY checkAt LIMIT ?'
  return prepared<[Instant, number], { id: string }>(db, sql)
    .all(now, most)
    .map(({ id }) => id)
}

/** Stores when the next step has to be looked for; a null step: not until something changes. */
export function scheduleNextStep(db: Db, issueId: string, next: NextStep | null): void {
  const sql = 'UPDATE escalation SET dueAt = ?, checkAt = ? WHERE issueId = ?'
  prepared(db, sql).run(next?.dueAt ?? null, next?.at ?? null, issueId)
}

/** Looks for the next step again at this time. */
export function checkLater(db: Db, issueId: string, at: Instant): void {
  prepared(db, 'UPDATE escalation SET checkAt = ? WHERE issueId = ?').run(at, issueId)
}

/** Stores that a step has been sent. */
export function markStepSent(db: Db, issueId: string, { afterMinutes }: EscalationStep, now: Instant): void {
  const sql = 'UPDATE escalation SET doneMinutes = ?, sentAt = ? WHERE issueId = ?'
  prepared(db, sql).run(afterMinutes, now, issueId)
}

/** True if the step's opening is still the current one and nobody has acknowledged, muted or resolved the issue. */
export function isEscalating(db: Db, issueId: string, openingSeq: number): boolean {
  const row = prepared<[string, number], { is: number }>(
    db,
    `SELECT 1 AS "is" FROM escalation JOIN issue ON issue.id = issueId
     WHERE issueId = ? AND openingSeq = ? AND status = 'open'`,
  ).get(issueId, openingSeq)
  return row !== undefined
}

/** Returns the organization's steps; empty if it has none. Channel targets are sealed. */
export function orgSteps(db: Db, orgId: string): EscalationStep[] {
  const row = prepared<[string], { steps: string }>(db, 'SELECT steps FROM orgEscalation WHERE orgId = ?').get(orgId)
  return row ? JSON.parse(row.steps) : []
}

/** Replaces the organization's steps. They are applied to its open issues by `applyChangedSteps`. */
export function saveOrgSteps(db: Db, orgId: string, steps: readonly EscalationStep[], now: Instant): void {
  prepared(
    db,
    `INSERT INTO orgEscalation (orgId, steps, changedAt, recheckAfter) VALUES (@orgId, @steps, @now, '')
     ON CONFLICT (orgId) DO UPDATE SET steps = @steps, changedAt = @now, recheckAfter = ''`,
  ).run({ orgId, steps: JSON.stringify(steps), now })
}

/** Number of issues to which changed steps are applied at once. */
const APPLIED_AT_ONCE = 2000
/** Sorts after every id. */
const AFTER_ALL_IDS = '~'

/**
 * Applies changed steps of an organization to up to 2,000 of its issues. A step whose time had already passed when it
 * was changed is skipped, unless a step was due and not yet sent.
 */
export function applyChangedSteps(db: Db): void {
  const changed = prepared<[], { orgId: string; changedAt: Instant; after: string }>(
    db,
    `SELECT orgId, changedAt, recheckAfter AS after FROM orgEscalation WHERE recheckAfter IS NOT NULL LIMIT 1`,
  ).get()
  if (!changed) return
  tx(db, () => {
    const last = prepared<[object], { id: string }>(
      db,
      `SELECT issueId AS id FROM escalation WHERE orgId = @orgId AND issueId > @after
       ORDER BY issueId LIMIT 1 OFFSET ${APPLIED_AT_ONCE - 1}`,
    ).get(changed)
    prepared(
      db,
      `UPDATE escalation SET
         doneMinutes = CASE WHEN dueAt <= @changedAt THEN doneMinutes
           ELSE max(doneMinutes, (@changedAt - startedAt) / ${MINUTE_MS}) END,
         checkAt = 0
       WHERE orgId = @orgId AND issueId > @after AND issueId <= @through
         AND (SELECT status FROM issue WHERE id = issueId) = 'open'`,
    ).run({ ...changed, through: last?.id ?? AFTER_ALL_IDS })
    prepared(db, 'UPDATE orgEscalation SET recheckAfter = ? WHERE orgId = ?').run(last?.id ?? null, changed.orgId)
  })
}

/** Moves all times back after the clock was set back, so that each step is sent after the intended time. */
export function shiftEscalations(db: Db, { at, latestAt }: Pick<ClockStep, 'at' | 'latestAt'>): void {
  prepared(
    db,
    `UPDATE escalation SET startedAt = startedAt - @byMs, sentAt = sentAt - @byMs, dueAt = dueAt - @byMs,
       checkAt = max(0, checkAt - @byMs)`,
  ).run({ byMs: latestAt - at })
}
