import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import {
  applyChangedSteps,
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
const CHECKED_AT_ONCE = 200

interface EscalateDeps {
  db: Db
  clock: Clock
  enqueue: Enqueue
}

/**
 * Sends the escalation steps that are due. A separate transaction for each issue stores the history entry, the
 * deliveries and the progress together.
 */
export async function escalateDue({ db, clock, enqueue }: EscalateDeps, stopping?: AbortSignal): Promise<void> {
  applyChangedSteps(db)
  const yielder = new Yielder()
  for (const id of issuesToCheck(db, clock.now(), CHECKED_AT_ONCE)) {
    if (yielder.isDue) await yielder.yieldNow()
    if (stopping?.aborted) return
    escalateIssue(db, id, clock.now(), enqueue)
  }
}

/** Sends the next step of an issue if it is due, and stores when the one after it has to be looked for. */
function escalateIssue(db: Db, issueId: string, now: Instant, enqueue: Enqueue): void {
  tx(db, () => {
    const row = prepared<[string], IssueRow>(db, `SELECT ${ISSUE_COLUMNS} FROM issue WHERE id = ?`).get(issueId)
    const state = escalationState(db, issueId)
    if (!row || !state) return
    const issue = recordOf(row)
    const plan = escalationPlan(db, issue)
    const next = issue.status === 'open' ? nextStep(plan, state) : null
    if (!next || next.at > now) {
      scheduleNextStep(db, issueId, next)
      return
    }
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
