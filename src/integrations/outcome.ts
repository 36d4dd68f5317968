import { HOUR_MS, type Instant } from '../core/clock.ts'
import { newId } from '../core/id.ts'
import { addHistory } from '../issues/store.ts'
import { type Db, tx } from '../store/database.ts'
import { type DeliveryRecord, messageOfDelivery, retryDelayMs } from './delivery.ts'
import type { IntegrationStatus } from './integration.ts'
import { failureMessage } from './message.ts'
import { OWNERS_TARGET } from './providers/email/email.ts'
import { PROVIDERS } from './providers/index.ts'
import type { Provider } from './providers/provider.ts'
import type { Outcome } from './reply.ts'
import { setIntegrationStatus } from './store.ts'
import { findProvider, parseTarget } from './targets.ts'

export interface RecordingParts {
  now: Instant
  /** From 0 to below 1. */
  jitter: () => number
  /** True when mail can be sent: owners are told of lost deliveries by it. */
  mailConfigured: boolean
  /** Default: all there are. */
  providers?: readonly Provider[]
}

/**
 * Writes down how an attempt at a claimed delivery ended, and what follows from it: the next attempt, or the issue's
 * history and counters, or a mail to the owners. Does nothing when the delivery is gone or not claimed any more.
 */
export function recordOutcome(db: Db, delivery: DeliveryRecord, outcome: Outcome, parts: RecordingParts): void {
  tx(db, () => {
    if (outcome.verdict === 'delivered') return delivered(db, delivery, outcome.note, parts.now)
    if (outcome.verdict === 'stopped') {
      update(db, delivery, `status = 'pending', attempts = attempts - 1`, {})
      return
    }
    if (outcome.verdict === 'wait') {
      const dueAt = parts.now + outcome.waitMs
      update(db, delivery, `status = 'pending', attempts = attempts - 1, dueAt = @dueAt`, { dueAt })
      return
    }
    const { reason } = outcome
    const delayMs =
      outcome.verdict === 'retry' ? retryDelayMs(delivery.attempts, outcome.retryAfterMs, parts.jitter()) : null
    if (delayMs === null) {
      const status = (outcome.verdict === 'broken' && outcome.status) || 'failing'
      return failed(db, delivery, { reason, status }, parts)
    }
    update(db, delivery, `status = 'pending', dueAt = @dueAt, lastError = @reason`, {
      dueAt: parts.now + delayMs,
      reason,
    })
  })
}

/** True when the row was still this attempt's. */
function update(
  db: Db,
  { id, lastAttemptAt }: DeliveryRecord,
  values: string,
  bound: Record<string, unknown>,
): boolean {
  const statement = db.prepare(
    `UPDATE delivery SET ${values} WHERE id = @id AND status = 'sending' AND lastAttemptAt = @lastAttemptAt`,
  )
  return statement.run({ ...bound, id, lastAttemptAt }).changes === 1
}

function delivered(db: Db, delivery: DeliveryRecord, note: string | null, now: Instant): void {
  const values = `status = 'delivered', lastError = @note, deliveredAt = ifnull(deliveredAt, @now)`
  if (!update(db, delivery, values, { note, now })) return
  const { issueId, transition, channelType, channelTarget } = delivery
  setStatusOf(db, channelTarget, 'connected')
  if (issueId === null || transition === 'delivery_failed') return
  // A replay is the same notification once more.
  if (delivery.deliveredAt === null) {
    db.prepare('UPDATE issue SET notificationsSent = notificationsSent + 1 WHERE id = ?').run(issueId)
  }
  const channel = { type: channelType, target: channelTarget }
  addHistory(db, issueId, 'notified', { deliveryId: delivery.id, transition, channel, ...(note ? { note } : {}) }, now)
}

function setStatusOf(db: Db, target: string, status: IntegrationStatus): void {
  const { integrationId } = parseTarget(target)
  if (integrationId !== null) setIntegrationStatus(db, integrationId, status)
}

function failed(
  db: Db,
  delivery: DeliveryRecord,
  { reason, status }: { reason: string; status: IntegrationStatus },
  parts: RecordingParts,
): void {
  if (!update(db, delivery, `status = 'failed', lastError = @reason`, { reason })) return
  const { id, issueId, transition, channelType, channelTarget } = delivery
  setStatusOf(db, channelTarget, status)
  if (issueId === null || transition === 'delivery_failed') return
  const channel = { type: channelType, target: channelTarget }
  addHistory(db, issueId, 'delivery_failed', { deliveryId: id, transition, channel, reason }, parts.now)
  if (parts.mailConfigured && channelType !== 'email') tellOwners(db, delivery, reason, parts)
}

/** One mail for each channel and hour: a receiver that is down loses many notices, and one mail about it is enough. */
function tellOwners(db: Db, delivery: DeliveryRecord, reason: string, { now, providers }: RecordingParts): void {
  const { orgId, issueId, alertId, channelType, channelTarget } = delivery
  const owner = db.prepare(`SELECT 1 FROM member WHERE orgId = ? AND role = 'owner' AND inviteHash IS NULL`).get(orgId)
  const lost = messageOfDelivery(delivery)
  if (!owner || !lost) return
  const message = failureMessage(lost, { at: now, channel: channelName(db, delivery, providers), reason })
  const noticeKey = `${orgId}:delivery_failed:${channelType}:${channelTarget}:${Math.floor(now / HOUR_MS)}`
  db.prepare(
    `INSERT OR IGNORE INTO delivery (id, orgId, issueId, alertId, transition, noticeKey, transitionKey, channelType,
       channelTarget, message, status, attempts, dueAt, createdAt)
     VALUES (@id, @orgId, @issueId, @alertId, 'delivery_failed', @noticeKey, @noticeKey, 'email', @target, @message,
       'pending', 0, @now, @now)`,
  ).run({
    id: newId('dlv', now),
    orgId,
    issueId,
    alertId,
    noticeKey,
    target: OWNERS_TARGET,
    message: JSON.stringify(message),
    now,
  })
}

/** The way in words, without what may be secret in a URL: `Webhook hooks.example.com`. */
function channelName(
  db: Db,
  { channelType, channelTarget }: DeliveryRecord,
  providers: readonly Provider[] = PROVIDERS,
): string {
  const title = findProvider(providers, channelType)?.title ?? channelType
  const { integrationId } = parseTarget(channelTarget)
  if (integrationId === null) return `${title} ${URL.parse(channelTarget)?.host ?? ''}`.trim()
  const row = db.prepare<[string], { label: string }>('SELECT label FROM integration WHERE id = ?').get(integrationId)
  return `${title} ${row?.label ?? channelTarget}`
}
