import { DAY_MS, type Instant } from '../core/clock.ts'
import type { StoredOrder } from './store.ts'

/** A range of days since the Unix epoch. Both ends are inclusive. */
export interface Days {
  from: number
  to: number
}

/** Counts of orders and events for one vendor on one day. */
export interface Tally {
  orders: number
  captured: number
  extra: number
  duplicates: number
  valueMismatches: number
  missingValue: number
  /** Pairs of a browser event and a server event, and unpaired events; all 0 for vendors that do not pair events. */
  matched: number
  browserOnly: number
  serverOnly: number
}

export interface DayReport {
  day: number
  orders: number
  value: number
  vendors: Map<string, Tally>
}

/** A number of reports to a vendor. `day` is the day of the events, or the day of the orders for `captured`. */
export interface ReportedOrderRow {
  vendor: string
  day: number
  /** `first`: ids on the day they were first reported. `extra`: ids that do not belong to an order. */
  kind: 'events' | 'first' | 'captured' | 'extra' | 'matched' | 'browserOnly' | 'serverOnly'
  count: number
  /**
   * For `captured`: the number of orders reported with a different value, and the total value of all captured orders.
   */
  mismatches: number
  value: number
}

export const dayOf = (instant: Instant) => Math.floor(instant / DAY_MS)

export const newTally = (): Tally => ({
  orders: 0,
  captured: 0,
  extra: 0,
  duplicates: 0,
  valueMismatches: 0,
  missingValue: 0,
  matched: 0,
  browserOnly: 0,
  serverOnly: 0,
})

/**
 * Returns one report per day, computed from paid orders and the reports to vendors. Each report contains the vendors of
 * all rows, sorted by name. Rows with the same vendor, kind and day are added up.
 */
export function reportsOf(
  paid: readonly Pick<StoredOrder, 'at' | 'value'>[],
  rows: readonly ReportedOrderRow[],
  days: Days,
): DayReport[] {
  const names = [...new Set(rows.map(({ vendor }) => vendor))].sort()
  const reports = new Map<number, DayReport>()
  for (let day = days.from; day <= days.to; day++) {
    reports.set(day, { day, orders: 0, value: 0, vendors: new Map(names.map((vendor) => [vendor, newTally()])) })
  }
  for (const { at, value } of paid) {
    const report = reports.get(dayOf(at))
    if (!report) continue
    report.orders++
    report.value += value ?? 0
  }
  for (const { orders, value, vendors } of reports.values()) {
    for (const tally of vendors.values()) Object.assign(tally, { orders, missingValue: value })
  }
  for (const row of rows) {
    const tally = reports.get(row.day)?.vendors.get(row.vendor)
    if (tally) add(tally, row)
  }
  return [...reports.values()]
}

function add(tally: Tally, { kind, count, mismatches, value }: ReportedOrderRow): void {
  // The first event with an id is not a duplicate.
  if (kind === 'events') tally.duplicates += count
  else if (kind === 'first') tally.duplicates -= count
  else if (kind !== 'captured') tally[kind] += count
  else {
    tally.captured += count
    tally.valueMismatches += mismatches
    tally.missingValue -= value
  }
}
