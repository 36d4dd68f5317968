import type { Channel } from '../../alerts/alert.ts'
import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import { newId } from '../../core/id.ts'
import type { Transition } from '../../issues/issue.ts'
import { addHistory } from '../../issues/store.ts'
import type { ClockStep } from '../../store/clock-step.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { Message } from '../message/message.ts'
import type { Provider } from '../providers/provider.ts'
import {
  DELIVERY_COLUMNS,
  type DeliveryRecord,
  messageOfDelivery,
  slotFor,
  type Throttle,
  throttleWindowMs,
} from './delivery.ts'
import { groupFor } from './grouping.ts'
import { wantedChannels } from './notify-setting.ts'

/** A repeat that waits longer says nothing new. */
const REPEAT_LIFETIME_MS = 30 * MINUTE_MS

/** That an issue's channels are to be told. */
export interface Notice {
  orgId: string
  issueId: string
  alertId: string
  transition: Transition
  /** Tells two times of one transition of an issue apart: the id of the history entry, or its instant. */
  instance: string | number
  message: Message
  /** Those of the alert. A resolution goes to the channels that were told, whatever stands here. */
  channels: readonly Channel[]
  throttle: Throttle | null
  /** How long it waits, in which `withdraw` may take it back. */
  delayMs?: number
  now: Instant
  /** Default: all there are. */
  providers?: readonly Provider[]
}

export interface Enqueued {
  deliveryIds: string[]
  /** True when the throttle let nothing go. */
  heldBack: boolean
}

/**
 * Writes one delivery for each channel, inside the caller's transaction. The same notice again changes nothing.
 *
 * The throttle counts notices of the alert, however many channels they go to. A notice above it is held back: counted
 * on the issue and told by the next one that goes. A resolution is never held back, it waits until the throttle has
 * room: whoever was told of the trouble is told of its end. It goes only to channels whose last word was the trouble.
 * An opening that comes soon after another for the same channel waits and goes together with others (`grouping.ts`).
 */
export function enqueue(db: Db, notice: Notice): Enqueued {
  return tx(db, () => {
    const { issueId, transition, throttle, now } = notice
    const noticeKey = `${issueId}:${transition}:${notice.instance}`
    const known = prepared<[string], { id: string }>(db, 'SELECT id FROM delivery WHERE noticeKey = ?').all(noticeKey)
    if (known.length > 0) return { deliveryIds: known.map(({ id }) => id), heldBack: false }
    if (transition !== 'resolved') withdrawResolutions(db, issueId)
    const meant = transition === 'resolved' ? notifiedChannels(db, issueId) : distinct(notice.channels)
    const channels = wantedChannels(db, meant, notice)
    if (channels.length === 0) return { deliveryIds: [], heldBack: false }
    const at = now + (notice.delayMs ?? 0)
    const slot = throttle ? slotFor(throttle, latestSlots(db, notice.alertId, throttle, at), at) : at
    if (slot > at && transition !== 'resolved') {
      holdBack(db, notice)
      return { deliveryIds: [], heldBack: true }
    }
    const message = JSON.stringify({ ...notice.message, heldBack: resetHeldBack(db, issueId) })
    const rows = channels.map((channel) => insertDelivery(db, { ...notice, noticeKey, channel, message, slot }))
    return { deliveryIds: rows, heldBack: false }
  })
}

function distinct(channels: readonly Channel[]): Channel[] {
  return [...new Map(channels.map((channel) => [`${channel.type} ${channel.target}`, channel])).values()]
}

/** In SQL: that a delivery says how the issue stands. */
export const IS_ISSUE_STATE = `transition IN ('opened', 'reopened', 'repeated', 'resolved')`

/** Channels whose latest word about the issue, arrived or on its way, is not its resolution. */
function notifiedChannels(db: Db, issueId: string): Channel[] {
  return prepared<[string], Channel & { transition: string }>(
    db,
    `SELECT channelType AS type, channelTarget AS target, transition, max(seq) FROM delivery
       WHERE issueId = ? AND ${IS_ISSUE_STATE} AND (deliveredAt IS NOT NULL OR status IN ('pending', 'sending'))
       GROUP BY channelType, channelTarget ORDER BY max(seq)`,
  )
    .all(issueId)
    .filter(({ transition }) => transition !== 'resolved')
    .map(({ type, target }) => ({ type, target }))
}

/** When the alert's latest notices count that share a window with one at `at`, latest first; planned ones too. */
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

/** The last opening of an open issue, where nobody was told of it or of anything since. */
const UNANNOUNCED = `status = 'open' AND NOT EXISTS (
  SELECT 1 FROM delivery WHERE delivery.issueId = issue.id AND ${IS_ISSUE_STATE} AND transition <> 'resolved'
    AND status <> 'withdrawn' AND createdAt >= (
      SELECT max(createdAt) FROM issueHistory WHERE issueHistory.issueId = issue.id AND kind IN ('opened', 'reopened')))`

/**
 * Takes the mark of the throttle from issues whose alert may tell again; how many notices were held back stays, for the
 * next one to say. Issues whose opening was held back come first, and `tellOpening` is to tell of it: one that does not
 * fire again would else stay unheard of, and repeats of others would take its room. Answers how many issues.
 */
export function releaseThrottled(db: Db, now: Instant, tellOpening: (issueId: string) => void): number {
  return tx(db, () => {
    const alerts = prepared<[], { id: string; throttle: string | null }>(
      db,
      `SELECT capped.alertId AS id, json_extract(alert.input, '$.throttle') AS throttle
       FROM (SELECT DISTINCT alertId FROM issue WHERE capReached = 1) AS capped LEFT JOIN alert ON alert.id = capped.alertId`,
    ).all()
    return alerts.reduce((sum, alert) => sum + releaseAlert(db, alert, now, tellOpening), 0)
  })
}

function releaseAlert(
  db: Db,
  alert: { id: string; throttle: string | null },
  now: Instant,
  tellOpening: (issueId: string) => void,
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
    // Asked anew for each, because an opening takes room.
    if (!hasRoom()) break
    prepared(db, 'UPDATE issue SET capReached = 0 WHERE id = ?').run(id)
    released++
    if (isUnannounced) tellOpening(id)
  }
  return released
}

/** How many notices were held back since the last one that went; from now on none. */
function resetHeldBack(db: Db, issueId: string): number {
  const row = prepared<[string], { heldBack: number }>(db, 'SELECT heldBack FROM issue WHERE id = ?').get(issueId)
  prepared(db, 'UPDATE issue SET capReached = 0, heldBack = 0 WHERE id = ?').run(issueId)
  return row?.heldBack ?? 0
}

interface NewDelivery extends Omit<Notice, 'message' | 'channels' | 'throttle'> {
  noticeKey: string
  channel: Channel
  message: string
  /** When the throttle lets it go. */
  slot: Instant
}

function insertDelivery(db: Db, { noticeKey, channel, transition, slot, now, ...rest }: NewDelivery): string {
  const { orgId, issueId, alertId, message, providers } = rest
  const wait =
    transition === 'opened' ? groupFor(db, { orgId, channel, at: slot, ...(providers && { providers }) }) : null
  const id = newId('dlv', now)
  prepared(
    db,
    `INSERT INTO delivery (id, orgId, issueId, alertId, transition, noticeKey, transitionKey, channelType, channelTarget,
       message, status, attempts, dueAt, throttleAt, expiresAt, createdAt, groupId)
     VALUES (@id, @orgId, @issueId, @alertId, @transition, @noticeKey, @transitionKey, @channelType, @channelTarget,
       @message, 'pending', 0, @dueAt, @slot, @expiresAt, @now, @groupId)`,
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
    slot,
    dueAt: wait?.until ?? slot,
    groupId: wait?.groupId ?? null,
    expiresAt: transition === 'repeated' ? now + REPEAT_LIFETIME_MS : null,
    now,
  })
  return id
}

/** Takes back the issue's resolutions that nobody was sent yet: it is open again. Answers how many. */
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

/** Withdraws a delivery. What its notice said was held back is held back again when the notice reached nobody. */
export function withdrawDelivery(db: Db, delivery: DeliveryRecord, reason: string): void {
  const { id, issueId, noticeKey } = delivery
  prepared(db, `UPDATE delivery SET status = 'withdrawn', lastError = ? WHERE id = ?`).run(reason, id)
  const others = prepared(db, `SELECT 1 FROM delivery WHERE noticeKey = ? AND status <> 'withdrawn'`).get(noticeKey)
  const heldBack = messageOfDelivery(delivery)?.heldBack ?? 0
  if (others || heldBack === 0) return
  prepared(db, 'UPDATE issue SET capReached = 1, heldBack = heldBack + ? WHERE id = ?').run(heldBack, issueId)
}

/**
 * The clock was put back, from `latestAt` to `at`: what waits, what the throttle counts, and what is to be shown at other sides
 * is moved back as far, so that each waits as long as it would have.
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
