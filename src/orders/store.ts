import type { Instant } from '../core/clock.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORDS_KEPT_MS, type Retention } from '../store/retention.ts'
import type { Order } from './order.ts'

/** A paid order; `value` null: the shop did not say. */
export interface PaidOrder {
  id: string
  at: Instant
  value: number | null
}

/**
 * Stores orders of a domain that exists; one whose id is known replaces what was known of it, also within the list.
 * Returns how many were known.
 */
export function saveOrders(db: Db, domainId: string, orders: readonly Order[]): { accepted: number; replaced: number } {
  const known = prepared<[string, string]>(db, 'SELECT 1 FROM shopOrder WHERE domainId = ? AND id = ?')
  const save = prepared<[object]>(
    db,
    'INSERT OR REPLACE INTO shopOrder VALUES (@domainId, @id, @at, @value, @currency, @status)',
  )
  return tx(db, () => {
    let replaced = 0
    for (const { id, at, value = null, currency = null, status = 'paid' } of orders) {
      if (known.get(domainId, id)) replaced++
      save.run({ domainId, id, at, value, currency, status })
    }
    return { accepted: orders.length, replaced }
  })
}

/** Returns the paid orders that were placed from `from` to before `to`, oldest first. */
export function paidOrders(db: Db, domainId: string, { from, to }: { from: Instant; to: Instant }): PaidOrder[] {
  return prepared<[string, Instant, Instant], PaidOrder>(
    db,
    `SELECT id, at, value FROM shopOrder WHERE domainId = ? AND at >= ? AND at < ? AND status = 'paid' ORDER BY at, id`,
  ).all(domainId, from, to)
}

/** Returns a function that tells whether the shop ever posted an order with this id, of any status and age. */
export function orderLookup(db: Db, domainId: string): (id: string) => boolean {
  const find = prepared<[string, string]>(db, 'SELECT 1 FROM shopOrder WHERE domainId = ? AND id = ?')
  return (id) => find.get(domainId, id) !== undefined
}

/** Deletes orders that were placed before the retention time. */
export const removeOldOrders: Retention = (db, now) => {
  db.prepare('DELETE FROM shopOrder WHERE at < ?').run(now - RECORDS_KEPT_MS)
}
