import type { AlertChannel } from '../../alerts/alert.ts'
import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import { newId } from '../../core/id.ts'
import { isEscalating } from '../../issues/escalation-store.ts'
import type { EscalatedStep, Transition } from '../../issues/issue.ts'
import { addHistory } from '../../issues/store.ts'
import type { ClockStep } from '../../store/clock-step.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { Message } from '../message/message.ts'
import type { Channel } from '../providers/channel.ts'
import {
  DELIVERY_COLUMNS,
  type DeliveryRecord,
  messageOfDelivery,
  slotFor,
  type Throttle,
  throttleWindowMs,
} from './delivery.ts'
import { groupFor } from './group-openings.ts'
import { wantedChannels } from './notify-setting.ts'
import { windowOfIssue, withhold } from './withhold.ts'

/** Maximum age of a repeat. Older repeats are outdated and withdrawn. */
const REPEAT_LIFETIME_MS = 30 * MINUTE_MS

/** A notification about an issue, for all its channels. */
export interface Notice {
  orgId: string
  issueId: string
  alertId: string
  transition: Transition
  /** Distinguishes several occurrences of the same transition: the id of the history entry, or its instant. */
  instance: string | number
  message: Message
  /** Channels of the alert. Ignored for a resolution, which is sent to the channels that were notified before. */
  channels: readonly AlertChannel[]
  throttle: Throttle | null
  /** Delay before sending, during which `withdrawResolutions` can cancel the notification. */
  delayMs?: number
  /** Number of the escalation step; absent for other notices. `instance` is then its `escalationInstance`. */
  escalationStep?: number
  now: Instant
  /** Default: `CHANNELS`. */
  available?: readonly Channel[]
}

export interface Enqueued {
  deliveryIds: string[]
  /** True if the throttle or a maintenance window held the notification back. */
  heldBack: boolean
}

/**
 * Adds one delivery per channel, inside the caller's transaction. Idempotent for the same notice.
 *
 * The throttle counts each notification of the alert once, regardless of the number of channels. A notification above
 * the limit is held back: it is counted on the issue, and the next sent notification reports the count. Resolutions are
 * never held back. They are delayed until the throttle allows them, so that everyone who was notified of an issue also
 * receives its resolution. Resolutions are sent only to channels whose last notification was not a resolution.
 *
 * A maintenance window withholds all notifications except resolutions (`withhold.ts`).
 *
 * An opening that follows another opening in the same channel within a short time is grouped (`group-openings.ts`).
 *
 * An escalation is neither held back nor counted by the throttle, does not expire, and is sent to integrations that
 * exclude repeats, because it is the promise that somebody is notified.
 */
export function enqueue(db: Db, notice: Notice): Enqueued {
  return tx(db, () => {
    const { issueId, transition, throttle, now } = notice
    const noticeKey = `${issueId}:${transition}:${notice.instance}`
    const known = prepared<[string], { id: string }>(db, 'SELECT id FROM delivery WHERE noticeKey = ?').all(noticeKey)
    if (known.length > 0) return { deliveryIds: known.map(({ id }) => id), heldBack: false }
    if (transition !== 'resolved') withdrawResolutions(db, issueId)
    const isEscalation = notice.escalationStep !== undefined
    const meant = transition === 'resolved' ? notifiedChannels(db, issueId) : distinct(notice.channels)
    const channels = isEscalation ? meant : wantedChannels(db, meant, notice)
    if (channels.length === 0) return { deliveryIds: [], heldBack: false }
    const window = transition === 'resolved' ? null : windowOfIssue(db, issueId, now)
    if (window) {
      withhold(db, notice, window)
      return { deliveryIds: [], heldBack: true }
    }
    const at = now + (notice.delayMs ?? 0)
    const slot = throttle ? slotFor(throttle, latestSlots(db, notice.alertId, throttle, at), at) : at
    if (slot > at && transition !== 'resolved') {
      holdBack(db, notice)
      return { deliveryIds: [], heldBack: true }
    }
    // Only the alert's own channels need the number of held-back notifications.
    const heldBack = isEscalation ? 0 : resetHeldBack(db, issueId)
    const message = JSON.stringify({ ...notice.message, heldBack })
    const rows = channels.map((channel) => insertDelivery(db, { ...notice, noticeKey, channel, message, slot }))
    return { deliveryIds: rows, heldBack: false }
  })
}

/** Identifies a step of an opening, so that it is sent once even if its number changes. */
export const escalationInstance = ({ openingSeq, afterMinutes }: EscalatedStep): string =>
  `${openingSeq}.${afterMinutes}`

/**
 * True for a pending escalation that is no longer needed: somebody has acknowledged, muted or resolved the issue, or the
 * issue was reopened since.
 */
export function isObsoleteEscalation(
  db: Db,
  { issueId, noticeKey, escalationStep, deliveredAt }: Omit<DeliveryRecord, 'message'>,
): boolean {
  if (escalationStep === null || issueId === null || deliveredAt !== null) return false
  const [openingSeq] = (noticeKey.split(':')[2] ?? '').split('.')
  return !isEscalating(db, issueId, Number(openingSeq))
}

function distinct(channels: readonly AlertChannel[]): AlertChannel[] {
  return [...new Map(channels.map((channel) => [`${channel.type} ${channel.target}`, channel])).values()]
}

/** SQL condition that is true if the delivery reports a state of the issue. */
export const IS_ISSUE_STATE = `transition IN ('opened', 'reopened', 'repeated', 'resolved')`

/** Channels whose latest notification about the issue, whether delivered or pending, is not a resolution. */
function notifiedChannels(db: Db, issueId: string): AlertChannel[] {
  return prepared<[string], AlertChannel & { transition: string }>(
    db,
    `SELECT channelType AS type, channelTarget AS target, transition, max(seq) FROM delivery
       WHERE issueId = ? AND ${IS_ISSUE_STATE} AND (deliveredAt IS NOT NULL OR status IN ('pending', 'sending'))
       GROUP BY channelType, channelTarget ORDER BY max(seq)`,
  )
    .all(issueId)
    .filter(({ transition }) => transition !== 'resolved')
    .map(({ type, target }) => ({ type, target }))
}

/**
 * Times of the alert's notifications that share a throttle window with a notification at `at`, newest first, including
 * scheduled ones.
 */
function latestSlots(db: Db, alertId: string, throttle: Throttle, at: Instant): Instant[] {
  return prepared<[string, Instant, number], { slot: Instant }>(
    db,
    `SELECT max(throttleAt) AS slot FROM delivery
       WHERE alertId = ? AND throttleAt > ? AND status <> 'withdrawn'
       GROUP BY noticeKey ORDER BY slot DESC LIMIT ?`,
  )
    .all(alertId, at - throttleWindowMs(throttle), throttle.count)
    .map(({ slot }) => slot)
}

function holdBack(db: Db, { issueId, transition, now }: Notice): void {
  const held = prepared<[string], { heldBack: number }>(
    db,
    'UPDATE issue SET capReached = 1, heldBack = heldBack + 1 WHERE id = ? RETURNING heldBack',
  ).get(issueId)
  addHistory(db, issueId, 'held_back', { transition, heldBack: held?.heldBack ?? 1 }, now)
}

/** SQL condition that is true for an open issue without any notification since its last opening. */
export const UNANNOUNCED = `status = 'open' AND NOT EXISTS (
  SELECT 1 FROM delivery WHERE delivery.issueId = issue.id AND ${IS_ISSUE_STATE} AND transition <> 'resolved'
    AND status <> 'withdrawn' AND createdAt >= (
      SELECT max(createdAt) FROM issueHistory WHERE issueHistory.issueId = issue.id AND kind IN ('opened', 'reopened')))`

/**
 * Clears `capReached` on issues whose alert may notify again. The number of held-back notifications is preserved, and
 * the next notification reports it. Returns the number of issues.
 *
 * Issues whose opening was held back come first, and `notifyOpening` must announce them. Otherwise an issue that does
 * not fire again would never be reported, and repeats of other issues would use up the limit.
 */
export function releaseThrottled(db: Db, now: Instant, notifyOpening: (issueId: string) => void): number {
  return tx(db, () => {
    const alerts = prepared<[], { id: string; throttle: string | null }>(
      db,
      `SELECT capped.alertId AS id, json_extract(alert.input, '$.throttle') AS throttle
       FROM (SELECT DISTINCT alertId FROM issue WHERE capReached = 1) AS capped LEFT JOIN alert ON alert.id = capped.alertId`,
    ).all()
    return alerts.reduce((sum, alert) => sum + releaseAlert(db, alert, now, notifyOpening), 0)
  })
}

function releaseAlert(
  db: Db,
  alert: { id: string; throttle: string | null },
  now: Instant,
  notifyOpening: (issueId: string) => void,
): number {
  const limit: Throttle | null = alert.throttle === null ? null : JSON.parse(alert.throttle)
  const hasRoom = () => limit === null || slotFor(limit, latestSlots(db, alert.id, limit, now), now) === now
  if (!hasRoom()) return 0
  const capped = prepared<[string], { id: string; isUnannounced: number }>(
    db,
    `SELECT id, ${UNANNOUNCED} AS isUnannounced FROM issue WHERE capReached = 1 AND alertId = ?
     ORDER BY isUnannounced DESC, firstSeenAt, id`,
  ).all(alert.id)
  let released = 0
  for (const { id, isUnannounced } of capped) {
    // Checked for each issue because every opening counts against the limit.
    if (!hasRoom()) break
    prepared(db, 'UPDATE issue SET capReached = 0 WHERE id = ?').run(id)
    released++
    if (isUnannounced) notifyOpening(id)
  }
  return released
}

/** Returns the number of notifications held back since the last sent notification, and resets that number. */
function resetHeldBack(db: Db, issueId: string): number {
  const row = prepared<[string], { heldBack: number }>(db, 'SELECT heldBack FROM issue WHERE id = ?').get(issueId)
  prepared(db, 'UPDATE issue SET capReached = 0, heldBack = 0 WHERE id = ?').run(issueId)
  return row?.heldBack ?? 0
}

interface NewDelivery extends Omit<Notice, 'message' | 'channels' | 'throttle'> {
  noticeKey: string
  channel: AlertChannel
  message: string
  /** Time at which the throttle allows the notification. */
  slot: Instant
}

function insertDelivery(db: Db, { noticeKey, channel, transition, slot, now, ...rest }: NewDelivery): string {
  const { orgId, issueId, alertId, message, available, escalationStep } = rest
  const wait =
    transition === 'opened' ? groupFor(db, { orgId, channel, at: slot, ...(available && { available }) }) : null
  const id = newId('dlv', now)
  prepared(
    db,
    `INSERT INTO delivery (id, orgId, issueId, alertId, transition, noticeKey, transitionKey, channelType, channelTarget,
       message, status, attempts, dueAt, throttleAt, expiresAt, createdAt, groupId, escalationStep)
     VALUES (@id, @orgId, @issueId, @alertId, @transition, @noticeKey, @transitionKey, @channelType, @channelTarget,
       @message, 'pending', 0, @dueAt, @throttleAt, @expiresAt, @now, @groupId, @escalationStep)`,
  ).run({
    id,
    orgId,
    issueId,
    alertId,
    transition,
    noticeKey,
    transitionKey: `${noticeKey}:${channel.type}:${channel.target}`,
    channelType: channel.type,
    channelTarget: channel.target,
    message,
    throttleAt: escalationStep === undefined ? slot : null,
    dueAt: wait?.until ?? slot,
    groupId: wait?.groupId ?? null,
    expiresAt: transition === 'repeated' && escalationStep === undefined ? now + REPEAT_LIFETIME_MS : null,
    now,
    escalationStep: escalationStep ?? null,
  })
  return id
}

/** Withdraws unsent resolutions of an issue because the issue is open again. Returns the number withdrawn. */
export function withdrawResolutions(db: Db, issueId: string): number {
  return tx(db, () => {
    const waiting = prepared<[string], DeliveryRecord>(
      db,
      `SELECT ${DELIVERY_COLUMNS} FROM delivery
         WHERE issueId = ? AND transition = 'resolved' AND status = 'pending' AND attempts = 0`,
    ).all(issueId)
    for (const delivery of waiting) withdrawDelivery(db, delivery, 'the issue is open again')
    return waiting.length
  })
}

/**
 * Withdraws a delivery. If its notice reached no channel, the held-back notifications that it would have reported are
 * added to the issue's count again.
 */
export function withdrawDelivery(db: Db, delivery: DeliveryRecord, reason: string): void {
  const { id, issueId, noticeKey } = delivery
  prepared(db, `UPDATE delivery SET status = 'withdrawn', lastError = ? WHERE id = ?`).run(reason, id)
  const others = prepared(db, `SELECT 1 FROM delivery WHERE noticeKey = ? AND status <> 'withdrawn'`).get(noticeKey)
  const heldBack = messageOfDelivery(delivery)?.heldBack ?? 0
  if (others || heldBack === 0) return
  prepared(db, 'UPDATE issue SET capReached = 1, heldBack = heldBack + ? WHERE id = ?').run(heldBack, issueId)
}

/**
 * Adjusts stored times after the clock was set back from `latestAt` to `at`. Pending deliveries, throttle times and
 * status syncs are moved back by the difference, so that each waits as long as intended.
 */
export function shiftAfterClockStep(db: Db, { at, latestAt }: Pick<ClockStep, 'at' | 'latestAt'>): void {
  const by = { at, byMs: latestAt - at }
  tx(db, () => {
    prepared(
      db,
      `UPDATE delivery SET dueAt = max(@at, dueAt - @byMs), expiresAt = expiresAt - @byMs
       WHERE status IN ('pending', 'sending') AND dueAt > @at`,
    ).run(by)
    prepared(db, 'UPDATE delivery SET throttleAt = throttleAt - @byMs WHERE throttleAt > @at').run(by)
    prepared(db, 'UPDATE issueMemory SET syncAt = max(@at, syncAt - @byMs) WHERE syncAt > @at').run(by)
  })
}
