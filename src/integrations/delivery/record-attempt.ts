import type { Instant } from '../../core/clock.ts'
import { addHistory } from '../../issues/store.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import { parseTarget } from '../channel-targets.ts'
import type { Outcome, TimedAttemptResult } from '../delivery-outcome.ts'
import { isIssueState } from '../message/message.ts'
import type { Channel } from '../providers/channel.ts'
import { updateIntegrationStatus } from '../store.ts'
import type { Claimed } from './attempt.ts'
import { logAttempt } from './attempt-log.ts'
import { MAX_RETRY_AFTER_MS, retryDelayMs } from './delivery.ts'
import type { DeliveryHead } from './group-openings.ts'
import { enqueueFailureNotices } from './report-failed-delivery.ts'

interface RecordingDeps {
  now: Instant
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  jitter: () => number
  /** True if a mail server is configured. If so, owners are notified of failed deliveries. */
  mailConfigured: boolean
  /** Default: `CHANNELS`. */
  channels?: readonly Channel[]
}

/**
 * Logs an attempt for each delivery in the message and applies the outcome. All deliveries get the same retry time, so
 * that they are sent together again.
 */
export function recordAttempt(
  db: Db,
  { delivery, others }: Claimed,
  attempt: TimedAttemptResult,
  deps: RecordingDeps,
): void {
  const jitter = deps.jitter()
  const all = [delivery, ...others]
  tx(db, () => {
    const ids = all.map(({ id }) => id)
    logAttempt(db, ids, attempt)
    for (const one of all) {
      recordOutcome(db, one, attempt.outcome, { ...deps, jitter: () => jitter })
    }
  })
}

/**
 * Applies the outcome of an attempt. It schedules a retry, updates the issue's history and counters, or reports the
 * failure. Does nothing if the delivery was deleted or is no longer claimed.
 */
export function recordOutcome(db: Db, delivery: DeliveryHead, outcome: Outcome, deps: RecordingDeps): void {
  tx(db, () => {
    if (!applyOutcome(db, delivery, outcome, deps)) return
    const { integrationId } = parseTarget(delivery.channelTarget)
    updateIntegrationStatus(db, integrationId, outcome, { isTest: delivery.transition === 'test' })
  })
}

/** Returns true if the attempt still owned the delivery's claim. */
function applyOutcome(db: Db, delivery: DeliveryHead, outcome: Outcome, deps: RecordingDeps): boolean {
  if (outcome.verdict === 'delivered') return delivered(db, delivery, outcome.note, deps.now)
  if (outcome.verdict === 'stopped') return update(db, delivery, `status = 'pending', attempts = attempts - 1`, {})
  if (outcome.verdict === 'wait') {
    const dueAt = deps.now + Math.min(outcome.waitMs, MAX_RETRY_AFTER_MS)
    return update(db, delivery, `status = 'pending', attempts = attempts - 1, dueAt = @dueAt`, { dueAt })
  }
  const { reason } = outcome
  const delayMs =
    outcome.verdict === 'retry' ? retryDelayMs(delivery.attempts, outcome.retryAfterMs, deps.jitter()) : null
  if (delayMs === null) return failed(db, delivery, reason, deps)
  const dueAt = deps.now + delayMs
  return update(db, delivery, `status = 'pending', dueAt = @dueAt, lastError = @reason`, { dueAt, reason })
}

function update(db: Db, { id, lastAttemptAt }: DeliveryHead, values: string, bound: Record<string, unknown>): boolean {
  const statement = prepared(
    db,
    `UPDATE delivery SET ${values} WHERE id = @id AND status = 'sending' AND lastAttemptAt = @lastAttemptAt`,
  )
  return statement.run({ ...bound, id, lastAttemptAt }).changes === 1
}

function delivered(db: Db, delivery: DeliveryHead, note: string | null, now: Instant): boolean {
  const values = `status = 'delivered', lastError = @note, deliveredAt = ifnull(deliveredAt, @now)`
  if (!update(db, delivery, values, { note, now })) return false
  const { issueId, transition, channelType, channelTarget } = delivery
  if (issueId === null || !isIssueState(transition)) return true
  // A replay does not count as another notification.
  if (delivery.deliveredAt === null) {
    prepared(db, 'UPDATE issue SET notificationsSent = notificationsSent + 1 WHERE id = ?').run(issueId)
  }
  const channel = { type: channelType, target: channelTarget }
  addHistory(db, issueId, 'notified', { deliveryId: delivery.id, transition, channel, ...(note ? { note } : {}) }, now)
  return true
}

function failed(db: Db, delivery: DeliveryHead, reason: string, deps: RecordingDeps): boolean {
  if (!update(db, delivery, `status = 'failed', lastError = @reason`, { reason })) return false
  const { id, issueId, transition, channelType, channelTarget } = delivery
  if (issueId === null || !isIssueState(transition)) return true
  const channel = { type: channelType, target: channelTarget }
  addHistory(db, issueId, 'delivery_failed', { deliveryId: id, transition, channel, reason }, deps.now)
  enqueueFailureNotices(db, delivery, reason, deps)
  return true
}
