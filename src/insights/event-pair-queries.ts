import { textTests } from '../conditions/condition-sql.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import type { Binder } from '../warehouse/query.ts'

/**
 * A vendor that deduplicates browser and server events with the same name and event id. Parameter names are those of
 * the decoders.
 */
export interface PairingVendor {
  /** Name of the vendor in the decoders. */
  vendor: string
  /** Parameters that may contain the event id. The first non-blank one is used. */
  ids: readonly string[]
  /** Parameters that occur only in server requests. An event without any of them was sent by a browser. */
  server: readonly string[]
  /** Maximum time between the two events. */
  windowMs: number
  /**
   * True when browsers and servers write names differently, so case and underscores are ignored (`PURCHASE`,
   * `Purchase`).
   */
  hasLooseNames?: true
}

const TWO_DAYS = 48 * HOUR_MS

/** Parameters and windows, taken from the vendors' documentation. */
export const PAIRING_VENDORS: readonly PairingVendor[] = [
  // 48 hours: https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/server-event
  {
    vendor: 'Meta Pixel',
    ids: ['eid', 'event_id'],
    server: ['event_name', 'event_id', 'action_source'],
    windowMs: TWO_DAYS,
  },
  // 48 hours: https://ads.tiktok.com/help/article/event-deduplication
  {
    vendor: 'TikTok Pixel',
    ids: ['event_id'],
    server: ['event_source', 'event_source_id', 'pixel_code'],
    windowMs: TWO_DAYS,
  },
  // https://developers.pinterest.com/docs/api-features/conversion-overview does not specify a window, so the other
  // vendors' window is used.
  {
    vendor: 'Pinterest Tag',
    ids: ['ed[event_id]', 'event_id'],
    server: ['event_name', 'action_source'],
    windowMs: TWO_DAYS,
    hasLooseNames: true,
  },
  // 48 hours. A purchase may have a transaction id instead of an event id:
  {
    vendor: 'Snapchat Pixel',
    ids: ['client_dedup_id', 'event_id', 'e_tid', 'transaction_id'],
    server: ['event_name', 'event_type', 'action_source'],
    windowMs: TWO_DAYS,
  },
  // Two days: https://business.reddithelp.com/s/article/event-deduplication
  {
    vendor: 'Reddit Pixel',
    ids: ['m.conversionId', 'conversion_id', 'metadata.conversion_id', 'event_metadata.conversion_id'],
    server: ['type.tracking_type', 'event_type.tracking_type'],
    windowMs: TWO_DAYS,
    hasLooseNames: true,
  },
  // https://learn.microsoft.com/linkedin/marketing/conversions/deduplication does not specify a window, so the other
  // vendors' window is used.
  {
    vendor: 'LinkedIn Insight',
    ids: ['eventId', 'event_id'],
    server: ['conversion', 'conversionHappenedAt'],
    windowMs: TWO_DAYS,
  },
]

/** All parameters that are read for pairing. */
export const PAIRING_KEYS: readonly string[] = [
  ...new Set(PAIRING_VENDORS.flatMap(({ ids, server }) => [...ids, ...server])),
]

/** The longest window of all vendors. */
export const MAX_WINDOW_MS = Math.max(...PAIRING_VENDORS.map(({ windowMs }) => windowMs))

const BROWSER = 0
const SERVER = 1

/**
 * Returns the items of a SELECT on `events` that `pairsSql` requires: `seq`, `receivedAt`, `day` since the Unix epoch,
 * `vendor`, `event`, `pairName`, `eventId` (NULL: none), `origin` (0: browser, 1: server, NULL: the vendor does not
 * pair events) and `windowMs`. `known` lists the `PAIRING_KEYS` that exist in the data; only these are read.
 */
export function pairColumns(known: readonly string[], binder: Binder): string {
  const { dialect } = binder
  const { isBlank } = textTests(binder)
  const column = (key: string) => dialect.key(key)
  const present = (keys: readonly string[]) => keys.filter((key) => known.includes(key)).map(column)
  const byVendor = (of: (vendor: PairingVendor) => string) =>
    `CASE ${PAIRING_VENDORS.map((one) => `WHEN vendor = ${binder.bind(one.vendor)} THEN ${of(one)}`).join(' ')} ELSE NULL END`
  const eventId = byVendor(({ ids }) => {
    const filled = present(ids).map((id) => `CASE WHEN ${isBlank(id)} THEN NULL ELSE ${id} END`)
    return filled.length === 0 ? 'NULL' : `coalesce(${filled.join(', ')})`
  })
  const origin = byVendor(({ server }) => {
    const tests = present(server).map((key) => `${key} IS NOT NULL`)
    return tests.length === 0 ? String(BROWSER) : `CASE WHEN ${tests.join(' OR ')} THEN ${SERVER} ELSE ${BROWSER} END`
  })
  const loose = PAIRING_VENDORS.filter(({ hasLooseNames }) => hasLooseNames).map(({ vendor }) => vendor)
  const isLoose = binder.among('vendor', loose).join('')
  const pairName = `CASE WHEN ${isLoose} THEN ${dialect.replaceAll('lower(event)', "'(_)'", '')} ELSE event END`
  const items = {
    pairName,
    eventId,
    origin,
    windowMs: byVendor(({ windowMs }) => String(windowMs)),
  }
  return [
    'seq',
    'receivedAt',
    `${dialect.quotient('receivedAt', DAY_MS)} AS day`,
    'vendor',
    'event',
    ...Object.entries(items).map(([name, sql]) => `${sql} AS ${name}`),
  ].join(', ')
}

/**
 * Returns the rows of a SELECT with `pairColumns`, plus `isPaired` and `isSecond` (1 or 0). `isSecond` is 1 for the
 * later event of each pair.
 *
 * Events with the same vendor, name and event id are ordered by time of receipt. The n-th browser event and the n-th
 * server event are a pair when they are at most one window apart. After a pause longer than the window, counting
 * restarts at 1. An event is in at most one pair. Events without an event id are never paired.
 *
 * `by`: further columns that must be equal. `chosen`: a column with the values 1 and 0. `isChosen` is 1 for both events
 * of a pair when `chosen` is 1 for either of them.
 */
export function pairsSql(
  rows: string,
  { by = [], chosen = '1' }: { by?: readonly string[]; chosen?: string } = {},
): string {
  // Each event without an id forms its own group.
  const group = ['vendor', 'pairName', 'eventId', 'loner', ...by].join(', ')
  const before = `max(receivedAt) OVER (PARTITION BY ${group} ORDER BY seq ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)`
  const pair = `OVER (PARTITION BY ${group}, run, nth)`
  return `SELECT *, CASE WHEN isPaired = 1 AND seq = lastSeq THEN 1 ELSE 0 END AS isSecond,
      CASE WHEN isPaired = 1 THEN isPairChosen ELSE ${chosen} END AS isChosen FROM (
    SELECT *, max(seq) ${pair} AS lastSeq, max(${chosen}) ${pair} AS isPairChosen,
      CASE WHEN eventId IS NOT NULL AND count(*) ${pair} = 2
        AND max(receivedAt) ${pair} - min(receivedAt) ${pair} <= windowMs THEN 1 ELSE 0 END AS isPaired
    FROM (SELECT *, row_number() OVER (PARTITION BY ${group}, run, origin ORDER BY seq) AS nth FROM (
      SELECT *, sum(begins) OVER (PARTITION BY ${group} ORDER BY seq) AS run FROM (
        SELECT *, CASE WHEN receivedAt - ${before} > windowMs THEN 1 ELSE 0 END AS begins FROM (
          SELECT *, CASE WHEN eventId IS NULL THEN seq ELSE 0 END AS loner FROM (${rows}) AS sent
        ) AS grouped
      ) AS spaced
    ) AS ran) AS numbered
  ) AS judged`
}

/**
 * Returns SQL that counts the pairs of `pairsSql` by `by`, `vendor`, `pairName` and `day`. `matched` counts pairs by
 * the day of the earlier event. `browserOnly` and `serverOnly` count events without a partner; `browserWithoutId` and
 * `serverWithoutId` count the ones without an id among them. `browserName` and `serverName` are the name of one event
 * on each side, or NULL.
 *
 * `chosen`: counts only pairs and events with `isChosen`. `sent`: a relation with `pairColumns` that contains only
 * vendors that pair events.
 *
 * Most ids have at most one event on each side, so their pairs are computed from sums. Only the remaining ids use
 * window functions, which take six times as long (for 1 million events, 5.5 s instead of 0.8 s).
 */
export function pairCountsSql(
  sent: string,
  { by = [], chosen = '1' }: { by?: readonly string[]; chosen?: string } = {},
): string {
  const name = [...by, 'vendor', 'pairName'].join(', ')
  const group = `${name}, eventId`
  const flag = (test: string) => `CASE WHEN ${test} THEN 1 ELSE 0 END`
  const of = (side: number, value: string, none = 'NULL') => `CASE WHEN origin = ${side} THEN ${value} ELSE ${none} END`
  const names = `${of(BROWSER, 'event')} AS browserName, ${of(SERVER, 'event')} AS serverName`
  const isSimple = 'servers <= 1 AND members - servers <= 1'
  const isPair = 'members = 2 AND apart <= windowMs'
  return `WITH groups AS MATERIALIZED (
      SELECT ${group}, count(*) AS members, sum(origin) AS servers, max(windowMs) AS windowMs,
        max(receivedAt) - min(receivedAt) AS apart, min(day) AS firstDay,
        max(${of(BROWSER, 'event')}) AS browserName, max(${of(SERVER, 'event')}) AS serverName,
        min(${of(BROWSER, 'day')}) AS browserDay, min(${of(SERVER, 'day')}) AS serverDay,
        max(${of(BROWSER, chosen, '0')}) AS browserChosen, max(${of(SERVER, chosen, '0')}) AS serverChosen
      FROM ${sent} WHERE eventId IS NOT NULL GROUP BY ${group}
    ), counted AS (
      SELECT ${name}, firstDay AS day, browserName, serverName, 1 AS matched, 0 AS browserOnly, 0 AS serverOnly, 1 AS hasId
        FROM groups WHERE ${isSimple} AND ${isPair} AND (browserChosen = 1 OR serverChosen = 1)
      UNION ALL SELECT ${name}, browserDay AS day, browserName, NULL AS serverName, 0 AS matched, 1 AS browserOnly,
        0 AS serverOnly, 1 AS hasId FROM groups WHERE ${isSimple} AND NOT (${isPair}) AND browserChosen = 1
      UNION ALL SELECT ${name}, serverDay AS day, NULL AS browserName, serverName, 0 AS matched, 0 AS browserOnly,
        1 AS serverOnly, 1 AS hasId FROM groups WHERE ${isSimple} AND NOT (${isPair}) AND serverChosen = 1
      UNION ALL SELECT ${name}, day, ${names}, isPaired - isSecond AS matched,
        ${flag(`isPaired = 0 AND origin = ${BROWSER}`)} AS browserOnly,
        ${flag(`isPaired = 0 AND origin = ${SERVER}`)} AS serverOnly, 1 AS hasId
        FROM (${pairsSql(`SELECT * FROM ${sent} WHERE (${group}) IN (SELECT ${group} FROM groups WHERE NOT (${isSimple}))`, { by, chosen })}) AS paired
        WHERE isChosen = 1
      UNION ALL SELECT ${name}, day, ${names}, 0 AS matched, ${of(BROWSER, '1', '0')} AS browserOnly,
        ${of(SERVER, '1', '0')} AS serverOnly, 0 AS hasId FROM ${sent} WHERE eventId IS NULL AND ${chosen} = 1
    )
    SELECT ${name}, day, max(browserName) AS browserName, max(serverName) AS serverName, sum(matched) AS matched,
      sum(browserOnly) AS browserOnly, sum(serverOnly) AS serverOnly,
      sum(CASE WHEN hasId = 0 THEN browserOnly ELSE 0 END) AS browserWithoutId,
      sum(CASE WHEN hasId = 0 THEN serverOnly ELSE 0 END) AS serverWithoutId
    FROM counted GROUP BY ${name}, day`
}
