import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { MAX_ORDER_DAYS } from '../contract/limits.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { Closed, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'
import {
  type DayReport,
  dayOf,
  newTally,
  type ReportedOrderRow,
  reportsOf,
  type Tally,
} from '../orders/order-reconciliation.ts'
import { orderCount, orderLookup, ordersSince, recentOrderIds, type StoredOrder } from '../orders/store.ts'
import { insight, type Sources } from './insight.ts'
import { daysOf, domainFields, periodFields, requestedDomains } from './query-params.ts'
import {
  hasNoIds,
  type OrderKeys,
  orderKeys,
  orderNamesQuery,
  orderPairsQuery,
  type ReportedScope,
  reportedOrdersQuery,
  unreadQuery,
} from './reported-orders-query.ts'

const DEFAULT_DAYS = 7
/** Minimum age of an order for it to be compared, because tags and the shop may report it late. */
export const SETTLED_MS = 15 * MINUTE_MS

const Input = Closed({
  domainId: Text(1, 100, { description: 'Domain whose orders were posted' }),
  projectId: domainFields.projectId,
  days: Type.Optional(
    Int({
      minimum: 1,
      maximum: MAX_ORDER_DAYS,
      default: DEFAULT_DAYS,
      description: 'Number of UTC days up to and including today, or the day in which `to` lies. Not used with `from`',
    }),
  ),
  ...periodFields,
})

const tallyFields = {
  orders: Int({ description: 'Paid orders' }),
  captured: Int({ description: 'Orders reported to the vendor, on any day' }),
  missing: Int({ description: 'Orders not reported to the vendor' }),
  extra: Int({ description: 'Reported ids that do not belong to an order, by day of the event' }),
  duplicates: Int({
    description:
      'Repeated events about the same id, by day of the event; a browser event and its server partner count as one',
  }),
  valueMismatches: Int({ description: 'Captured orders with a reported value that differs by more than 0.01' }),
  missingValue: Type.Number({ description: 'Total value of the missing orders' }),
  capturePct: Type.Number({ description: 'Percentage of orders that are captured; 0 without orders' }),
  matched: Int({ description: 'Pairs of a browser event and a server event with the same name and event id' }),
  browserOnly: Int({ description: 'Browser events without a partner; 0 for vendors that do not pair events' }),
  serverOnly: Int({ description: 'Server events without a partner; 0 for vendors that do not pair events' }),
  matchedPct: Nullable(
    Type.Number({
      description:
        'Pairs as a percentage of the sum of pairs, browser-only and server-only events; null when the sum is 0',
    }),
  ),
}
const VendorTallySchema = Closed(
  {
    vendor: Type.String(),
    connected: Type.Optional(
      Type.Boolean({
        description:
          'False when no stored event reports any of the 50,000 most recent orders of the domain to the vendor, so its missing ' +
          'orders are no loss',
      }),
    ),
    ...tallyFields,
  },
  { $id: 'VendorReconciliation' },
)
const vendors = Type.Array(VendorTallySchema, {
  description: 'Vendors with at least one event about an order, sorted by name',
})

const EXAMPLE = {
  vendor: 'Google Analytics 4',
  connected: true,
  orders: 40,
  captured: 38,
  missing: 2,
  extra: 0,
  duplicates: 1,
  valueMismatches: 0,
  missingValue: 91.8,
  capturePct: 95,
  matched: 0,
  browserOnly: 0,
  serverOnly: 0,
  matchedPct: null,
}

const Output = Closed(
  {
    days: Type.Array(
      Closed({
        day: Type.String({ description: 'Date in UTC', examples: ['2026-01-05'] }),
        orders: Int({ description: 'Paid orders placed on the day, at least 15 minutes ago' }),
        value: Type.Number({ description: 'Total value of these orders' }),
        vendors,
      }),
      { description: 'Every day with stored events, oldest first' },
    ),
    vendors,
    withoutIds: Type.Array(Closed({ vendor: Type.String(), purchases: Int() }), {
      description: 'Vendors whose purchases all lack a readable order id, sorted by name',
    }),
  },
  {
    $id: 'Reconciliation',
    examples: [
      {
        days: [{ day: '2026-01-05', orders: 40, value: 1836, vendors: [EXAMPLE] }],
        vendors: [EXAMPLE],
        withoutIds: [{ vendor: 'Taboola Pixel', purchases: 38 }],
      },
    ],
  },
)

/** Comparison of a shop's orders with those reported to each vendor. */
export const reconcileOrders = insight({
  id: 'reconcileOrders',
  tag: 'Orders',
  summary: 'Compare the orders of a shop with those that its tags reported to each vendor',
  description:
    'An event is about an order when it has an id in a parameter whose last name is `transaction_id`, `order_id`, `orderId` or ' +
    '`orderID`, such as `ep.transaction_id` and `cd[order_id]`, or in the vendor’s own parameter, such as ' +
    '`oid` for Google Ads. Library loads and `dev` events do not count.',
  path: '/insights/reconcile',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  exports: {
    row: Closed({ day: Type.String(), ...VendorTallySchema.properties }),
    rowsOf: ({ days }) => days.flatMap(({ day, vendors }) => vendors.map((tally) => ({ day, ...tally }))),
  },
  async answer(sources, { domainId, projectId, days = DEFAULT_DAYS, ...period }, { principal: { orgId }, now }) {
    const { db, privacy, retentionMs } = sources
    const asked = daysOf({ days, ...period }, { maximum: MAX_ORDER_DAYS, now })
    const isMeant = requestedDomains(sources, orgId, { domainId, projectId }).length > 0
    // Days without stored events are excluded, because all their orders would appear to be missing.
    const span = { from: Math.max(asked.from, dayOf(now - retentionMs) + 1), to: asked.to }
    const from = span.from * DAY_MS
    const settled = Math.min(now - SETTLED_MS, (span.to + 1) * DAY_MS)
    const isPaid = ({ status, at }: StoredOrder) => status === 'paid' && at >= from && at < settled
    // Orders of the period may be reported later.
    const window = { from: from - DAY_MS, to: now + 1 }
    const isAll = orderCount(db, domainId) <= MAX_HELD
    const orders = isMeant ? ordersSince(db, domainId, isAll ? 0 : window.from) : []
    const scope = { orgId, domainId, window }
    const keys = isMeant ? await orderKeysIn(sources, scope) : null
    const told = keys === null ? [] : await reportedIn(sources, { ...scope, keys, orders, isAll, isPaid })
    const ofDays = { ...scope, window: { ...window, to: Math.min(window.to, (span.to + 1) * DAY_MS) } }
    const unread = keys === null ? [] : await sources.history.query<Unread>(unreadQuery(ofDays, keys))
    const reports = reportsOf(orders.filter(isPaid), told, span)
    const unconnected = await unconnectedOf(sources, scope, { told, now })
    const mask = (vendor: string) => maskPersonal(vendor, '$vendor', privacy())
    return {
      days: reports.map(({ day, orders, value, vendors }) => ({
        day: new Date(day * DAY_MS).toISOString().slice(0, 10),
        orders,
        value: money(value),
        vendors: shown(vendors, unconnected, mask),
      })),
      vendors: shown(totals(reports), unconnected, mask),
      withoutIds: unread
        .filter(({ vendor }) => !told.some((row) => row.vendor === vendor))
        .map(({ vendor, purchases }) => ({ vendor: mask(vendor), purchases }))
        .sort((a, b) => (a.vendor < b.vendor ? -1 : 1)),
    }
  },
})

interface Unread {
  vendor: string
  purchases: number
}

/** Returns the parameters in the data that may contain an order id. */
async function orderKeysIn({ history }: Pick<Sources, 'history'>, scope: ReportedScope): Promise<OrderKeys> {
  const names = await history.query<{ name: string }>(orderNamesQuery(scope))
  return orderKeys(names.map(({ name }) => name))
}

/** Orders in a period that were reported to one vendor. `orders`: all paid orders. */
export type VendorTally = Static<typeof VendorTallySchema>

/**
 * Returns, for each vendor, which of the domain's orders paid with `from <= at < to` were reported. Includes events
 * received until now.
 */
export async function reconciled(
  sources: Pick<Sources, 'db' | 'history' | 'privacy' | 'retentionMs'>,
  { orgId, domainId, from, to, now }: { orgId: string; domainId: string; from: Instant; to: Instant; now: Instant },
): Promise<VendorTally[]> {
  const { db, privacy } = sources
  const isPaid = ({ status, at }: StoredOrder) => status === 'paid' && at >= from && at < to
  const window = { from: from - DAY_MS, to: now + 1 }
  const isAll = orderCount(db, domainId) <= MAX_HELD
  const orders = ordersSince(db, domainId, isAll ? 0 : window.from)
  const scope = { orgId, domainId, window }
  const keys = await orderKeysIn(sources, scope)
  const told = await reportedIn(sources, { ...scope, keys, orders, isAll, isPaid })
  const days = { from: dayOf(from), to: dayOf(to) }
  const unconnected = await unconnectedOf(sources, scope, { told, now })
  return shown(totals(reportsOf(orders.filter(isPaid), told, days)), unconnected, (vendor) =>
    maskPersonal(vendor, '$vendor', privacy()),
  )
}

/**
 * Returns the vendors of these reports to which no stored event up to `now` reports any of the domain's `MAX_HELD` most
 * recent orders. Orders of any status count.
 */
async function unconnectedOf(
  sources: Pick<Sources, 'db' | 'history' | 'retentionMs'>,
  { orgId, domainId }: ReportedScope,
  { told, now }: { told: readonly ReportedOrderRow[]; now: Instant },
): Promise<ReadonlySet<string>> {
  const captured = new Set(told.flatMap(({ kind, vendor }) => (kind === 'captured' ? [vendor] : [])))
  const others = new Set(told.flatMap(({ vendor }) => (captured.has(vendor) ? [] : [vendor])))
  if (others.size === 0) return others
  const scope = { orgId, domainId, window: { from: now - sources.retentionMs, to: now + 1 } }
  const ids = recentOrderIds(sources.db, domainId, MAX_HELD)
  const orders = ids.map((id) => ({ id, day: 0, value: null, isPaid: true }))
  const keys = await orderKeysIn(sources, scope)
  if (hasNoIds(keys)) return others
  const rows = await sources.history.query<Answered>(reportedOrdersQuery(scope, keys, orders, 0))
  for (const { kind, vendor } of rows) if (kind === 'captured') others.delete(vendor)
  return others
}

/**
 * Up to this number, all orders of the domain are compared. Above it, only the orders in the requested period are
 * compared.
 */
const MAX_HELD = 50_000
/** Maximum number of unknown ids that are looked up individually. Each belongs to an older order or to no order. */
const MAX_LOOKED_UP = 1000

interface ReconciliationScope extends ReportedScope {
  /** Orders of any status: all orders of the domain, or those in the requested period. */
  orders: readonly StoredOrder[]
  isAll: boolean
  keys: OrderKeys
  isPaid(order: StoredOrder): boolean
}

/** Returns the reports to vendors; empty when no event refers to an order. */
async function reportedIn(
  { db, history }: Pick<Sources, 'db' | 'history'>,
  { orders, isAll, isPaid, keys, ...scope }: ReconciliationScope,
): Promise<ReportedOrderRow[]> {
  if (hasNoIds(keys)) return []
  const ask = (orders: readonly StoredOrder[], listed: number) => {
    const expected = orders.map((order) => ({
      id: order.id,
      day: dayOf(order.at),
      value: order.value,
      isPaid: isPaid(order),
    }))
    return history.query<Answered>(reportedOrdersQuery(scope, keys, expected, listed))
  }
  const pairs = await pairsIn(history, scope, keys)
  if (isAll) return [...(await ask(orders, 0)).filter(isReported), ...pairs]
  const rows = await ask(orders, MAX_LOOKED_UP)
  const unknown = rows.filter(({ kind }) => kind === 'unknown')
  // There are too many unknown ids, so all orders are compared instead.
  if (unknown.length === MAX_LOOKED_UP) {
    return [...(await ask(ordersSince(db, scope.domainId, 0), 0)).filter(isReported), ...pairs]
  }
  const isOrder = orderLookup(db, scope.domainId)
  const older = unknown.filter(({ id }) => isOrder(id))
  return [
    ...rows.filter(isReported),
    ...pairs,
    ...older.map((row) => ({ ...row, kind: 'extra' as const, count: -row.count })),
  ]
}

/** Returns the number of pairs of browser and server events, and of unpaired events, by vendor and day. */
async function pairsIn(
  history: Sources['history'],
  scope: ReportedScope,
  keys: OrderKeys,
): Promise<ReportedOrderRow[]> {
  const counts = ['matched', 'browserOnly', 'serverOnly'] as const
  type PairRow = Pick<ReportedOrderRow, 'vendor' | 'day'> & Record<(typeof counts)[number], number>
  const rows = await history.query<PairRow>(orderPairsQuery(scope, keys))
  return rows.flatMap(({ vendor, day, ...row }) =>
    counts.map((kind) => ({ vendor, day, kind, count: row[kind], mismatches: 0, value: 0 })),
  )
}

const isReported = (row: Answered): row is ReportedOrderRow & { id: string } => row.kind !== 'unknown'

type Answered = Omit<ReportedOrderRow, 'kind'> & { kind: ReportedOrderRow['kind'] | 'unknown'; id: string }

function totals(reports: readonly DayReport[]): Map<string, Tally> {
  const sums = new Map<string, Tally>()
  for (const { vendors } of reports) {
    for (const [vendor, tally] of vendors) {
      const sum = sums.get(vendor) ?? newTally()
      for (const field of Object.keys(sum) as (keyof Tally)[]) sum[field] += tally[field]
      sums.set(vendor, sum)
    }
  }
  return sums
}

function shown(
  tallies: ReadonlyMap<string, Tally>,
  unconnected: ReadonlySet<string>,
  mask: (vendor: string) => string,
) {
  return [...tallies].map(([vendor, { missingValue, ...tally }]) => ({
    vendor: mask(vendor),
    connected: !unconnected.has(vendor),
    ...tally,
    missing: tally.orders - tally.captured,
    missingValue: money(missingValue),
    capturePct: percent(tally.captured, tally.orders) ?? 0,
    matchedPct: percent(tally.matched, tally.matched + tally.browserOnly + tally.serverOnly),
  }))
}

/** Returns `part` as a percentage of `whole` with one decimal; null when `whole` is 0. */
const percent = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 1000) / 10)

/** Rounds a sum of money to remove floating point errors. */
const money = (sum: number) => Math.round(sum * 1e6) / 1e6
