import { type Alert, CHANNEL_TYPES } from '../../alerts/alert.ts'
import { unsealChannel } from '../../alerts/channel-target.ts'
import { HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../../core/schema.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { may } from '../../http/permission.ts'
import type { Principal } from '../../http/principal.ts'
import { MESSAGE_KINDS, type Message, type MessageKind, NO_HISTORY } from '../message/message.ts'

/**
 * `pending` waits for `dueAt`; `sending` is under way, or was when the program died; `failed` was refused for good or
 * tried often enough; `withdrawn` was not to be sent any more.
 */
export const DELIVERY_STATUSES = ['pending', 'sending', 'delivered', 'failed', 'withdrawn'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export const DeliverySchema = Closed(
  {
    id: Type.String({ description: 'The same for every attempt; webhooks carry it as webhook-id' }),
    issueId: Nullable(Type.String()),
    alertId: Nullable(Type.String()),
    alertName: Nullable(Type.String({ description: 'Of the alert or test, as it was called when this was made' })),
    transition: OneOf(MESSAGE_KINDS),
    channel: Closed({
      type: OneOf(CHANNEL_TYPES),
      target: Type.String({ description: "As the alert names it; 'owners' for mails about lost deliveries" }),
    }),
    status: OneOf(DELIVERY_STATUSES),
    attempts: Int({ description: 'Since it was made or last replayed' }),
    dueAt: Nullable(InstantSchema),
    lastAttemptAt: Nullable(InstantSchema),
    lastError: Nullable(Type.String({ description: 'Why the last attempt failed, or why it was withdrawn' })),
    deliveredAt: Nullable(InstantSchema),
    createdAt: InstantSchema,
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

/** A delivery as it is kept. */
export interface DeliveryRecord {
  seq: number
  id: string
  orgId: string
  issueId: string | null
  alertId: string | null
  transition: MessageKind
  noticeKey: string
  channelType: (typeof CHANNEL_TYPES)[number]
  channelTarget: string
  /** JSON of a `Message`. */
  message: string
  status: DeliveryStatus
  attempts: number
  dueAt: Instant
  lastAttemptAt: Instant | null
  lastError: string | null
  deliveredAt: Instant | null
  createdAt: Instant
  /** Of the opening in whose 30 s this one came: those of one group go as one message. Null: it goes by itself. */
  groupId: string | null
}

/** The columns of a `DeliveryRecord`. */
export const DELIVERY_COLUMNS = `seq, id, orgId, issueId, alertId, transition, noticeKey, channelType, channelTarget,
  message, status, attempts, dueAt, lastAttemptAt, lastError, deliveredAt, createdAt, groupId`

/** What it says; null when the row is damaged. */
export function messageOfDelivery({ message }: Pick<DeliveryRecord, 'message'>): Message | null {
  try {
    // Those of an earlier version have fewer fields.
    return { ...NO_HISTORY, firstBadAt: null, ...JSON.parse(message) }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Returns a delivery as a caller sees it: `dueAt` is null unless it waits, and viewers and read-only keys see no target. */
export function describeDelivery(box: SecretBox, record: DeliveryRecord, principal: Principal): Delivery {
  const { id, issueId, alertId, transition, status, attempts, lastAttemptAt, lastError, deliveredAt, createdAt } =
    record
  const channel = { type: record.channelType, target: record.channelTarget }
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
  }
}

/** How long to wait after the first, second, … attempt. After the last of them comes one more attempt. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
] as const

/** What a delay grows by at most, so that what failed together does not come back together. */
const MAX_JITTER_SHARE = 0.2
/** A receiver may ask for patience, not for silence. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS

/**
 * How long to wait after attempt number `attempts`; null when that was the last. Never shorter than the schedule, nor
 * than what the receiver asked for, which counts up to a day.
 * @param jitter from 0 to below 1
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
 * The first instant, not before `at`, at which one more notice leaves at most `count` in every window of the
 * throttle's length.
 * @param taken when the latest `count` notices count, latest first; planned ones too
 */
export function slotFor(throttle: Throttle, taken: readonly Instant[], at: Instant): Instant {
  const limiting = taken[throttle.count - 1]
  return limiting === undefined ? at : Math.max(at, limiting + throttleWindowMs(throttle))
}
