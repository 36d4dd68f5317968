import { join } from 'node:path'
import { SESSION_GAP_MS } from '../../src/alerts/types/journey/journey-sql.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../src/core/clock.ts'
import { EVENT_COLUMNS } from '../../src/core/event.ts'
import { compactEvents } from '../../src/warehouse/duckdb/compact-events.ts'
import { compactRollups } from '../../src/warehouse/duckdb/compact-rollups.ts'
import { countsOf } from '../../src/warehouse/duckdb/counts-rollup.ts'
import { quoteText } from '../../src/warehouse/duckdb/duckdb-dialect.ts'
import type { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import type { Manifest } from '../../src/warehouse/duckdb/manifest.ts'
import { sized } from '../tools/bench-size.ts'

const DAYS = sized(30, 1)
const EVENTS = sized(10_000_000, 24_000)
const PER_HOUR = Math.ceil(EVENTS / (DAYS * 24))
/** Number of concurrent sessions, followed by the number of events per session. */
const AT_ONCE = 200
const STEPS = 10

/** End of the month, a Monday. */
export const MONTH_END: Instant = Date.UTC(2026, 1, 2)
const MONTH_START: Instant = MONTH_END - DAYS * DAY_MS
/** Number of events in the month. */
export const MONTH_EVENTS = PER_HOUR * 24 * DAYS
/**
 * One in `BUYS_ONE_IN` sessions makes a purchase. One in `BAD_ONE_IN` purchases lacks its `transaction_id` and is not
 * sent to Meta.
 */
const BAD_ONE_IN = 500
const BUYS_ONE_IN = 5
/** Step of a session at which its purchase is sent to Google Analytics. */
const PURCHASE_STEP = 8

const STEP_NAMES = ['page_view', 'PageView', 'view_item', 'ViewContent', 'add_to_cart', 'AddToCart', 'scroll', 'scroll']
const PATHS = ['/', '/', '/product/', '/product/', '/cart', '/cart', '/cart', '/checkout']

/**
 * Returns SQL for a value that depends on the step. From the purchase step on, the value depends on whether the session
 * makes a purchase.
 */
const byStep = (values: readonly string[], bought: string, left: string) =>
  `CASE WHEN step < ${PURCHASE_STEP} THEN [${values.map(quoteText).join(', ')}][step + 1] WHEN buys THEN ${bought} ELSE ${left} END`

/**
 * Returns the SQL that generates one hour of shop events. Each session has ten events in nine minutes, sent alternately
 * to two vendors. The last two events of a session with a purchase report it, one to each vendor. `params` has the
 * collector's format.
 */
function hourSql(hour: number, { orgId, domainIds, violations = 'NULL' }: MonthOptions): string {
  const from = MONTH_START + hour * HOUR_MS
  const domains = `[${domainIds.map(quoteText).join(', ')}]`
  const path = byStep(PATHS, `'/thanks'`, `'/'`)
  const columns: Record<keyof typeof EVENT_COLUMNS, string> = {
    seq: 'receivedAt * 1000 + n % 1000',
    id: `'e' || n`,
    ts: 'receivedAt',
    receivedAt: 'receivedAt',
    orgId: quoteText(orgId),
    domainId: `${domains}[session % ${domainIds.length} + 1]`,
    env: `'prod'`,
    vendor: `CASE step % 2 WHEN 0 THEN 'Google Analytics 4' ELSE 'Meta Pixel' END`,
    event: byStep(
      STEP_NAMES,
      `CASE WHEN step = ${PURCHASE_STEP} THEN 'purchase' WHEN bad THEN 'scroll' ELSE 'Purchase' END`,
      `'scroll'`,
    ),
    account: `'G-ABCDE12345'`,
    kind: `'event'`,
    host: `'shop.example'`,
    path: `${path} || CASE WHEN step IN (2, 3) THEN (n % 500)::VARCHAR ELSE '' END`,
    title: `'Shop'`,
    sessionId: `'s' || session`,
    customerId: 'NULL',
    status: `'ok'`,
    execMs: 'NULL',
    durMs: '(n % 90)::DOUBLE',
    bytes: 'NULL',
    version: '12',
    browser: `['Chrome', 'Chrome', 'Safari', 'Edge'][session % 4 + 1]`,
    browserVersion: `(120 + session % 9)::VARCHAR`,
    os: `['Windows', 'Android', 'iOS', 'Windows'][session % 4 + 1]`,
    device: `['desktop', 'phone', 'phone', 'desktop'][session % 4 + 1]`,
    language: `'en'`,
    consent: `'granted'`,
    visitor: 'NULL',
    country: 'NULL',
    weight: '1',
    violations,
  }
  const params = {
    transaction_id: `CASE WHEN buys AND step >= ${PURCHASE_STEP} THEN CASE WHEN bad THEN '' ELSE 'T-' || session END END`,
    value: '(n % 997)::VARCHAR',
    currency: `'EUR'`,
    page_location: `'https://shop.example' || ${path}`,
    client_id: '(n * 7919 % 400000)::VARCHAR',
    item_id: `CASE WHEN step IN (2, 3, 4, 5) THEN 'SKU' || n % 300 END`,
    language: `'en-us'`,
    screen: `'1280x720'`,
  }
  const entries = Object.entries(params).map(([key, value]) => `{key: ${quoteText(key)}, value: ${value}}`)
  const selected = Object.entries(EVENT_COLUMNS).map(
    ([name, type]) => `(${columns[name as keyof typeof EVENT_COLUMNS]})::${type} AS ${name}`,
  )
  return `SELECT ${selected.join(', ')},
      violations IS NOT NULL AS violated,
      map_from_entries(list_filter([${entries.join(', ')}], lambda entry: entry.value IS NOT NULL))::JSON AS params
    FROM (
      SELECT n, n // ${AT_ONCE} % ${STEPS} AS step, n // ${AT_ONCE * STEPS} * ${AT_ONCE} + n % ${AT_ONCE} AS session,
        session % ${BUYS_ONE_IN} = 0 AS buys,
        session // ${BUYS_ONE_IN} % ${BAD_ONE_IN} = 0 AS bad, ${from} + (n - ${hour * PER_HOUR}) * ${HOUR_MS} // ${PER_HOUR} AS receivedAt
      FROM range(${hour * PER_HOUR}, ${(hour + 1) * PER_HOUR}) AS numbers(n)
    )`
}

/**
 * Returns the number of `purchase` events without an id, and the number of those whose session ended within the month.
 * These purchases are not sent to Meta.
 */
export function badPurchases(): { events: number; ended: number } {
  const count = { events: 0, ended: 0 }
  for (let session = 0; ; session += BUYS_ONE_IN * BAD_ONE_IN) {
    const first = Math.floor(session / AT_ONCE) * AT_ONCE * STEPS + (session % AT_ONCE)
    if (first + PURCHASE_STEP * AT_ONCE >= MONTH_EVENTS) return count
    count.events++
    const last = MONTH_START + ((first + (STEPS - 1) * AT_ONCE) / PER_HOUR) * HOUR_MS
    if (last + SESSION_GAP_MS < MONTH_END) count.ended++
  }
}

/** Options for filling a warehouse. */
export interface MonthOptions {
  orgId: string
  domainIds: readonly string[]
  /** Only this many of the last hours. Default: all. */
  hours?: number
  /** SQL of the violated alerts of event `n`. Default: none. */
  violations?: string
  /** Called with the files of each hour, before they are merged. */
  written?(files: { events: string; counts: string }, hour: number): Promise<void>
}

/**
 * Fills an empty warehouse with the data that it contains one day after the end of the month: one sorted, shredded
 * event file and one file of counts for each day. Returns the number of events.
 */
export async function fillMonth(
  warehouse: DuckdbWarehouse,
  manifest: Manifest,
  folder: string,
  options: MonthOptions,
): Promise<number> {
  const { hours = DAYS * 24, written } = options
  for (let hour = DAYS * 24 - hours; hour < DAYS * 24; hour++) {
    const path = `hour-${hour}.parquet`
    const rows = await warehouse.parquet.write(path, hourSql(hour, options))
    const file = await warehouse.parquet.describe(path, { rows, level: 'fresh', keys: null, hasSegments: true })
    const counted = countsOf(`read_parquet(${quoteText(join(folder, path))})`)
    const counts = await warehouse.parquet.write(`counts/${path}`, counted)
    const rollup = await warehouse.parquet.describeRollup(`counts/${path}`, counts, 'fresh')
    await written?.({ events: join(folder, path), counts: join(folder, 'counts', path) }, hour)
    manifest.addSegment(String(hour + 1).padStart(12, '0'), { file, rollup }, MONTH_END, () => undefined)
    await compactEvents(
      { parquet: warehouse.parquet, manifest: manifest, folder: folder },
      MONTH_START + (hour + 1) * HOUR_MS + 3 * MINUTE_MS,
    )
  }
  await compactEvents({ parquet: warehouse.parquet, manifest: manifest, folder: folder }, MONTH_END + DAY_MS)
  await compactRollups(warehouse.parquet, manifest, folder, MONTH_END + DAY_MS)
  return hours * PER_HOUR
}
