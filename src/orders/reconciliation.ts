import { DAY_MS, type Instant } from '../core/clock.ts'
import type { StoredOrder } from './store.ts'

/** Days since the Unix epoch, both inclusive. */
export interface Days {
  from: number
  to: number
}

/** How many orders of a day reached a vendor. */
export interface Tally {
  orders: number
  captured: number
  extra: number
  duplicates: number
  valueMismatches: number
  missingValue: number
  /** Pairs of a browser event and a server event, and events without a partner; 0 for vendors that do not pair. */
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

/** A count of reports to a vendor. `day`: that of the events, for `captured` that of the orders. */
export interface ToldRow {
  vendor: string
  day: number
  /** `first`: ids reported for the first time; `extra`: ids that are not orders. */
  kind: 'events' | 'first' | 'captured' | 'extra' | 'matched' | 'browserOnly' | 'serverOnly'
  count: number
  /** For `captured`: those with another value, and the value of all. */
  mismatches: number
  value: number
}

export const dayOf = (instant: Instant) => Math.floor(instant / DAY_MS)

export const newTally = (): Tally => ({
  ...{ orders: 0, captured: 0, extra: 0, duplicates: 0, valueMismatches: 0, missingValue: 0 },
  ...{ matched: 0, browserOnly: 0, serverOnly: 0 },
})

/**
 * Returns a report for each day from these paid orders and reports to vendors. Vendors are those of all rows, sorted by
 * name. Several rows of a kind for a day are added up.
 */
export function reportsOf(
  paid: readonly Pick<StoredOrder, 'at' | 'value'>[],
  rows: readonly ToldRow[],
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

function add(tally: Tally, { kind, count, mismatches, value }: ToldRow): void {
  // The first event of an id is not a duplicate.
  if (kind === 'events') tally.duplicates += count
  else if (kind === 'first') tally.duplicates -= count
  else if (kind !== 'captured') tally[kind] += count
  else {
    tally.captured += count
    tally.valueMismatches += mismatches
    tally.missingValue -= value
  }
}
