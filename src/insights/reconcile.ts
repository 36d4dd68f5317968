import { maskPersonal } from '../conditions/mask.ts'
import { DAY_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Text, Type } from '../core/schema.ts'
import { type DayReport, dayOf, type Mention, newTally, reconcile, type Tally } from '../orders/reconciliation.ts'
import { orderLookup, paidOrders } from '../orders/store.ts'
import type { Dialect } from '../warehouse/dialect.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import { insight } from './insight.ts'

const DEFAULT_DAYS = 7
/** Tags may be late, and so may be the shop. */
const SETTLED_MS = 15 * MINUTE_MS

/** Names of parameters that hold an id, and those that hold a value, the first one first. */
const ID_NAMES = ['transaction_id', 'order_id', 'orderId', 'orderID']
const VALUE_NAMES = ['value', 'revenue']
/** So many parameters of either kind are looked at; who has more made them up. */
const MAX_KEYS = 50

const Input = Closed({
  domainId: Text(1, 100, { description: 'The domain whose orders were posted' }),
  days: Type.Optional(
    Int({ minimum: 1, maximum: 90, default: DEFAULT_DAYS, description: 'The last UTC days, today among them' }),
  ),
})

const tallyFields = {
  orders: Int({ description: 'Paid orders' }),
  captured: Int({ description: 'Orders of which the vendor was told, on whatever day' }),
  missing: Int({ description: 'Orders of which it was not told' }),
  extra: Int({ description: 'Ids that it was told of and that are no order, by the day of the event' }),
  duplicates: Int({ description: 'Events about an id beyond its first, by the day of the event' }),
  valueMismatches: Int({ description: 'Captured orders of which it was told a value that differs by more than 0.01' }),
  missingValue: Type.Number({ description: 'Value of the missing orders' }),
  capturePct: Type.Number({ description: 'Share of the orders that are captured; 0 without orders' }),
}
const VendorTallySchema = Closed({ vendor: Type.String(), ...tallyFields }, { $id: 'VendorReconciliation' })
const vendors = Type.Array(VendorTallySchema, { description: 'Those with an event about any order, by name' })

const EXAMPLE = {
  ...{ vendor: 'Google Analytics 4', orders: 40, captured: 38, missing: 2, extra: 0, duplicates: 1 },
  ...{ valueMismatches: 0, missingValue: 91.8, capturePct: 95 },
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
  },
  {
    $id: 'Reconciliation',
    examples: [{ days: [{ day: '2026-01-05', orders: 40, value: 1836, vendors: [EXAMPLE] }], vendors: [EXAMPLE] }],
  },
)

/** What was sold, as the shop says, against what each vendor was told. */
export const reconcileOrders = insight({
  id: 'reconcileOrders',
  tag: 'Orders',
  summary: 'Hold the orders of a shop against what its tags told each vendor',
  description:
    'An event is about an order when a parameter whose last name is `transaction_id`, `order_id`, `orderId` or ' +
    '`orderID` holds an id: `ep.transaction_id`, `cd[order_id]`. Loads of code and events of `dev` do not count.',
  path: '/insights/reconcile',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  async answer(sources, { domainId, days = DEFAULT_DAYS }, { principal: { orgId }, now }) {
    const { db, domains, history, privacy, retentionMs } = sources
    if (!domains().some(({ id }) => id === domainId)) throw new AppError('notFound', 'query.domainId: no such domain')
    // Of a day whose events are gone, every order would be missing.
    const span = { from: Math.max(dayOf(now) - days, dayOf(now - retentionMs)) + 1, to: dayOf(now) }
    const from = span.from * DAY_MS
    const orders = paidOrders(db, domainId, { from, to: now - SETTLED_MS })
    const window = { from: from - DAY_MS, to: now + 1 }
    const mentions = await mentionsIn(history, { orgId, domainId, window })
    const reports = await reconcile(orders, mentions, span, orderLookup(db, domainId))
    const mask = (vendor: string) => maskPersonal(vendor, '$vendor', privacy())
    return {
      days: reports.map(({ day, orders, value, vendors }) => ({
        day: new Date(day * DAY_MS).toISOString().slice(0, 10),
        orders,
        value: money(value),
        vendors: shown(vendors, mask),
      })),
      vendors: shown(totals(reports), mask),
    }
  },
})

export interface MentionScope extends Pick<Query, 'window'> {
  orgId: string
  domainId: string
}

/** What vendors were told of ids, a row for each vendor, day, id and value. */
async function mentionsIn(history: History, scope: MentionScope): Promise<Mention[]> {
  const names = await history.query<{ name: string }>(orderNamesQuery(scope))
  const ids = keysNamed(names, ID_NAMES)
  if (ids.length === 0) return []
  const mentions = await history.query<Mention>(mentionsQuery(scope, ids, keysNamed(names, VALUE_NAMES)))
  return mentions.filter(({ id }) => id.trim() !== '')
}

/**
 * What a parameter is called behind its last dot or inside its last brackets: `ep.order_id`, `cd[order_id]` and
 * `order_id[]` are called `order_id`. The text is valid RE2 and JavaScript syntax.
 */
const lastNamePattern = (names: readonly string[]) => String.raw`(^|[.\[])(${names.join('|')})(\]|\[\])*$`

/** The names of parameters that may hold an id or a value. */
function orderNamesQuery({ orgId, window }: MentionScope): Query {
  return query('insights.order-names', {
    over: 'names',
    orgId,
    window,
    write: (binder) => {
      const pattern = binder.bind(`(${lastNamePattern([...ID_NAMES, ...VALUE_NAMES])})`)
      return { sql: `SELECT name FROM names WHERE ${binder.dialect.matches('name', pattern)}` }
    },
  })
}

/** Those that are called one of these; of the name that stands first first, and of one name the shortest. */
function keysNamed(found: readonly { name: string }[], names: readonly string[]): string[] {
  return names
    .flatMap((name) => {
      const pattern = new RegExp(lastNamePattern([name]))
      const keys = found.map(({ name }) => name).filter((key) => pattern.test(key))
      return keys.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    })
    .slice(0, MAX_KEYS)
}

function mentionsQuery({ orgId, domainId, window }: MentionScope, ids: readonly string[], values: readonly string[]) {
  return query('insights.order-mentions', {
    orgId,
    window,
    write: (binder) => {
      const { dialect } = binder
      const columns = ids.map((key) => dialect.key(key))
      const tests = [
        `domainId = ${binder.bind(domainId)}`,
        `env = 'prod'`,
        `kind <> 'library'`,
        `(${columns.map((column) => `${column} IS NOT NULL`).join(' OR ')})`,
      ]
      return {
        keys: [...ids, ...values],
        sql: `SELECT vendor, day, id, value, count(*) AS events FROM (
          SELECT vendor, ${dialect.quotient('receivedAt', DAY_MS)} AS day, ${firstSaid(values, dialect)} AS value,
            ${dialect.rowsOf({ id: columns.map((_, at) => unlessBefore(columns, at)) })}
          FROM events WHERE ${tests.join(' AND ')}
        ) AS mentions WHERE id IS NOT NULL GROUP BY vendor, day, id, value`,
      }
    },
  })
}

/** An id that an event has in several parameters is one. */
function unlessBefore(columns: readonly string[], at: number): string {
  const column = columns[at] ?? 'NULL'
  const before = columns.slice(0, at).map((other) => `${column} = ${other}`)
  return before.length > 0 ? `CASE WHEN ${before.join(' OR ')} THEN NULL ELSE ${column} END` : column
}

/** The first of these parameters that says anything; NULL when none does. */
function firstSaid(keys: readonly string[], dialect: Dialect): string {
  if (keys.length === 0) return 'NULL'
  return `coalesce(${keys.map((key) => `nullif(${dialect.key(key)}, '')`).join(', ')})`
}

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
    capturePct: tally.orders === 0 ? 0 : Math.round((tally.captured / tally.orders) * 1000) / 10,
  }))
}

/** Sums of cents are a little off. */
const money = (sum: number) => Math.round(sum * 1e6) / 1e6
