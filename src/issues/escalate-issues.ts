import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import {
  applyChangedSteps,
  checkLater,
  type EscalationPlan,
  type EscalationState,
  escalationPlan,
  escalationState,
  issuesToCheck,
  markStepSent,
  type NextStep,
  nextStep,
  scheduleNextStep,
} from './escalation-store.ts'
import type { Change, Enqueue, EscalatedStep, IssueRecord } from './issue.ts'
import { applyChanges, ISSUE_COLUMNS, type IssueRow, recordOf } from './store.ts'

/** Maximum number of issues checked in a run, which starts every second. */
const CHECKED_AT_ONCE = 5000
/** Number of issues checked in a transaction. */
const CHECKED_TOGETHER = 100
/** Maximum number of steps sent in a run. */
const SENT_AT_ONCE = 200
/** Delay before a step that could not be queued is tried again. */
const RETRY_MS = MINUTE_MS

interface EscalateDeps {
  db: Db
  clock: Clock
  enqueue: Enqueue
  /** Reports a bug. The other issues are escalated nevertheless. */
  report(error: unknown, what: string): void
}

/** Sends the escalation steps that are due, at most one of each issue. */
export async function escalateDue(deps: EscalateDeps, stopping?: AbortSignal): Promise<void> {
  const { db, clock } = deps
  applyChangedSteps(db)
  const yielder = new Yielder()
  const ids = issuesToCheck(db, clock.now(), CHECKED_AT_ONCE)
  let sent = 0
  for (let from = 0; from < ids.length; from += CHECKED_TOGETHER) {
    const now = clock.now()
    const due = tx(db, () => ids.slice(from, from + CHECKED_TOGETHER).filter((id) => isDue(db, id, now)))
    for (const id of due) {
      if (yielder.isDue) await yielder.yieldNow()
      if (stopping?.aborted || sent === SENT_AT_ONCE) return
      sendOrReport(deps, id)
      sent++
    }
    if (yielder.isDue) await yielder.yieldNow()
  }
}

interface Escalating {
  issue: IssueRecord
  plan: EscalationPlan
  state: EscalationState
  /** Null if no step follows. */
  next: NextStep | null
}

/** Returns null if no opening of the issue has been announced. */
function escalating(db: Db, issueId: string): Escalating | null {
  const row = prepared<[string], IssueRow>(db, `SELECT ${ISSUE_COLUMNS} FROM issue WHERE id = ?`).get(issueId)
  const state = escalationState(db, issueId)
  if (!row || !state) return null
  const issue = recordOf(row)
  const plan = escalationPlan(db, issue)
  return { issue, plan, state, next: issue.status === 'open' ? nextStep(plan, state) : null }
}

/** True if the next step has to be sent. Otherwise stores when it has to be looked for. */
function isDue(db: Db, issueId: string, now: Instant): boolean {
  const next = escalating(db, issueId)?.next ?? null
  if (next && next.at <= now) return true
  scheduleNextStep(db, issueId, next)
  return false
}

function sendOrReport({ db, clock, enqueue, report }: EscalateDeps, issueId: string): void {
  const now = clock.now()
  try {
    sendNextStep(db, issueId, now, enqueue)
  } catch (error) {
    report(error, `escalating ${issueId}`)
    checkLater(db, issueId, now + RETRY_MS)
  }
}

/**
 * Sends the next step if it is still due. The history entry, the deliveries and the progress are stored in one
 * transaction, so that a crash neither loses nor repeats a step.
 */
function sendNextStep(db: Db, issueId: string, now: Instant, enqueue: Enqueue): void {
  tx(db, () => {
    const found = escalating(db, issueId)
    if (!found?.next || found.next.at > now) return
    const { issue, plan, state, next } = found
    markStepSent(db, issueId, next, now)
    applyChanges(db, escalation(issue, state, next, now), enqueue)
    scheduleNextStep(db, issueId, nextStep(plan, { ...state, doneMinutes: next.afterMinutes, sentAt: now }))
  })
}

function escalation(
  issue: IssueRecord,
  { openingSeq, startedAt }: EscalationState,
  next: NextStep,
  now: Instant,
): Change[] {
  const { step, steps, afterMinutes, channels } = next
  const waitedMinutes = Math.max(afterMinutes, Math.floor((now - startedAt) / MINUTE_MS))
  const escalation: EscalatedStep = { step, steps, afterMinutes, waitedMinutes, channels, openingSeq }
  return [
    {
      kind: 'history',
      issueId: issue.id,
      entry: 'escalated',
      payload: { step, afterMinutes, channels },
      at: now,
      notice: { transition: 'repeated', finding: issue.evidence, delayMs: 0, escalation },
    },
  ]
}
