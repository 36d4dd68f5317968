import type { AlertChannel, AlertInput, EscalationStep } from '../../alerts/alert.ts'
import { createAlert } from '../../alerts/alert-store.ts'
import { MINUTE_MS } from '../../core/clock.ts'
import { escalateDue } from '../../issues/escalate-issues.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import { applyChanges, setStatus } from '../../issues/store.ts'
import { notifier } from './notifier.ts'
import { hook, outboxFixture } from './outbox.fixture.ts'
import { recordOutcome } from './record-attempt.ts'

/** The channel of the step with this number of minutes. */
export const channelAfter = (minutes: number): AlertChannel => ({
  type: 'email',
  target: `after-${minutes}@example.com`,
})

export const stepsAt = (...minutes: number[]): EscalationStep[] =>
  minutes.map((afterMinutes) => ({ afterMinutes, channels: [channelAfter(afterMinutes)] }))

/** An alert with its issue `iss_1`, which has not yet been opened. */
export function escalationFixture(alertInput: Partial<AlertInput> = {}) {
  const world = outboxFixture()
  const { db, clock, orgId, people } = world
  const alert = createAlert(db, clock, orgId, {
    name: 'Purchase has a value',
    alertType: 'data_validation',
    period: '1h',
    channels: [hook],
    ...alertInput,
  })
  const enqueue = notifier({ db, clock, publicUrl: 'https://watch.example' })
  const start = clock.now()

  /** Adds an opening to the history and notifies the channels. */
  const opening = (transition: 'opened' | 'reopened', issueId = 'iss_1') =>
    applyChanges(
      db,
      [
        {
          kind: 'update',
          issueId,
          values: { status: 'open', statusAt: clock.now(), statusBy: null, resolutionToldAt: null },
        },
        {
          kind: 'history',
          issueId,
          entry: transition,
          payload: null,
          at: clock.now(),
          notice: { transition, finding: world.issueRow(issueId)?.evidence ?? null, delayMs: 0 },
        },
      ],
      enqueue,
    )
  const open = (issueId = 'iss_1') => opening('opened', world.issue(issueId, alert.id))
  const byHand = (to: IssueStatus, issueId = 'iss_1') =>
    setStatus(db, { orgId, by: people.bob.userId, now: clock.now() }, issueId, to, enqueue)
  const reported: unknown[] = []
  const report = (error: unknown) => void reported.push(error)
  const escalate = () => escalateDue({ db, clock, enqueue, report })
  /** Runs the job every minute until this number of minutes after the start. */
  const until = async (minutes: number) => {
    while (clock.now() < start + minutes * MINUTE_MS) {
      clock.advance(MINUTE_MS)
      await escalate()
    }
  }
  /** Sends what is due. Returns transitions with their targets. */
  const send = () => {
    const parts = { now: clock.now(), jitter: () => 0, mailConfigured: false }
    return world.take().map((delivery) => {
      recordOutcome(db, delivery, { verdict: 'delivered', note: null }, parts)
      return `${delivery.transition} ${delivery.channelTarget}`
    })
  }
  /** Minutes after the start at which each step was sent: `30@30`. */
  const sent = (issueId = 'iss_1'): string[] =>
    db
      .prepare<[string], { afterMinutes: number; at: number }>(
        `SELECT payload ->> '$.afterMinutes' AS afterMinutes, createdAt AS at FROM issueHistory
         WHERE issueId = ? AND kind = 'escalated' ORDER BY seq`,
      )
      .all(issueId)
      .map(({ afterMinutes, at }) => `${afterMinutes}@${(at - start) / MINUTE_MS}`)
  return { ...world, reported, report, start, alert, enqueue, open, opening, byHand, escalate, until, send, sent }
}
