import { readNumber } from '../conditions/number.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Pace } from '../core/pace.ts'
import type { PaidOrder } from './store.ts'

/** What a vendor was told of one id on one UTC day: so many events that gave this value; null: they gave none. */
export interface Mention {
  vendor: string
  /** Days since the Unix epoch. */
  day: number
  id: string
  value: string | null
  events: number
}

/** Days since the Unix epoch: the days that are counted, both included. */
export interface Days {
  from: number
  to: number
}

/** How far the orders of a day reached a vendor. */
export interface Tally {
  orders: number
  captured: number
  extra: number
  duplicates: number
  valueMismatches: number
  missingValue: number
}

export interface DayReport {
  day: number
  orders: number
  value: number
  vendors: Map<string, Tally>
}

/** Floating point makes a little more than a cent of some that are one. */
const MAX_DIFFERENCE = 0.01 + 1e-6

/** The first event of an id, and the values that all of them gave. */
interface Told {
  firstDay: number
  values: number[]
}

export const dayOf = (instant: Instant) => Math.floor(instant / DAY_MS)

/**
 * Holds paid orders of `days` against what vendors were told, from the day before on. `isOrder` tells of an id that is
 * not among `orders` whether the shop posted it. Vendors are all that were told of any id, in the order of their names.
 */
export async function reconcile(
  orders: readonly PaidOrder[],
  mentions: readonly Mention[],
  days: Days,
  isOrder: (id: string) => boolean,
): Promise<DayReport[]> {
  const pace = new Pace()
  const known = new Set(orders.map(({ id }) => id))
  const told = new Map<string, Map<string, Told>>()
  for (const mention of mentions) {
    remember(told, mention)
    if (pace.isDue) await pace.rest()
  }
  const names = [...told.keys()].sort()
  const reports = new Map<number, DayReport>()
  for (let day = days.from; day <= days.to; day++) {
    const vendors = new Map(names.map((vendor) => [vendor, newTally()]))
    reports.set(day, { day, orders: 0, value: 0, vendors })
  }
  for (const order of orders) {
    const report = reports.get(dayOf(order.at))
    if (report) settle(report, order, told)
    if (pace.isDue) await pace.rest()
  }
  /** Ids that no order has, of each vendor and day, each once. */
  const invented = new Set<string>()
  for (const { vendor, day, id, events } of mentions) {
    const tally = reports.get(day)?.vendors.get(vendor)
    if (!tally) continue
    tally.duplicates += events
    const place = JSON.stringify([vendor, day, id])
    if (known.has(id) || invented.has(place)) continue
    if (isOrder(id)) known.add(id)
    else {
      invented.add(place)
      tally.extra++
    }
    if (pace.isDue) await pace.rest()
  }
  // An id's first event is none too many.
  for (const [vendor, ids] of told) {
    for (const { firstDay } of ids.values()) {
      const tally = reports.get(firstDay)?.vendors.get(vendor)
      if (tally) tally.duplicates--
    }
  }
  return [...reports.values()]
}

export const newTally = (): Tally => ({
  ...{ orders: 0, captured: 0, extra: 0, duplicates: 0, valueMismatches: 0, missingValue: 0 },
})

function remember(told: Map<string, Map<string, Told>>, { vendor, day, id, value }: Mention): void {
  const ids = told.get(vendor) ?? new Map<string, Told>()
  const one = ids.get(id) ?? { firstDay: day, values: [] }
  told.set(vendor, ids.set(id, one))
  one.firstDay = Math.min(one.firstDay, day)
  const number = value === null ? null : readNumber(value.trim())
  if (number !== null) one.values.push(number)
}

function settle(report: DayReport, { id, value }: PaidOrder, told: Map<string, Map<string, Told>>): void {
  report.orders++
  report.value += value ?? 0
  for (const [vendor, tally] of report.vendors) {
    tally.orders++
    const one = told.get(vendor)?.get(id)
    if (!one) {
      tally.missingValue += value ?? 0
      continue
    }
    tally.captured++
    const isOther = value !== null && one.values.some((given) => Math.abs(given - value) > MAX_DIFFERENCE)
    if (isOther) tally.valueMismatches++
  }
}
