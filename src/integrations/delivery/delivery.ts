import type { Alert } from '../../alerts/alert.ts'
import { unsealChannel } from '../../alerts/encrypt-channel-target.ts'
import { CHANNEL_TYPES, type ChannelType } from '../../contract/products.ts'
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../contract/statuses.ts'
import { HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../../core/schema.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { may } from '../../http/permission.ts'
import type { Principal } from '../../http/principal.ts'
import {
  type InternalTransition,
  MESSAGE_KINDS,
  type Message,
  type MessageKind,
  NO_HISTORY,
} from '../message/message.ts'

export const DeliverySchema = Closed(
  {
    id: Type.String({ description: 'Unchanged across attempts; sent to webhooks in the `webhook-id` header' }),
    issueId: Nullable(Type.String()),
    alertId: Nullable(Type.String()),
    alertName: Nullable(
      Type.String({
        description:
          'Name of the alert, audit or flow test at the time of the notification; null for test notifications',
      }),
    ),
    transition: OneOf(MESSAGE_KINDS),
    channel: Closed({
      type: OneOf(CHANNEL_TYPES),
      target: Type.String({
        description: 'Target as configured in the alert; `owners` for e-mails about failed deliveries',
      }),
    }),
    status: OneOf(DELIVERY_STATUSES),
    attempts: Int({ description: 'Attempts since the delivery was created or last replayed' }),
    dueAt: Nullable(InstantSchema),
    lastAttemptAt: Nullable(InstantSchema),
    lastError: Nullable(Type.String({ description: 'Reason for the last failed attempt or for the withdrawal' })),
    deliveredAt: Nullable(InstantSchema),
    createdAt: InstantSchema,
    escalationStep: Type.Optional(
      Int({ minimum: 1, description: 'Number of the escalation step that sent the notification; absent for others' }),
    ),
  },
  {
    $id: 'Delivery',
    examples: [
      {
        id: 'dlv_01ke7k3h40c8s5d2w7y1g9f3qn',
        issueId: 'iss_01ke7k3h20x6b4n8r1t9v5c7zd',
        alertId: 'alr_01ke7jpe008wq2m5x0t4c9r7hv',
        alertName: 'Purchases have a value',
        transition: 'opened',
        channel: { type: 'email', target: 'ann@example.com' },
        status: 'delivered',
        attempts: 1,
        dueAt: null,
        lastAttemptAt: 1_767_614_401_000,
        lastError: null,
        deliveredAt: 1_767_614_402_000,
        createdAt: 1_767_614_400_000,
      },
    ],
  },
)
export type Delivery = Static<typeof DeliverySchema>

/** A stored delivery. */
export interface DeliveryRecord {
  seq: number
  id: string
  orgId: string
  issueId: string | null
  alertId: string | null
  transition: MessageKind | InternalTransition
  noticeKey: string
  channelType: ChannelType
  channelTarget: string
  /** The message (`Message`) as JSON. */
  message: string
  status: DeliveryStatus
  attempts: number
  dueAt: Instant
  lastAttemptAt: Instant | null
  lastError: string | null
  deliveredAt: Instant | null
  createdAt: Instant
  /** Id of the first opening in its group. The openings in a group are sent as one message. Null: sent separately. */
  groupId: string | null
  /** Number of the escalation step that created the delivery. Null for other deliveries. */
  escalationStep: number | null
}

/** SQL columns of a `DeliveryRecord`. */
export const DELIVERY_COLUMNS = `seq, id, orgId, issueId, alertId, transition, noticeKey, channelType, channelTarget,
  message, status, attempts, dueAt, lastAttemptAt, lastError, deliveredAt, createdAt, groupId, escalationStep`

/** Message of a delivery. Null if the row is corrupt. */
export function messageOfDelivery({ message }: Pick<DeliveryRecord, 'message'>): Message | null {
  try {
    // Messages stored by earlier versions have fewer fields.
    return { ...NO_HISTORY, firstBadAt: null, ...JSON.parse(message) }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/**
 * Describes a delivery for a caller. `dueAt` is null unless the delivery is pending. The target is empty for viewers
 * and read-only keys.
 */
export function describeDelivery(box: SecretBox, record: DeliveryRecord, principal: Principal): Delivery {
  const { id, issueId, alertId, transition, status, attempts, lastAttemptAt, lastError, deliveredAt, createdAt } =
    record
  const channel = { type: record.channelType, target: record.channelTarget }
  if (transition === 'operator' || transition === 'security') {
    throw new Error('the internal organization has no members who could see its messages')
  }
  return {
    id,
    issueId,
    alertId,
    alertName: messageOfDelivery(record)?.alert?.name ?? null,
    transition,
    channel: may(principal, 'seeTokens') ? unsealChannel(box, channel) : { ...channel, target: '' },
    status,
    attempts,
    dueAt: status === 'pending' ? record.dueAt : null,
    lastAttemptAt,
    lastError,
    deliveredAt,
    createdAt,
    ...(record.escalationStep !== null && { escalationStep: record.escalationStep }),
  }
}

/** Delays after the first, second and following attempts. The last delay is followed by one final attempt. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
] as const

/**
 * Maximum random increase of a delay, as a fraction of the delay, so that deliveries that failed together are not
 * retried together.
 */
const MAX_JITTER_SHARE = 0.2
/** Maximum delay that a receiver can request. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS

/**
 * Delay in ms after attempt number `attempts`. Null if it was the last attempt. The result is the longer of the
 * scheduled delay and the delay requested by the receiver, which is limited to a day.
 * @param jitter From 0 (inclusive) to 1 (exclusive).
 */
export function retryDelayMs(attempts: number, retryAfterMs: number | null, jitter: number): number | null {
  const delay = RETRY_DELAYS_MS[attempts - 1]
  if (delay === undefined) return null
  const scheduled = Math.round(delay * (1 + MAX_JITTER_SHARE * jitter))
  return Math.max(scheduled, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))
}

export type Throttle = NonNullable<Alert['throttle']>

export function throttleWindowMs({ per, unit }: Throttle): number {
  return per * (unit === 'minutes' ? MINUTE_MS : HOUR_MS)
}

/**
 * Returns the earliest instant, not before `at`, at which another notification can be sent without exceeding `count` in
 * any throttle window.
 * @param taken Times of the most recent `count` notifications, newest first, including scheduled ones.
 */
export function slotFor(throttle: Throttle, taken: readonly Instant[], at: Instant): Instant {
  const limiting = taken[throttle.count - 1]
  return limiting === undefined ? at : Math.max(at, limiting + throttleWindowMs(throttle))
}
