import type { AlertChannel } from '../../alerts/alert.ts'
import { findChannels } from '../../alerts/alert-store.ts'
import { unsealedPart } from '../../alerts/encrypt-channel-target.ts'
import { HOUR_MS, type Instant } from '../../core/clock.ts'
import { orNull } from '../../core/error.ts'
import { newId } from '../../core/id.ts'
import { type Db, prepared } from '../../store/database.ts'
import { findByType, isGrouped, parseTarget } from '../channel-targets.ts'
import { failureMessage } from '../message/message.ts'
import type { Channel } from '../providers/channel.ts'
import { OWNERS_TARGET } from '../providers/email/email.ts'
import { CHANNELS } from '../providers/index.ts'
import { type DeliveryHead, findMessage } from './group-openings.ts'

interface FailureNoticeDeps {
  now: Instant
  /** True if a mail server is configured. */
  mailConfigured: boolean
  /** Default: `CHANNELS`. */
  channels?: readonly Channel[]
}

/**
 * Reports a failed delivery to the owners by e-mail, unless the failed delivery was an e-mail, and to one other channel
 * of the alert. A receiver that is down fails many deliveries, so each combination of failing and notified channel is
 * limited to one report per hour. If a report cannot be delivered, no further report is sent.
 */
export function enqueueFailureNotices(db: Db, delivery: DeliveryHead, reason: string, deps: FailureNoticeDeps): void {
  const { orgId, channelType, channelTarget } = delivery
  const noticeKey = `${orgId}:delivery_failed:${channelType}:${channelTarget}:${Math.floor(deps.now / HOUR_MS)}`
  const channels = [ownersOf(db, delivery, deps), otherChannel(db, delivery, deps)].filter((one) => one !== null)
  for (const channel of channels) enqueueFailureNotice(db, delivery, { channel, noticeKey, reason }, deps)
}

function ownersOf(
  db: Db,
  { orgId, channelType }: DeliveryHead,
  { mailConfigured }: FailureNoticeDeps,
): AlertChannel | null {
  if (!mailConfigured || channelType === 'email') return null
  const owner = `SELECT 1 FROM member WHERE orgId = ? AND role = 'owner' AND inviteHash IS NULL`
  return prepared(db, owner).get(orgId) ? { type: 'email', target: OWNERS_TARGET } : null
}

/**
 * Returns the alert's other channel that is most likely to reach people. Channels that are not failing, belong to
 * another product and are read by people are preferred. Null if there is no other channel.
 */
function otherChannel(
  db: Db,
  { orgId, issueId, alertId, channelType, channelTarget }: DeliveryHead,
  { mailConfigured, channels = CHANNELS }: FailureNoticeDeps,
): AlertChannel | null {
  const doubts = (channel: AlertChannel) => [
    isFailing(db, channel.target),
    channel.type === channelType,
    !isGrouped(db, channels, channel),
  ]
  const others = (channelsOf(db, orgId, alertId) ?? channelsOfIssue(db, issueId))
    .filter(({ type, target }) => type !== channelType || target !== channelTarget)
    .filter(({ type }) => type !== 'email' || mailConfigured)
    .map((channel) => ({ channel, rank: doubts(channel).map(Number).join('') }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0))
  return others[0]?.channel ?? null
}

/** Channels of the alert. Null if the alert does not exist. */
function channelsOf(db: Db, orgId: string, alertId: string | null): readonly AlertChannel[] | null {
  return alertId === null ? null : orNull(() => findChannels(db, { orgId, id: alertId }))
}

/** Channels of an issue that was not opened by an alert. */
function channelsOfIssue(db: Db, issueId: string | null): readonly AlertChannel[] {
  const sql = 'SELECT channels FROM issue WHERE id = ?'
  const row = prepared<[string | null], { channels: string | null }>(db, sql).get(issueId)
  return row?.channels ? JSON.parse(row.channels) : []
}

function isFailing(db: Db, target: string): boolean {
  const { integrationId } = parseTarget(target)
  if (integrationId === null) return false
  const sql = `SELECT status FROM integration WHERE id = ?`
  return prepared<[string], { status: string }>(db, sql).get(integrationId)?.status !== 'connected'
}

function enqueueFailureNotice(
  db: Db,
  delivery: DeliveryHead,
  { channel, noticeKey, reason }: { channel: AlertChannel; noticeKey: string; reason: string },
  { now, channels }: FailureNoticeDeps,
): void {
  const transitionKey = `${noticeKey}:${channel.type}:${channel.target}`
  if (prepared(db, 'SELECT 1 FROM delivery WHERE transitionKey = ?').get(transitionKey)) return
  const lost = findMessage(db, delivery.id)
  if (!lost) return
  const message = failureMessage(lost, { at: now, channel: channelName(db, delivery, channels), reason })
  const { orgId, issueId, alertId } = delivery
  prepared(
    db,
    `INSERT INTO delivery (id, orgId, issueId, alertId, transition, noticeKey, transitionKey, channelType,
       channelTarget, message, status, attempts, dueAt, createdAt)
     VALUES (@id, @orgId, @issueId, @alertId, 'delivery_failed', @noticeKey, @transitionKey, @type, @target, @message,
       'pending', 0, @now, @now)`,
  ).run({
    id: newId('dlv', now),
    orgId,
    issueId,
    alertId,
    noticeKey,
    transitionKey,
    type: channel.type,
    target: channel.target,
    message: JSON.stringify(message),
    now,
  })
}

/** Name of the channel without the secret parts of its URL: `Webhook hooks.example.com`. */
function channelName(
  db: Db,
  { channelType, channelTarget }: DeliveryHead,
  channels: readonly Channel[] = CHANNELS,
): string {
  const title = findByType(channels, channelType)?.title ?? channelType
  const { integrationId } = parseTarget(channelTarget)
  if (integrationId === null) return `${title} ${URL.parse(unsealedPart(channelTarget))?.host ?? ''}`.trim()
  const row = db.prepare<[string], { label: string }>('SELECT label FROM integration WHERE id = ?').get(integrationId)
  return `${title} ${row?.label ?? channelTarget}`
}
