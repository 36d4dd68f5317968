import type { Instant } from '../core/clock.ts'

/** Counts of the orders that were reported to the vendor in time. */
export interface CapturedOrders {
  captured: number
  duplicated: number
  duplicates: number
  valued: number
  deviating: number
  shopValue: number
  reportedValue: number
}

/** Counts of the settled orders of 5 minutes or an hour. */
export interface CaptureCount extends CapturedOrders {
  startAt: Instant
  orders: number
  value: number
  capturedValue: number
  delayMs: number | null
}

/** Returns the sum of counts. */
export function sumOf(startAt: Instant, counts: readonly CaptureCount[]): CaptureCount {
  const total: CaptureCount = { ...NO_ORDERS, startAt }
  for (const { startAt: _, delayMs, ...count } of counts) {
    for (const field of Object.keys(count) as (keyof typeof count)[]) {
      if (field in NO_ORDERS) total[field] += count[field]
    }
    total.delayMs = delayMs === null ? total.delayMs : Math.max(delayMs, total.delayMs ?? 0)
  }
  return total
}

export const NO_ORDERS: Omit<CaptureCount, 'startAt'> = {
  orders: 0,
  captured: 0,
  duplicated: 0,
  duplicates: 0,
  valued: 0,
  deviating: 0,
  shopValue: 0,
  reportedValue: 0,
  value: 0,
  capturedValue: 0,
  delayMs: null,
}
