import { maskPersonal } from '../conditions/mask.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { Closed, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'
import { type DayReport, dayOf, newTally, reportsOf, type Tally, type ToldRow } from '../orders/reconciliation.ts'
import { orderCount, orderLookup, ordersSince, type StoredOrder } from '../orders/store.ts'
import { domainFields, domainsMeant } from './asked.ts'
import { insight, type Sources } from './insight.ts'
import {
  hasNoIds,
  type OrderKeys,
  orderKeys,
  orderNamesQuery,
  orderPairsQuery,
  type ToldScope,
  toldQuery,
  unreadQuery,
} from './told-query.ts'

const DEFAULT_DAYS = 7
/** Tags may be late, and so may be the shop. */
export const SETTLED_MS = 15 * MINUTE_MS

const Input = Closed({
  domainId: Text(1, 100, { description: 'The domain whose orders were posted' }),
  projectId: domainFields.projectId,
  days: Type.Optional(
    Int({ minimum: 1, maximum: 90, default: DEFAULT_DAYS, description: 'The last UTC days, today among them' }),
  ),
})

const tallyFields = {
  orders: Int({ description: 'Paid orders' }),
  captured: Int({ description: 'Orders of which the vendor was told, on whatever day' }),
  missing: Int({ description: 'Orders of which it was not told' }),
  extra: Int({ description: 'Ids that it was told of and that are no order, by the day of the event' }),
  duplicates: Int({
    description:
      'Events about an id beyond its first, by the day of the event; an event of a browser and its partner of a server are one',
  }),
  valueMismatches: Int({ description: 'Captured orders of which it was told a value that differs by more than 0.01' }),
  missingValue: Type.Number({ description: 'Value of the missing orders' }),
  capturePct: Type.Number({ description: 'Share of the orders that are captured; 0 without orders' }),
  matched: Int({ description: 'Pairs of a browser event and a server event with the same name and event id' }),
  browserOnly: Int({ description: 'Browser events without a partner; 0 of vendors that do not pair events' }),
  serverOnly: Int({ description: 'Server events without a partner; 0 of vendors that do not pair events' }),
  matchedPct: Nullable(
    Type.Number({ description: 'Share of pairs in these three, in percent; null when all of them are 0' }),
  ),
}
const VendorTallySchema = Closed({ vendor: Type.String(), ...tallyFields }, { $id: 'VendorReconciliation' })
const vendors = Type.Array(VendorTallySchema, { description: 'Those with an event about any order, by name' })

const EXAMPLE = {
  ...{ vendor: 'Google Analytics 4', orders: 40, captured: 38, missing: 2, extra: 0, duplicates: 1 },
  ...{ valueMismatches: 0, missingValue: 91.8, capturePct: 95 },
  ...{ matched: 0, browserOnly: 0, serverOnly: 0, matchedPct: null },
}

const Output = Closed(
  {
    days: Type.Array(
      Closed({
        day: Type.String({ description: 'In UTC', examples: ['2026-01-05'] }),
        orders: Int({ description: 'Paid orders that were placed on the day, at least 15 minutes ago' }),
        value: Type.Number({ description: 'Their value' }),
        vendors,
      }),
      { description: 'Every day whose events are kept, oldest first' },
    ),
    vendors,
    withoutIds: Type.Array(Closed({ vendor: Type.String(), purchases: Int() }), {
      description: 'Vendors that were sent purchases of which none has an id of an order that can be read, by name',
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

/** What was sold, as the shop says, against what each vendor was told. */
export const reconcileOrders = insight({
  id: 'reconcileOrders',
  tag: 'Orders',
  summary: 'Hold the orders of a shop against what its tags told each vendor',
  description:
    'An event is about an order when a parameter whose last name is `transaction_id`, `order_id`, `orderId` or ' +
    '`orderID` holds an id, as `ep.transaction_id` and `cd[order_id]` do, or the parameter that its vendor has for it, as ' +
    '`oid` of Google Ads. Loads of code and events of `dev` do not count.',
  path: '/insights/reconcile',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  async answer(sources, { domainId, projectId, days = DEFAULT_DAYS }, { principal: { orgId }, now }) {
    const { db, privacy, retentionMs } = sources
    const isMeant = domainsMeant(sources, orgId, { domainId, projectId }).length > 0
    // Of a day whose events are gone, every order would be missing.
    const span = { from: Math.max(dayOf(now) - days, dayOf(now - retentionMs)) + 1, to: dayOf(now) }
    const from = span.from * DAY_MS
    const settled = now - SETTLED_MS
    const isPaid = ({ status, at }: StoredOrder) => status === 'paid' && at >= from && at < settled
    const window = { from: from - DAY_MS, to: now + 1 }
    const isAll = orderCount(db, domainId) <= MAX_HELD
    const orders = isMeant ? ordersSince(db, domainId, isAll ? 0 : window.from) : []
    const scope = { orgId, domainId, window }
    const keys = isMeant ? await orderKeysIn(sources, scope) : null
    const told = keys === null ? [] : await toldIn(sources, { ...scope, keys, orders, isAll, isPaid })
    const unread = keys === null ? [] : await sources.history.query<Unread>(unreadQuery(scope, keys))
    const reports = reportsOf(orders.filter(isPaid), told, span)
    const mask = (vendor: string) => maskPersonal(vendor, '$vendor', privacy())
    return {
      days: reports.map(({ day, orders, value, vendors }) => ({
        day: new Date(day * DAY_MS).toISOString().slice(0, 10),
        orders,
        value: money(value),
        vendors: shown(vendors, mask),
      })),
      vendors: shown(totals(reports), mask),
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

/** Returns the parameters that may say which order an event is about, of those that occur. */
async function orderKeysIn({ history }: Pick<Sources, 'history'>, scope: ToldScope): Promise<OrderKeys> {
  const names = await history.query<{ name: string }>(orderNamesQuery(scope))
  return orderKeys(names.map(({ name }) => name))
}

/** What one vendor was told of the orders of a time; `orders` are all that were paid. */
export type VendorTally = Static<typeof VendorTallySchema>

/** Returns how the orders of a domain that were paid with `from <= at < to` reached each vendor, by any event up to now. */
export async function reconciled(
  sources: Pick<Sources, 'db' | 'history' | 'privacy'>,
  { orgId, domainId, from, to, now }: { orgId: string; domainId: string; from: Instant; to: Instant; now: Instant },
): Promise<VendorTally[]> {
  const { db, privacy } = sources
  const isPaid = ({ status, at }: StoredOrder) => status === 'paid' && at >= from && at < to
  const window = { from: from - DAY_MS, to: now + 1 }
  const isAll = orderCount(db, domainId) <= MAX_HELD
  const orders = ordersSince(db, domainId, isAll ? 0 : window.from)
  const scope = { orgId, domainId, window }
  const keys = await orderKeysIn(sources, scope)
  const told = await toldIn(sources, { ...scope, keys, orders, isAll, isPaid })
  const days = { from: dayOf(from), to: dayOf(to) }
  return shown(totals(reportsOf(orders.filter(isPaid), told, days)), (vendor) =>
    maskPersonal(vendor, '$vendor', privacy()),
  )
}

/** So many orders are all held against events; of more, those of the time that is asked for. */
const MAX_HELD = 50_000
/** Of then unknown ids so many at most are looked up by themselves: they are of older orders, or of none. */
const MAX_LOOKED_UP = 1000

interface Asked extends ToldScope {
  /** Orders of any status: all of the domain, or those of this time. */
  orders: readonly StoredOrder[]
  isAll: boolean
  keys: OrderKeys
  isPaid(order: StoredOrder): boolean
}

/** Returns what vendors were told; empty when no event was about an order. */
async function toldIn(
  { db, history }: Pick<Sources, 'db' | 'history'>,
  { orders, isAll, isPaid, keys, ...scope }: Asked,
): Promise<ToldRow[]> {
  if (hasNoIds(keys)) return []
  const ask = (orders: readonly StoredOrder[], listed: number) => {
    const expected = orders.map((order) => ({
      ...{ id: order.id, day: dayOf(order.at), value: order.value, isPaid: isPaid(order) },
    }))
    return history.query<Answered>(toldQuery(scope, keys, expected, listed))
  }
  const pairs = await pairsIn(history, scope, keys)
  if (isAll) return [...(await ask(orders, 0)).filter(isTold), ...pairs]
  const rows = await ask(orders, MAX_LOOKED_UP)
  const unknown = rows.filter(({ kind }) => kind === 'unknown')
  // Many, and nobody knows how many more: they are held against all orders there are.
  if (unknown.length === MAX_LOOKED_UP) {
    return [...(await ask(ordersSince(db, scope.domainId, 0), 0)).filter(isTold), ...pairs]
  }
  const isOrder = orderLookup(db, scope.domainId)
  const older = unknown.filter(({ id }) => isOrder(id))
  return [
    ...rows.filter(isTold),
    ...pairs,
    ...older.map((row) => ({ ...row, kind: 'extra' as const, count: -row.count })),
  ]
}

/** Returns pairs of browser and server and events without a partner, by vendor and day. */
async function pairsIn(history: Sources['history'], scope: ToldScope, keys: OrderKeys): Promise<ToldRow[]> {
  const counts = ['matched', 'browserOnly', 'serverOnly'] as const
  type PairRow = Pick<ToldRow, 'vendor' | 'day'> & Record<(typeof counts)[number], number>
  const rows = await history.query<PairRow>(orderPairsQuery(scope, keys))
  return rows.flatMap(({ vendor, day, ...row }) =>
    counts.map((kind) => ({ vendor, day, kind, count: row[kind], mismatches: 0, value: 0 })),
  )
}

const isTold = (row: Answered): row is ToldRow & { id: string } => row.kind !== 'unknown'

type Answered = Omit<ToldRow, 'kind'> & { kind: ToldRow['kind'] | 'unknown'; id: string }

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

function shown(tallies: ReadonlyMap<string, Tally>, mask: (vendor: string) => string) {
  return [...tallies].map(([vendor, { missingValue, ...tally }]) => ({
    vendor: mask(vendor),
    ...tally,
    missing: tally.orders - tally.captured,
    missingValue: money(missingValue),
    capturePct: percent(tally.captured, tally.orders) ?? 0,
    matchedPct: percent(tally.matched, tally.matched + tally.browserOnly + tally.serverOnly),
  }))
}

/** With one decimal; null of nothing. */
const percent = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 1000) / 10)

/** Sums of cents are a little off. */
const money = (sum: number) => Math.round(sum * 1e6) / 1e6
