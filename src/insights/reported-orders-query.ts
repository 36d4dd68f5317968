import { textTests } from '../conditions/condition-sql.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import { PAIRING_KEYS, PAIRING_VENDORS, pairColumns, pairCountsSql, pairsSql } from './event-pair-queries.ts'
import { VENDOR_ORDER_KEYS, type VendorOrderKeys } from './vendor-order-keys.ts'

/** The events to read. */
export interface ReportedScope extends Pick<Query, 'window'> {
  orgId: string
  domainId: string
}

/** Parameters that contain order ids and order values. The first non-empty parameter is used. */
export interface OrderKeys {
  ids: readonly string[]
  values: readonly string[]
  /** Parameters specific to single vendors. */
  own: readonly VendorOrderKeys[]
  /** The `PAIRING_KEYS` that exist in the data, used to pair browser and server events. */
  pairing: readonly string[]
}

/** An order to look for in the reports to vendors. */
export interface ExpectedOrder {
  id: string
  /** Day since the Unix epoch. */
  day: number
  value: number | null
  /** True when vendors should receive the order. */
  isPaid: boolean
}

/** Names of parameters that contain an id, and of those that contain a value. Preferred names come first. */
const ID_NAMES = ['transaction_id', 'order_id', 'orderId', 'orderID', 'OrderId', 'OrderID']
const VALUE_NAMES = ['value', 'revenue']
const OWN_NAMES = VENDOR_ORDER_KEYS.flatMap(({ id, value }) => [id, value]).filter((name) => name !== null)
/** Maximum number of parameters for ids, and of those for values. Parameters beyond this limit are probably made up. */
const MAX_KEYS = 50
/** Tolerance for differences in value. In floating point, a difference of one cent may be slightly larger than 0.01. */
const MAX_DIFFERENCE = 0.01 + 1e-6

/**
 * Returns a pattern that matches the last part of a parameter's name: after its last dot or inside its last brackets.
 * For example, `ep.order_id`, `cd[order_id]` and `order_id[]` match `order_id`. Valid in RE2 and JavaScript.
 */
const lastNamePattern = (names: readonly string[]) => String.raw`(^|[.\[])(${names.join('|')})(\]|\[\])*$`

/** Returns the query for the names of parameters that may contain an id or a value. */
export function orderNamesQuery({ orgId, window }: ReportedScope): Query {
  return query('orders.names', {
    over: 'names',
    orgId,
    window,
    write: (binder) => {
      const pattern = binder.bind(`(${lastNamePattern([...ID_NAMES, ...VALUE_NAMES])})`)
      const own = binder.among('name', [...OWN_NAMES, ...PAIRING_KEYS]).join('')
      return { sql: `SELECT name FROM names WHERE ${binder.dialect.matches('name', pattern)} OR ${own}` }
    },
  })
}

/** Sorts the names from `orderNamesQuery` by preference, then by length. */
export function orderKeys(names: readonly string[]): OrderKeys {
  const called = (last: string) => {
    const pattern = new RegExp(lastNamePattern([last]))
    return names.filter((key) => pattern.test(key)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  }
  const keysOf = (wanted: readonly string[]) => wanted.flatMap(called).slice(0, MAX_KEYS)
  const known = new Set(names)
  const isKnown = (name: string | null) => name === null || known.has(name)
  const own = VENDOR_ORDER_KEYS.flatMap((keys) => {
    const value = isKnown(keys.value) ? keys.value : null
    return isKnown(keys.id) && (keys.id ?? value) !== null ? [{ ...keys, value }] : []
  })
  const pairing = PAIRING_KEYS.filter((key) => known.has(key))
  return { ids: keysOf(ID_NAMES), values: keysOf(VALUE_NAMES), own, pairing }
}

/** Returns whether no parameter contains order ids, so that no event can refer to an order. */
export const hasNoIds = ({ ids, own }: OrderKeys): boolean => ids.length === 0 && own.every(({ id }) => id === null)

/** Returns the parameters that a query with these keys reads. */
export const keysRead = ({ ids, values, own, pairing }: OrderKeys): string[] => [
  ...new Set(
    [...ids, ...values, ...own.flatMap(({ id, value }) => [id, value]), ...pairing].filter((key) => key !== null),
  ),
]

/** Returns SQL for the order ids of an event, one column per parameter. */
function idColumns({ ids, own }: OrderKeys, binder: Binder): string[] {
  const { dialect } = binder
  const ofVendors = own.flatMap(({ vendor, id, value, event, needsValue }) => {
    if (id === null || (needsValue && value === null)) return []
    const tests = [
      `vendor = ${binder.bind(vendor)}`,
      ...(event === undefined ? [] : [`event = ${binder.bind(event)}`]),
      ...(needsValue && value !== null ? [`${dialect.key(value)} IS NOT NULL`] : []),
    ]
    return [`CASE WHEN ${tests.join(' AND ')} THEN ${dialect.key(id)} ELSE NULL END`]
  })
  return [...ids.map((key) => dialect.key(key)), ...ofVendors]
}

/** Returns SQL for the values of an event, in the order in which they are used. */
function valueColumns({ values, own }: OrderKeys, binder: Binder): string[] {
  const { dialect } = binder
  const ofVendors = own.flatMap(({ vendor, value }) =>
    value === null ? [] : [`CASE WHEN vendor = ${binder.bind(vendor)} THEN ${dialect.key(value)} ELSE NULL END`],
  )
  return [...ofVendors, ...values.map((key) => dialect.key(key))]
}

/** Returns SQL conditions, to be joined by AND, for the events that are counted. */
const countedTests = ({ domainId }: ReportedScope, binder: Binder): string[] => [
  `domainId = ${binder.bind(domainId)}`,
  `env = 'prod'`,
  `kind <> 'library'`,
]

/**
 * Returns a SELECT of the reports to vendors, one row per event and order id: `vendor`, `id`, `day`, `receivedAt`,
 * `amount` (NULL: not a number) and `isSecond` (1 for the later event of a pair of a browser and a server event, or 0).
 * @param vendors only these vendors; absent for all
 */
export function mentionsSql(
  scope: ReportedScope,
  keys: OrderKeys,
  binder: Binder,
  vendors?: readonly string[],
): string {
  const { dialect } = binder
  const columns = idColumns(keys, binder)
  const tests = [
    ...countedTests(scope, binder),
    ...(vendors === undefined ? [] : binder.among('vendor', vendors)),
    `(${columns.map((column) => `${column} IS NOT NULL`).join(' OR ')})`,
  ]
  const { isBlank, isNumber } = textTests(binder)
  const mentions = `SELECT * FROM (
    SELECT ${pairColumns(keys.pairing, binder)}, ${firstNonEmpty(valueColumns(keys, binder))} AS said,
      ${dialect.rowsOf({ id: columns.map((_, at) => unlessBefore(columns, at)) })}
    FROM events WHERE ${tests.join(' AND ')}
  ) AS spread WHERE id IS NOT NULL AND NOT ${isBlank('id')}`
  return `SELECT vendor, id, day, receivedAt, isSecond,
      CASE WHEN ${isNumber('said')} THEN ${dialect.readNumber('said')} ELSE NULL END AS amount
    FROM (${pairsSql(mentions, { by: ['id'] })}) AS mentions`
}

/**
 * Returns SQL for reports to vendors, one row per vendor, id and day. `events` counts a pair of browser and server
 * events once, on the day of the earlier one.
 */
function reportedOrdersSql(scope: ReportedScope, keys: OrderKeys, binder: Binder): string {
  return `told AS MATERIALIZED (
    SELECT vendor, id, day, sum(1 - isSecond) AS events, min(amount) AS low, max(amount) AS high
    FROM (${mentionsSql(scope, keys, binder)}) AS amounts GROUP BY vendor, id, day
  )`
}

/** RE2 pattern for the names of purchase events. */
const PURCHASE_NAMES = String.raw`(?i)^(?:(?:.*[ _.])?purchases?|ecommerce ?order|(?:placed|completed?) order|place ?an ?order|order[ _.]?(?:completed|placed)|complete ?payment|transaction(?:\.confirmation)?|track(?:purchase|transaction)|checkout[ _]completed?|sale)$`

/**
 * Vendors whose purchase event has another name. Google Ads is missing because its conversions do not indicate whether
 * they are purchases. https://help.pinterest.com/en/business/article/add-event-codes
 */
const PURCHASES_OF_VENDORS = { 'Pinterest Tag': 'checkout', 'Pinterest Conversions API': 'checkout' }

/** Returns the query for purchases without a readable order id. The rows are `vendor` and `purchases`. */
export function unreadQuery({ orgId, domainId, window }: ReportedScope, keys: OrderKeys): Query {
  return query('orders.unread', {
    orgId,
    window,
    write: (binder) => {
      const { isBlank } = textTests(binder)
      const none = idColumns(keys, binder).map((column) => `(${column} IS NULL OR ${isBlank(column)})`)
      const isPurchase = [
        binder.dialect.matches('event', binder.bind(`(${PURCHASE_NAMES})`)),
        ...Object.entries(PURCHASES_OF_VENDORS).map(
          ([vendor, event]) => `(vendor = ${binder.bind(vendor)} AND event = ${binder.bind(event)})`,
        ),
      ]
      const where = [
        `domainId = ${binder.bind(domainId)} AND env = 'prod' AND kind = 'event'`,
        `(${isPurchase.join(' OR ')})`,
      ]
      return {
        keys: keysRead(keys),
        sql: `SELECT vendor, count(*) AS purchases FROM events WHERE ${[...where, ...none].join(' AND ')} GROUP BY vendor`,
      }
    },
  })
}

/**
 * Returns SQL that is NULL when an earlier parameter of the event has the same id, so that an event counts each id
 * once.
 */
function unlessBefore(columns: readonly string[], at: number): string {
  const column = columns[at] ?? 'NULL'
  const before = columns.slice(0, at).map((other) => `${column} = ${other}`)
  return before.length > 0 ? `CASE WHEN ${before.join(' OR ')} THEN NULL ELSE ${column} END` : column
}

/** Returns SQL for the first non-empty column; NULL when all are empty. */
function firstNonEmpty(columns: readonly string[]): string {
  if (columns.length === 0) return 'NULL'
  return `coalesce(${columns.map((column) => `nullif(${column}, '')`).join(', ')})`
}

function ordersSql(orders: readonly ExpectedOrder[], binder: Binder): string {
  const { dialect } = binder
  const rows = orders.map(({ id, day, value, isPaid }) => ({
    id,
    day,
    amount: String(value ?? ''),
    paid: Number(isPaid),
  }))
  const columns = { id: 'text', day: 'integer', amount: 'text', paid: 'integer' } as const
  const made = dialect.rowsOfJson(binder.bind(JSON.stringify(rows)), columns)
  return `orders AS MATERIALIZED (
    SELECT id AS orderId, day AS orderDay, ${dialect.readNumber('amount')} AS amount, paid FROM ${made} AS posted
  )`
}

/**
 * Returns the query for reports to vendors, as `ReportedOrderRow`. At most `listed` rows of kind `unknown` are
 * returned, one per unknown id. `keys` must contain at least one id.
 */
export function reportedOrdersQuery(
  scope: ReportedScope,
  keys: OrderKeys,
  orders: readonly ExpectedOrder[],
  listed: number,
): Query {
  const { orgId, window } = scope
  return query('orders.told', {
    orgId,
    window,
    write: (binder) => {
      const isOther = ['low', 'high'].map((given) => `abs(${given} - amount) > ${MAX_DIFFERENCE}`).join(' OR ')
      const none = '0 AS mismatches, 0.0 AS value'
      return {
        keys: keysRead(keys),
        sql: `SELECT kind, vendor, day, id, count, mismatches, value FROM (
          WITH ${reportedOrdersSql(scope, keys, binder)}, ${ordersSql(orders, binder)},
          ids AS (SELECT vendor, id, min(day) AS day, min(low) AS low, max(high) AS high FROM told GROUP BY vendor, id),
          strangers AS (
            SELECT vendor, told.id AS id, told.day AS day FROM told LEFT JOIN orders ON orderId = told.id
            WHERE orderId IS NULL
          )
          SELECT 'events' AS kind, vendor, day, '' AS id, sum(events) AS count, ${none} FROM told GROUP BY vendor, day
          UNION ALL SELECT 'first' AS kind, vendor, day, '' AS id, count(*) AS count, ${none} FROM ids GROUP BY vendor, day
          UNION ALL SELECT 'captured' AS kind, vendor, orderDay AS day, '' AS id, count(*) AS count,
            sum(CASE WHEN ${isOther} THEN 1 ELSE 0 END) AS mismatches, coalesce(sum(amount), 0.0) AS value
            FROM ids JOIN orders ON orderId = ids.id WHERE paid = 1 GROUP BY vendor, orderDay
          UNION ALL SELECT 'extra' AS kind, vendor, day, '' AS id, count(*) AS count, ${none} FROM strangers
            GROUP BY vendor, day
          UNION ALL SELECT 'unknown' AS kind, vendor, day, id, 1 AS count, ${none}
            FROM (SELECT vendor, day, id FROM strangers LIMIT ${listed}) AS listed
        ) AS counted`,
      }
    },
  })
}

/**
 * Returns the query for pairs of browser and server events and for unpaired events. An event is included when the event
 * itself or its partner refers to an order. The rows are `ReportedOrderRow`, by vendor and day of the earlier event.
 * `keys` must contain at least one id.
 */
export function orderPairsQuery(scope: ReportedScope, keys: OrderKeys): Query {
  const { orgId, window } = scope
  return query('orders.pairs', {
    orgId,
    window,
    write: (binder) => {
      const isAbout = idColumns(keys, binder).map(
        (id) => `(${id} IS NOT NULL AND NOT ${textTests(binder).isBlank(id)})`,
      )
      const vendors = PAIRING_VENDORS.map(({ vendor }) => vendor)
      const tests = [...countedTests(scope, binder), ...binder.among('vendor', vendors)]
      return {
        keys: keysRead(keys),
        sql: `SELECT vendor, day, sum(matched) AS matched, sum(browserOnly) AS browserOnly, sum(serverOnly) AS serverOnly FROM (
          WITH everything AS MATERIALIZED (
            SELECT ${pairColumns(keys.pairing, binder)}, CASE WHEN ${isAbout.join(' OR ')} THEN 1 ELSE 0 END AS isAbout
            FROM events WHERE ${tests.join(' AND ')}
          ), sent AS MATERIALIZED (
            SELECT * FROM everything
            WHERE (vendor, pairName) IN (SELECT vendor, pairName FROM everything WHERE isAbout = 1)
          ) SELECT vendor, day, matched, browserOnly, serverOnly
          FROM (${pairCountsSql('sent', { chosen: 'isAbout' })}) AS named
        ) AS counted GROUP BY vendor, day`,
      }
    },
  })
}
