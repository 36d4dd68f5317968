import type { Instant } from '../../core/clock.ts'
import { addHistory } from '../../issues/store.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { Outcome, TimedAttemptResult } from '../outcome.ts'
import type { Provider } from '../providers/provider.ts'
import { updateIntegrationStatus } from '../store.ts'
import { parseTarget } from '../targets.ts'
import type { Claimed } from './attempt.ts'
import { logAttempt } from './attempt-log.ts'
import { MAX_RETRY_AFTER_MS, retryDelayMs } from './delivery.ts'
import { enqueueFailureNotices } from './failure-notice.ts'
import type { DeliveryHead } from './grouping.ts'

export interface RecordingDeps {
  now: Instant
  /** From 0 to below 1. */
  jitter: () => number
  /** True when mail can be sent: owners are told of lost deliveries by it. */
  mailConfigured: boolean
  /** Default: all there are. */
  providers?: readonly Provider[]
}

/**
 * Writes down an attempt in the log of each delivery that went with it, and what follows for each. They are tried again at the
 * same time, so that they go together.
 */
export function recordAttempt(
  db: Db,
  { delivery, others }: Claimed,
  attempt: TimedAttemptResult,
  deps: RecordingDeps,
): void {
  const jitter = deps.jitter()
  tx(db, () => {
    for (const one of [delivery, ...others]) {
      logAttempt(db, one.id, attempt)
      recordOutcome(db, one, attempt.outcome, { ...deps, jitter: () => jitter })
    }
  })
}

/**
 * Writes down how an attempt at a claimed delivery ended, and what follows from it: the next attempt, or the issue's
 * history and counters, or that others are told of the loss. Does nothing when the delivery is gone or not claimed any more.
 */
export function recordOutcome(db: Db, delivery: DeliveryHead, outcome: Outcome, deps: RecordingDeps): void {
  tx(db, () => {
    if (!applyOutcome(db, delivery, outcome, deps)) return
    const { integrationId } = parseTarget(delivery.channelTarget)
    updateIntegrationStatus(db, integrationId, outcome, { isTest: delivery.transition === 'test' })
  })
}

/** True when the row was still this attempt's. */
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
  if (issueId === null || transition === 'delivery_failed') return true
  // A replay is the same notification once more.
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
  if (issueId === null || transition === 'delivery_failed') return true
  const channel = { type: channelType, target: channelTarget }
  addHistory(db, issueId, 'delivery_failed', { deliveryId: id, transition, channel, reason }, deps.now)
  enqueueFailureNotices(db, delivery, reason, deps)
  return true
}
