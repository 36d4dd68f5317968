import type { AlertChannel } from '../../alerts/alert.ts'
import { type Instant, SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import { type Db, prepared } from '../../store/database.ts'
import { isGrouped } from '../channel-targets.ts'
import type { IssueChannel } from '../context/issue-memory.ts'
import type { Message } from '../message/message.ts'
import type { Channel } from '../providers/channel.ts'
import { CHANNELS } from '../providers/index.ts'
import { DELIVERY_COLUMNS, type DeliveryRecord, messageOfDelivery } from './delivery.ts'

/** Period after the first opening in a channel during which further openings are collected into one message. */
const GROUP_WINDOW_MS = 30 * SECOND_MS

/** A delivery without its message. A large number of these may be in memory at once. */
export type DeliveryHead = Omit<DeliveryRecord, 'message'>

const HEAD_COLUMNS = DELIVERY_COLUMNS.replace(/\bmessage,\s*/, '')

interface Opening {
  orgId: string
  channel: AlertChannel
  /** Time at which the delivery would be sent without grouping. */
  at: Instant
  /** Default: `CHANNELS`. */
  available?: readonly Channel[]
}

/**
 * Returns the group of an opening and the time at which the group is sent. Null: sent immediately, because it is the
 * first opening in its channel within 30 s or the provider does not support groups.
 */
export function groupFor(
  db: Db,
  { orgId, channel: { type, target }, at, available = CHANNELS }: Opening,
): { until: Instant; groupId: string } | null {
  if (!isGrouped(db, available, { type, target })) return null
  const first = prepared<[object], { id: string; throttleAt: Instant }>(
    db,
    `SELECT id, throttleAt FROM delivery
     WHERE orgId = @orgId AND channelType = @type AND channelTarget = @target AND transition = 'opened'
       AND groupId IS NULL AND throttleAt > @since AND throttleAt <= @at
     ORDER BY throttleAt DESC LIMIT 1`,
  ).get({ orgId, type, target, at, since: at - GROUP_WINDOW_MS })
  return first ? { until: first.throttleAt + GROUP_WINDOW_MS, groupId: first.id } : null
}

/**
 * Claims the other members of the group of a delivery claimed at `now`, in order of creation. Members that were
 * delivered before and are replayed are sent separately.
 */
export function claimGroupMembers(
  db: Db,
  delivery: DeliveryRecord,
  now: Instant,
  channels: readonly Channel[] = CHANNELS,
): DeliveryHead[] {
  const { id, groupId, channelType, channelTarget, deliveredAt } = delivery
  if (groupId === null || deliveredAt !== null) return []
  if (!isGrouped(db, channels, { type: channelType, target: channelTarget })) return []
  // A corrupt message fails alone, without affecting the other members.
  if (!messageOfDelivery(delivery)) return []
  return prepared<[object], DeliveryHead>(
    db,
    `UPDATE delivery SET status = 'sending', attempts = attempts + 1, lastAttemptAt = @now
     WHERE groupId = @groupId AND id <> @id AND status = 'pending' AND behind = 0 AND dueAt <= @now
       AND deliveredAt IS NULL AND json_valid(message)
     RETURNING ${HEAD_COLUMNS}`,
  )
    .all({ id, groupId, now })
    .sort((one, other) => one.seq - other.seq)
}

/** Message of a delivery. Null if it was deleted or is corrupt. */
export function findMessage(db: Db, deliveryId: string): Message | null {
  const sql = 'SELECT message FROM delivery WHERE id = ?'
  const row = prepared<[string], { message: string }>(db, sql).get(deliveryId)
  return row ? messageOfDelivery(row) : null
}

/** Message of a delivery. Fails with `invalid` if the delivery was deleted or is corrupt. */
export function requireMessage(db: Db, deliveryId: string): Message {
  const message = findMessage(db, deliveryId)
  if (message) return message
  throw new AppError('invalid', 'the stored message is corrupt')
}

/**
 * Group in which a channel was notified of an issue's opening. Null if the opening was sent separately or not at all.
 */
function groupOf(db: Db, { issueId, channelType, channelTarget }: IssueChannel): string | null {
  const sql = `SELECT groupId FROM delivery
    WHERE issueId = ? AND channelType = ? AND channelTarget = ? AND transition = 'opened' ORDER BY seq DESC LIMIT 1`
  const opening = prepared<[string, string, string], { groupId: string | null }>(db, sql)
  return opening.get(issueId, channelType, channelTarget)?.groupId ?? null
}

/**
 * Key of the lock that serializes work on an issue in a channel, or on the group message that contains the issue there.
 */
export function lockKeyOf(db: Db, channel: IssueChannel): string {
  const groupId = groupOf(db, channel)
  if (groupId !== null) return `group ${groupId}`
  return `issue ${channel.issueId} ${channel.channelType} ${channel.channelTarget}`
}

/** An opening that was sent in one message together with other openings. */
interface GroupedOpening {
  deliveryId: string
  issueId: string
  /** Current status of the issue. */
  status: IssueStatus
}

/**
 * Openings sent in the same message as the issue's opening, including that opening, in order. Empty if the opening was
 * sent separately.
 */
export function groupedOpenings(db: Db, channel: IssueChannel): GroupedOpening[] {
  const groupId = groupOf(db, channel)
  if (groupId === null) return []
  const sql = `SELECT delivery.id AS deliveryId, issueId, issue.status
    FROM delivery JOIN issue ON issue.id = issueId WHERE groupId = ? ORDER BY seq`
  return prepared<[string], GroupedOpening>(db, sql).all(groupId)
}
