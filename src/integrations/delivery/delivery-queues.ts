import { unsealedPart } from '../../alerts/encrypt-channel-target.ts'
import type { Instant } from '../../core/clock.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import { originOf } from '../../transport/address-guard.ts'
import { parseTarget } from '../channel-targets.ts'
import { logKilled } from './attempt-log.ts'
import { DELIVERY_COLUMNS, type DeliveryRecord } from './delivery.ts'
import type { Lane } from './lane-scheduler.ts'
import { IS_ISSUE_STATE, isObsoleteEscalation, withdrawDelivery } from './outbox.ts'

/** Pending deliveries of one organization to one target. */
export type Queue = Pick<DeliveryRecord, 'orgId' | 'channelType' | 'channelTarget'> & {
  /** Time at which the queue's first delivery is due. */
  dueAt: Instant
}

const WAITS = `status = 'pending' AND behind = 0`

/**
 * Returns up to `most` ids of organizations with pending deliveries, in order, starting after `after`. Null starts at
 * the first organization.
 */
export function orgsWaiting(db: Db, after: string | null, most: number): string[] {
  // Each step seeks the next id. A scan would read every pending row.
  const sql = `WITH RECURSIVE turn(id) AS (
      SELECT (SELECT orgId FROM delivery WHERE ${WAITS} AND orgId > ? ORDER BY orgId LIMIT 1)
      UNION ALL
      SELECT (SELECT orgId FROM delivery WHERE ${WAITS} AND orgId > turn.id ORDER BY orgId LIMIT 1)
      FROM turn WHERE turn.id IS NOT NULL LIMIT ?)
    SELECT id FROM turn WHERE id IS NOT NULL`
  return prepared<[string, number], { id: string }>(db, sql)
    .all(after ?? '', most)
    .map(({ id }) => id)
}

const BY_TARGET = 'ORDER BY channelTarget, dueAt, seq LIMIT 1'

/**
 * Returns up to `most` queues of an organization, ordered by target, starting after `after`. Null starts at the first
 * queue.
 */
export function queuesWaiting(db: Db, orgId: string, after: Queue | null, most: number): Queue[] {
  const sql = `WITH RECURSIVE turn(seq) AS (
      SELECT (SELECT seq FROM delivery
              WHERE ${WAITS} AND orgId = @orgId AND channelTarget > @after ${BY_TARGET})
      UNION ALL
      SELECT (SELECT seq FROM delivery
              WHERE ${WAITS} AND orgId = @orgId AND channelTarget > one.channelTarget ${BY_TARGET})
      FROM turn JOIN delivery AS one ON one.seq = turn.seq LIMIT @most)
    SELECT orgId, channelType, channelTarget, dueAt FROM turn JOIN delivery ON delivery.seq = turn.seq`
  return prepared<[object], Queue>(db, sql).all({ orgId, after: after?.channelTarget ?? '', most })
}

/** Lane of a queue's deliveries. The origin is empty for e-mail and for an invalid target. */
export function laneOf(
  db: Db,
  { orgId, channelType, channelTarget }: { orgId: string; channelType: string; channelTarget: string },
): Lane {
  if (channelType === 'email') return { orgId, kind: 'mail', origin: '' }
  const { integrationId } = parseTarget(channelTarget)
  if (integrationId !== null) return laneOfIntegration(db, { orgId, id: integrationId })
  return { orgId, kind: 'http', origin: originOf(unsealedPart(channelTarget)) }
}

/** Lane for the calls of an integration. */
export function laneOfIntegration(db: Db, { orgId, id }: { orgId: string; id: string }): Lane {
  const sql = `SELECT origin, json_extract(config, '$.url') AS url FROM integration WHERE id = ? AND orgId = ?`
  const row = prepared<[string, string], { origin: string | null; url: unknown }>(db, sql).get(id, orgId)
  return { orgId, kind: 'http', origin: row?.origin ?? originOf(unsealedPart(String(row?.url ?? ''))) }
}

/**
 * Claims the first due delivery of `first`, or otherwise the delivery in the queue that has been due longest, by
 * setting it to `sending`. Withdraws resolutions whose channel was not notified of the issue, and escalations of issues
 * that are no longer open. Returns null if nothing is due.
 */
export function claimNext(
  db: Db,
  queue: Omit<Queue, 'dueAt'>,
  now: Instant,
  first: readonly string[] = [],
): DeliveryRecord | null {
  return tx(db, () => {
    const preferred = firstDefined(first, (id) => ifDue(db, id, now))
    for (let next = preferred ?? firstDue(db, queue, now); next; next = firstDue(db, queue, now)) {
      const reason = reasonToWithdraw(db, next)
      if (reason === null) return claim(db, next.id, now)
      withdrawDelivery(db, next, reason)
    }
    return null
  })
}

/** Null if the delivery must be sent. */
function reasonToWithdraw(db: Db, delivery: DeliveryRecord): string | null {
  if (isObsoleteEscalation(db, delivery)) return 'the issue is no longer waiting to be acknowledged'
  const isSent = delivery.transition !== 'resolved' || wasNotified(db, delivery)
  return isSent ? null : 'the channel did not receive the opening'
}

function firstDefined<T>(ids: readonly string[], find: (id: string) => T | undefined): T | undefined {
  for (const id of ids) {
    const found = find(id)
    if (found !== undefined) return found
  }
  return undefined
}

function firstDue(db: Db, queue: Omit<Queue, 'dueAt'>, now: Instant): DeliveryRecord | undefined {
  const { orgId, channelTarget } = queue
  return prepared<[object], DeliveryRecord>(
    db,
    `SELECT ${DELIVERY_COLUMNS} FROM delivery
     WHERE ${WAITS} AND orgId = @orgId AND channelTarget = @channelTarget
       AND dueAt <= @now AND (expiresAt IS NULL OR expiresAt > @now)
     ORDER BY dueAt, seq LIMIT 1`,
  ).get({ orgId, channelTarget, now })
}

function ifDue(db: Db, id: string, now: Instant): DeliveryRecord | undefined {
  const sql = `SELECT ${DELIVERY_COLUMNS} FROM delivery
    WHERE id = @id AND ${WAITS} AND dueAt <= @now AND (expiresAt IS NULL OR expiresAt > @now)`
  return prepared<[object], DeliveryRecord>(db, sql).get({ id, now })
}

function claim(db: Db, id: string, now: Instant): DeliveryRecord | null {
  const sql = `UPDATE delivery SET status = 'sending', attempts = attempts + 1, lastAttemptAt = ?
    WHERE id = ? RETURNING ${DELIVERY_COLUMNS}`
  return prepared<[Instant, string], DeliveryRecord>(db, sql).get(now, id) ?? null
}

/** True if the last notification delivered to the channel before this one is not a resolution. */
function wasNotified(db: Db, { issueId, channelType, channelTarget, seq }: DeliveryRecord): boolean {
  const last = prepared<[object], { transition: string }>(
    db,
    `SELECT transition FROM delivery
     WHERE issueId = @issueId AND channelType = @channelType AND channelTarget = @channelTarget
       AND seq < @seq AND deliveredAt IS NOT NULL AND ${IS_ISSUE_STATE}
     ORDER BY seq DESC LIMIT 1`,
  ).get({ issueId, channelType, channelTarget, seq })
  return last !== undefined && last.transition !== 'resolved'
}

const EXPIRED_AT_ONCE = 200

/** Withdraws up to 200 expired repeats, oldest first. */
export function withdrawExpired(db: Db, now: Instant): void {
  const expired = prepared<[Instant], DeliveryRecord>(
    db,
    `SELECT ${DELIVERY_COLUMNS} FROM delivery
     WHERE status = 'pending' AND expiresAt IS NOT NULL AND expiresAt <= ? ORDER BY expiresAt LIMIT ${EXPIRED_AT_ONCE}`,
  )
  tx(db, () => {
    for (const delivery of expired.all(now)) withdrawDelivery(db, delivery, 'not sent within 30 minutes')
  })
}

/**
 * Makes deliveries interrupted by a crash pending again, with the same ids and without counting the interrupted
 * attempt. Call this only at startup. Returns the number of deliveries.
 */
export function recoverInterrupted(db: Db): number {
  return tx(db, () => {
    logKilled(db)
    const sql = `UPDATE delivery SET status = 'pending', attempts = attempts - 1 WHERE status = 'sending'`
    return db.prepare(sql).run().changes
  })
}

/** Maximum number of organizations per page. */
const ORGS_AT_ONCE = 64
/** Maximum number of queues per page, across all organizations on the page. */
const QUEUES_AT_ONCE = 1000

interface WaitingQueue extends Lane {
  queue: Queue
}

/**
 * Iterates over pending queues in pages of limited size. Organizations take turns, and so do the queues of each
 * organization. The most recently served queue comes last.
 */
export class RoundRobin {
  private org: string | null = null
  private readonly queues = new Map<string, Queue>()

  constructor(private readonly db: Db) {}

  /** Returns the queues in the next page that have a due delivery. */
  next(now: Instant): WaitingQueue[] {
    const { db } = this
    const orgs = pageAround((after: string | null, most) => orgsWaiting(db, after, most), this.org, ORGS_AT_ONCE)
    if (!orgs.isWhole) this.org = orgs.items.at(-1) ?? null
    const most = Math.floor(QUEUES_AT_ONCE / Math.max(1, orgs.items.length))
    return orgs.items.flatMap((orgId) => {
      const list = (after: Queue | null, most: number) => queuesWaiting(db, orgId, after, most)
      const queues = pageAround(list, this.queues.get(orgId) ?? null, most, isSameTarget)
      const last = queues.items.at(-1)
      if (!queues.isWhole && last) this.queues.set(orgId, last)
      return queues.items.filter(({ dueAt }) => dueAt <= now).map((queue) => ({ ...laneOf(db, queue), queue }))
    })
  }

  served({ orgId, queue }: WaitingQueue): void {
    this.org = orgId
    this.queues.set(orgId, queue)
  }
}

const isSameTarget = (one: Queue, other: Queue) => one.channelTarget === other.channelTarget

/**
 * Returns up to `most` items after `from`, wrapping around at the end. `isWhole` is true if the result contains every
 * item.
 */
function pageAround<T>(
  list: (after: T | null, most: number) => T[],
  from: T | null,
  most: number,
  isSame = (one: T, other: T) => one === other,
): { items: T[]; isWhole: boolean } {
  const ahead = list(from, most + 1)
  const others = from === null || ahead.length > most ? [] : list(null, most + 1 - ahead.length)
  const [first] = ahead
  const end = first === undefined ? -1 : others.findIndex((one) => isSame(one, first))
  const items = [...ahead, ...(end === -1 ? others : others.slice(0, end))]
  return { items: items.slice(0, most), isWhole: items.length <= most }
}
