import type { Channel } from '../../alerts/alert.ts'
import { type Instant, SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import { type Db, prepared } from '../../store/database.ts'
import type { IssueChannel } from '../context/issue-memory.ts'
import type { Message } from '../message/message.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { Provider } from '../providers/provider.ts'
import { findProvider } from '../targets.ts'
import { DELIVERY_COLUMNS, type DeliveryRecord, messageOfDelivery } from './delivery.ts'

/** For so long after the first opening for a channel others wait, to go as one message. */
const GROUP_WINDOW_MS = 30 * SECOND_MS

/** A delivery without what it says: there may be very many of them at a time. */
export type DeliveryHead = Omit<DeliveryRecord, 'message'>

const HEAD_COLUMNS = DELIVERY_COLUMNS.replace(/\bmessage,\s*/, '')

export interface Opening {
  orgId: string
  channel: Channel
  /** When it would go by itself. */
  at: Instant
  /** Default: all there are. */
  providers?: readonly Provider[]
}

/**
 * Until when an opening waits, and with which others it goes then. Null: it goes at once, because it is the first for its
 * channel in 30 s, or because its provider tells of each by itself.
 */
export function groupFor(
  db: Db,
  { orgId, channel: { type, target }, at, providers = PROVIDERS }: Opening,
): { until: Instant; groupId: string } | null {
  if (!findProvider(providers, type)?.deliverGroup) return null
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
 * Claims those that go as one message with a delivery that was claimed at `now`, in the order in which they were made. What
 * has arrived before and is replayed goes by itself.
 */
export function claimGroupMembers(
  db: Db,
  delivery: DeliveryRecord,
  now: Instant,
  providers: readonly Provider[] = PROVIDERS,
): DeliveryHead[] {
  const { id, groupId, channelType, deliveredAt } = delivery
  if (groupId === null || deliveredAt !== null || !findProvider(providers, channelType)?.deliverGroup) return []
  // Damaged ones fail by themselves, and cost the others nothing.
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

/** What a delivery says; null when it is gone or damaged. */
export function findMessage(db: Db, deliveryId: string): Message | null {
  const sql = 'SELECT message FROM delivery WHERE id = ?'
  const row = prepared<[string], { message: string }>(db, sql).get(deliveryId)
  return row ? messageOfDelivery(row) : null
}

/** Fails with `invalid` when the delivery is gone or damaged. */
export function requireMessage(db: Db, deliveryId: string): Message {
  const message = findMessage(db, deliveryId)
  if (message) return message
  throw new AppError('invalid', 'the stored message is damaged')
}

/** The group in which a channel was told of an issue's opening; null when it was told by itself, or not at all. */
function groupOf(db: Db, { issueId, channelType, channelTarget }: IssueChannel): string | null {
  const sql = `SELECT groupId FROM delivery
    WHERE issueId = ? AND channelType = ? AND channelTarget = ? AND transition = 'opened' ORDER BY seq DESC LIMIT 1`
  const opening = prepared<[string, string, string], { groupId: string | null }>(db, sql)
  return opening.get(issueId, channelType, channelTarget)?.groupId ?? null
}

/** Names what is done one after the other: whatever concerns one issue at one channel, or the message that it shares there. */
export function lockKeyOf(db: Db, channel: IssueChannel): string {
  const groupId = groupOf(db, channel)
  if (groupId !== null) return `group ${groupId}`
  return `issue ${channel.issueId} ${channel.channelType} ${channel.channelTarget}`
}

/** An opening that was told in one message with others. */
export interface GroupedOpening {
  deliveryId: string
  issueId: string
  /** That the issue has now. */
  status: IssueStatus
}

/** The openings that were told in one message with that of an issue, itself included, in their order; empty: by itself. */
export function groupedOpenings(db: Db, channel: IssueChannel): GroupedOpening[] {
  const groupId = groupOf(db, channel)
  if (groupId === null) return []
  const sql = `SELECT delivery.id AS deliveryId, issueId, issue.status
    FROM delivery JOIN issue ON issue.id = issueId WHERE groupId = ? ORDER BY seq`
  return prepared<[string], GroupedOpening>(db, sql).all(groupId)
}
