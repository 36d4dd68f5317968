import { keysRead, mentionsSql, type OrderKeys, type ReportedScope } from '../insights/reported-orders-query.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import type { CapturedOrders } from './capture-count.ts'

/** A settled order to look for in the reports to vendors. */
export interface SettledOrder {
  id: string
  /** Start of the period in which the order is counted. */
  slot: number
  value: number | null
  /** Value in the currency of the organization; 0 for other currencies. */
  money: number
  /** Reports received at or after this do not count. */
  deadline: number
}

/** Counts of the orders of one period that were reported to the vendor in time. */
export interface CapturedRow extends CapturedOrders {
  slot: number
  money: number
}

/** Smallest difference of values that counts, because of rounding. */
const MIN_DIFFERENCE = 0.01 + 1e-6

function ordersSql(orders: readonly SettledOrder[], binder: Binder): string {
  const { dialect } = binder
  const rows = orders.map(({ id, slot, value, money, deadline }) => ({
    id,
    slot,
    amount: String(value ?? ''),
    money: String(money),
    deadline,
  }))
  const columns = { id: 'text', slot: 'integer', amount: 'text', money: 'text', deadline: 'integer' } as const
  return `SELECT id AS orderId, slot, deadline, ${dialect.readNumber('amount')} AS shopAmount,
      ${dialect.readNumber('money')} AS money
    FROM ${dialect.rowsOfJson(binder.bind(JSON.stringify(rows)), columns)} AS posted`
}

interface CaptureQueryInput {
  scope: ReportedScope
  vendor: string
  /** Must contain at least one id. */
  keys: OrderKeys
  orders: readonly SettledOrder[]
}

/** Returns SQL for orders that were reported in time, one row per order. */
function reportsSql({ scope, keys, vendor, orders }: CaptureQueryInput, binder: Binder): string {
  return `SELECT orderId, slot, shopAmount, money, sum(1 - isSecond) AS reports, min(amount) AS low, max(amount) AS high
    FROM (${mentionsSql(scope, keys, binder, [vendor])}) AS mentions JOIN (${ordersSql(orders, binder)}) AS orders
      ON orderId = id AND receivedAt < deadline
    GROUP BY orderId, slot, shopAmount, money`
}

/**
 * Returns the query for counts of captured orders, as `CapturedRow`.
 * @param tolerance accepted difference of a value as a share of the shop's value
 */
export function capturedOrdersQuery(input: CaptureQueryInput, tolerance: number): Query {
  const { scope, keys } = input
  return query('orders.captured', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => {
      const isValued = 'shopAmount IS NOT NULL AND low IS NOT NULL'
      const isFar = (given: string) =>
        `(abs(${given} - shopAmount) > ${MIN_DIFFERENCE} AND abs(${given} - shopAmount) > abs(shopAmount) * ${tolerance})`
      // Of several reported values, the one that differs most counts.
      const reported = 'CASE WHEN abs(low - shopAmount) > abs(high - shopAmount) THEN low ELSE high END'
      return {
        keys: keysRead(keys),
        sql: `SELECT slot, count(*) AS captured, sum(CASE WHEN reports > 1 THEN 1 ELSE 0 END) AS duplicated,
            sum(reports - 1) AS duplicates, sum(CASE WHEN ${isValued} THEN 1 ELSE 0 END) AS valued,
            sum(CASE WHEN ${isValued} AND (${isFar('low')} OR ${isFar('high')}) THEN 1 ELSE 0 END) AS deviating,
            sum(CASE WHEN ${isValued} THEN shopAmount ELSE 0.0 END) AS shopValue,
            sum(CASE WHEN ${isValued} THEN ${reported} ELSE 0.0 END) AS reportedValue, sum(money) AS money
          FROM (${reportsSql(input, binder)}) AS reported GROUP BY slot`,
      }
    },
  })
}

/** Returns the query for the ids of captured orders, as `{id}`. */
export function capturedIdsQuery(input: CaptureQueryInput): Query {
  const { scope, keys } = input
  return query('orders.capturedIds', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({
      keys: keysRead(keys),
      sql: `SELECT orderId AS id FROM (${reportsSql(input, binder)}) AS reported`,
    }),
  })
}
