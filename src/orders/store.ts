import type { Instant } from '../core/clock.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS, type Retention } from '../store/retention.ts'
import type { Order } from './order.ts'

/** A stored order. `value` is null when the shop did not send it. */
export interface StoredOrder {
  id: string
  at: Instant
  value: number | null
  status: 'paid' | 'cancelled'
}

/**
 * Stores orders in an existing domain. An order replaces an earlier one with the same id, including one in the same
 * list. Returns the number of accepted orders and the number of replaced ones.
 */
export function saveOrders(
  db: Db,
  { domainId, orders, now }: { domainId: string; orders: readonly Order[]; now: Instant },
): { accepted: number; replaced: number } {
  const isKnown = orderLookup(db, domainId)
  // An order that is posted again without changes keeps `postedAt`, so that it is not counted again.
  const save = prepared<[object]>(
    db,
    `INSERT INTO shopOrder (domainId, id, at, value, currency, status, postedAt)
     VALUES (@domainId, @id, @at, @value, @currency, @status, @now)
     ON CONFLICT (domainId, id) DO UPDATE SET at = excluded.at, value = excluded.value, currency = excluded.currency,
       status = excluded.status, postedAt = excluded.postedAt
     WHERE at <> excluded.at OR value IS NOT excluded.value OR currency IS NOT excluded.currency
       OR status <> excluded.status`,
  )
  return tx(db, () => {
    let replaced = 0
    for (const { id, at, value = null, currency = null, status = 'paid' } of orders) {
      if (isKnown(id)) replaced++
      save.run({ domainId, id, at, value, currency, status, now })
    }
    return { accepted: orders.length, replaced }
  })
}

/** Returns the number of orders in a domain, regardless of their status and age. */
export function orderCount(db: Db, domainId: string): number {
  const count = prepared<[string], { n: number }>(db, 'SELECT count(*) AS n FROM shopOrder WHERE domainId = ?')
  return count.get(domainId)?.n ?? 0
}

/**
 * Returns the time of the most recent order in each of these domains, regardless of its status. Domains without orders
 * are omitted.
 */
export function lastOrdersOf(db: Db, domainIds: readonly string[]): Record<string, Instant> {
  const find = prepared<[string], { at: Instant | null }>(db, 'SELECT max(at) AS at FROM shopOrder WHERE domainId = ?')
  return Object.fromEntries(
    domainIds.flatMap((id): [string, Instant][] => {
      const { at = null } = find.get(id) ?? {}
      return at === null ? [] : [[id, at]]
    }),
  )
}

/**
 * Returns the orders in a domain placed at or after `from`, regardless of their status. They are in no particular
 * order.
 */
export function ordersSince(db: Db, domainId: string, from: Instant): StoredOrder[] {
  const find = prepared<[string, Instant], StoredOrder>(
    db,
    'SELECT id, at, value, status FROM shopOrder WHERE domainId = ? AND at >= ?',
  )
  return find.all(domainId, from)
}

/** Returns the ids of the `limit` most recent orders of a domain, of any status. */
export function recentOrderIds(db: Db, domainId: string, limit: number): string[] {
  const find = prepared<[string, number], { id: string }>(
    db,
    'SELECT id FROM shopOrder WHERE domainId = ? ORDER BY at DESC LIMIT ?',
  )
  return find.all(domainId, limit).map(({ id }) => id)
}

/** A paid order. `currency` and `value` are null when the shop did not send them; `postedAt` is null when unknown. */
export interface PaidOrder extends Omit<StoredOrder, 'status'> {
  currency: string | null
  postedAt: Instant | null
}

/**
 * Returns paid orders with `from <= at < to`, oldest first.
 * @param after the last order of the previous page; absent for the first page
 */
export function paidOrdersPage(
  db: Db,
  { domainId, from, to }: { domainId: string; from: Instant; to: Instant },
  { after, limit }: { after: Pick<PaidOrder, 'at' | 'id'> | undefined; limit: number },
): PaidOrder[] {
  const find = prepared<[object], PaidOrder>(
    db,
    `SELECT id, at, value, currency, postedAt FROM shopOrder
     WHERE domainId = @domainId AND at >= @from AND at < @to AND status = 'paid'
       AND (at > @afterAt OR (at = @afterAt AND id > @afterId))
     ORDER BY at, id LIMIT @limit`,
  )
  return find.all({
    domainId,
    from: after?.at ?? from,
    to,
    afterAt: after?.at ?? from - 1,
    afterId: after?.id ?? '',
    limit,
  })
}

/** Returns paid orders with `from <= at < to`, newest first, at most `limit`. */
export function latestPaidOrders(
  db: Db,
  { domainId, from, to }: { domainId: string; from: Instant; to: Instant },
  limit: number,
): PaidOrder[] {
  const find = prepared<[object], PaidOrder>(
    db,
    `SELECT id, at, value, currency, postedAt FROM shopOrder
     WHERE domainId = @domainId AND at >= @from AND at < @to AND status = 'paid' ORDER BY at DESC, id DESC LIMIT @limit`,
  )
  return find.all({ domainId, from, to, limit })
}

/** Times of an order and of its posting. */
export interface Posting {
  id: string
  at: Instant
  postedAt: Instant
}

/**
 * Returns orders of any status that were posted or changed with `from <= postedAt < to`, in order of posting.
 * @param after the last order of the previous page; absent for the first page
 */
export function postingsPage(
  db: Db,
  { domainId, from, to }: { domainId: string; from: Instant; to: Instant },
  { after, limit }: { after: Posting | undefined; limit: number },
): Posting[] {
  const find = prepared<[object], Posting>(
    db,
    `SELECT id, at, postedAt FROM shopOrder WHERE domainId = @domainId AND postedAt >= @from AND postedAt < @to
       AND (postedAt, at, id) > (@afterPosted, @afterAt, @afterId)
     ORDER BY postedAt, at, id LIMIT @limit`,
  )
  const { postedAt = from - 1, at = 0, id = '' } = after ?? {}
  return find.all({
    domainId,
    from: Math.max(from, postedAt),
    to,
    afterPosted: postedAt,
    afterAt: at,
    afterId: id,
    limit,
  })
}

/**
 * Returns the time at which the most recent order was posted, or the time of the order when the posting is unknown;
 * null when the domain has no orders.
 */
export function lastArrival(db: Db, domainId: string): { at: Instant; postedAt: Instant } | null {
  const find = prepared<[string], { at: Instant; postedAt: Instant }>(
    db,
    'SELECT at, ifnull(postedAt, at) AS postedAt FROM shopOrder WHERE domainId = ? ORDER BY at DESC LIMIT 1',
  )
  return find.get(domainId) ?? null
}

/**
 * Returns a function that tests whether the shop has ever sent an order with this id, regardless of the order's status
 * and age.
 */
export function orderLookup(db: Db, domainId: string): (id: string) => boolean {
  const find = prepared<[string, string]>(db, 'SELECT 1 FROM shopOrder WHERE domainId = ? AND id = ?')
  return (id) => find.get(domainId, id) !== undefined
}

/** Deletes orders older than the retention period. */
export const removeOldOrders: Retention = (db, now) => {
  db.prepare('DELETE FROM shopOrder WHERE at < ?').run(now - RECORD_RETENTION_MS)
}
