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
export function saveOrders(db: Db, domainId: string, orders: readonly Order[]): { accepted: number; replaced: number } {
  const isKnown = orderLookup(db, domainId)
  const save = prepared<[object]>(
    db,
    'INSERT OR REPLACE INTO shopOrder VALUES (@domainId, @id, @at, @value, @currency, @status)',
  )
  return tx(db, () => {
    let replaced = 0
    for (const { id, at, value = null, currency = null, status = 'paid' } of orders) {
      if (isKnown(id)) replaced++
      save.run({ domainId, id, at, value, currency, status })
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
