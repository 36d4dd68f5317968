import { DuckDBInstance } from '@duckdb/node-api'
import { DAY_MS, type Instant } from '../../src/core/clock.ts'
import { quoteText } from '../../src/warehouse/duckdb/duckdb-dialect.ts'

/** Options for generating past events. */
export interface PastEvents {
  events: number
  days: number
  /** End of the generated period. */
  until: Instant
  domainIds: readonly string[]
  params: 'map' | 'json'
  /** True: events are in random order; false: in chronological order. */
  shuffled?: boolean
  /** True: session and client ids are as random as in browsers; false: they are short numbers. */
  randomIds?: boolean
}

/** Number of concurrent sessions, and number of events in each session. */
const [AT_ONCE, STEPS] = [200, 12]

/** Vendor and event name for each step of a session. */
const NAMES = [
  ['Google Analytics 4', 'page_view'],
  ['Meta Pixel', 'PageView'],
  ['Google Analytics 4', 'view_item'],
  ['Meta Pixel', 'ViewContent'],
  ['Google Ads', 'conversion'],
  ['TikTok Pixel', 'ViewContent'],
  ['Google Analytics 4', 'add_to_cart'],
  ['Meta Pixel', 'AddToCart'],
  ['Google Analytics 4', 'scroll'],
  ['Google Tag Manager', 'gtm.js'],
  ['Google Analytics 4', 'purchase'],
  ['Meta Pixel', 'Purchase'],
] as const
const PATHS = [
  '/',
  '/',
  '/product/',
  '/product/',
  '/product/',
  '/product/',
  '/cart',
  '/cart',
  '/',
  '/',
  '/thanks',
  '/thanks',
]

/** SQL for each parameter; NULL if the event does not have the parameter. */
const PARAMETERS: Readonly<Record<string, string>> = {
  page_location: `'https://shop.example' || path`,
  client_id: `(session * 7919 % 400000)::VARCHAR`,
  language: `['en-us', 'de-de', 'fr-fr'][session % 3 + 1]`,
  screen: `['1280x720', '390x844'][session % 2 + 1]`,
  gcs: `CASE WHEN vendor LIKE 'Google%' THEN ['G111', 'G100'][(session % 7 = 0)::INTEGER + 1] END`,
  item_id: `CASE WHEN step BETWEEN 2 AND 7 THEN 'SKU' || n % 300 END`,
  currency: `CASE WHEN step >= 6 THEN 'EUR' END`,
  value: `CASE WHEN step >= 6 THEN ((n % 9973) / 100.0)::DECIMAL(9, 2)::VARCHAR END`,
  transaction_id: `CASE WHEN step >= 10 THEN 'T-' || session END`,
}

/** Names of all parameters. */
export const PAST_KEYS: readonly string[] = Object.keys(PARAMETERS)

const step = (values: readonly string[]) => `[${values.map(quoteText).join(', ')}][step + 1]`

/**
 * Writes a Parquet file for `tagwarden import events`. The file contains the sessions of a shop with five vendors, with
 * more sessions by day than by night, and parameters as the vendors send them. The same options always produce the same
 * file.
 */
export async function writePastEvents(path: string, past: PastEvents): Promise<void> {
  const { events, days, until, domainIds, params, shuffled, randomIds } = past
  const from = until - days * DAY_MS
  const random = {
    client_id: `(hash(session) % 10000000000)::VARCHAR || '.' || (17e8 + hash(-session) % 60000000)::BIGINT`,
  }
  const entries = Object.entries({ ...PARAMETERS, ...(randomIds && random) }).map(
    ([key, value]) => `{key: ${quoteText(key)}, value: ${value}}`,
  )
  const map = `map_from_entries(list_filter([${entries.join(', ')}], lambda entry: entry.value IS NOT NULL))`
  const engine = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '2GB' })
  const connection = await engine.connect()
  await connection.run(`COPY (
    SELECT domainId, receivedAt, receivedAt - n % 900 AS ts, vendor, event, 'G-ABCDE12345' AS account,
      CASE WHEN vendor = 'Google Tag Manager' THEN 'tag' ELSE 'event' END AS kind, 'shop.example' AS host, path,
      'Shop' AS title, ${randomIds ? 'md5(session::VARCHAR)[1:20]' : `'s' || session`} AS sessionId, CASE WHEN n % 50 = 0 THEN 'failure' ELSE 'ok' END AS status,
      (n % 40)::DOUBLE AS execMs, (n % 90)::DOUBLE AS durMs, 12 AS version, ${params === 'map' ? map : `to_json(${map})::VARCHAR`} AS params
    FROM (
      SELECT n, step, session, ${from} + (n / ${events} * ${days * DAY_MS})::BIGINT AS receivedAt,
        [${domainIds.map(quoteText).join(', ')}][session % ${domainIds.length} + 1] AS domainId,
        ${step(NAMES.map(([vendor]) => vendor))} AS vendor, ${step(NAMES.map(([, event]) => event))} AS event,
        ${step(PATHS)} || CASE WHEN step BETWEEN 2 AND 5 THEN (n % 500)::VARCHAR ELSE '' END AS path
      FROM (
        SELECT n, n // ${AT_ONCE} % ${STEPS} AS step, n // ${AT_ONCE * STEPS} * ${AT_ONCE} + n % ${AT_ONCE} AS session
        FROM range(${events}) AS numbers(n)
      )
    ) ${shuffled ? 'ORDER BY hash(n)' : ''}
  ) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd)`)
  connection.closeSync()
  engine.closeSync()
}
