import { sampleTests, UNIT } from '../changes/change-queries.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'

/** Weighted number of requests by the choice that was in force. */
export interface ByChoice {
  before: number
  afterRefusal: number
  afterAcceptance: number
}

/** Requests to one vendor from one page. */
export interface PageRow extends ByChoice {
  vendor: string
  host: string
  path: string
  firstSeenAt: Instant
  /** Sums over all pages of the vendor on this host. */
  allBefore: number
  allAfterRefusal: number
  allAfterAcceptance: number
  allFirstSeenAt: Instant
}

/** Requests to one vendor that contained the value of a cookie. */
export interface CookieRow extends ByChoice {
  vendor: string
  host: string
  cookie: string
}

/** Host to which browsers sent requests to a vendor. */
export interface RequestHostRow {
  vendor: string
  vendorHost: string
}

interface Scope {
  orgId: string
  domainId: string
  window: Query['window']
  /** Sampling: one in `oneIn` sessions is read. */
  oneIn: number
}

/** Parameters that contain the value of a first-party cookie of the vendor's own code. */
export const COOKIE_PARAMETERS: readonly { vendor: string; key: string; cookie: string }[] = [
  { vendor: 'Meta Pixel', key: 'fbp', cookie: '_fbp' },
  { vendor: 'Meta Pixel', key: 'fbc', cookie: '_fbc' },
  { vendor: 'Google Ads', key: 'auid', cookie: '_gcl_au' },
  { vendor: 'Microsoft Advertising UET', key: 'sid', cookie: '_uetsid' },
  { vendor: 'Microsoft Advertising UET', key: 'vid', cookie: '_uetvid' },
  { vendor: 'Snapchat Pixel', key: 'u_c1', cookie: '_scid' },
  { vendor: 'Reddit Pixel', key: 'uuid', cookie: '_rdt_uuid' },
]

/** Maximum number of pages by vendor and host, and of rows. */
const MAX_PAGES = 20
const MAX_ROWS = 10_000
const MAX_HOSTS = 2000
/** Time before the range in which a choice still applies to the rest of its session. */
const CHOICE_MS = 4 * HOUR_MS

/** Requests of real visitors. Library loads, tag manager reports and tests are excluded. */
const REAL = `env = 'prod' AND kind IN ('event', 'hit')`
const WORDS = ['consent.ad_storage', 'consent.analytics_storage'] as const
const KEYS = ['gcd', 'gcs', 'asc', ...WORDS, 'consent.tcf.purposes']

const counted = ({ from }: Query['window']) => `receivedAt >= ${from}`

function whereSql({ domainId, oneIn }: Scope, binder: Binder): string {
  return [REAL, `domainId = ${binder.bind(domainId)}`, ...sampleTests(oneIn, binder)].join(' AND ')
}

const lookback = ({ from, to }: Query['window']): Query['window'] => ({ from: from - CHOICE_MS, to })

/** Returns the query for the number of stored events, from which the sampling follows. */
export function requestCountQuery(scope: Omit<Scope, 'oneIn'>): Query {
  return query('insights.consent-requests', {
    orgId: scope.orgId,
    window: lookback(scope.window),
    write: (binder) => ({
      sql: `SELECT count(*) AS events FROM events WHERE ${whereSql({ ...scope, oneIn: 1 }, binder)}`,
    }),
  })
}

/** Returns the query for requests by vendor and page. Pages with the most requests without acceptance come first. */
export function pagesBeforeConsentQuery(scope: Scope): Query {
  const { orgId, window } = scope
  return query('insights.consent-pages', {
    orgId,
    window: lookback(window),
    write(binder) {
      const own = `SELECT vendor, coalesce(host, '') AS host, coalesce(path, '') AS path, ${byChoice()},
          min(receivedAt) AS firstSeenAt
        FROM (${requestsSql(binder, [])}) AS requests WHERE ${counted(window)} GROUP BY ALL`
      const all = 'OVER (PARTITION BY vendor, host)'
      return {
        sql: `SELECT * FROM (
            SELECT vendor, host, path, before, "afterRefusal", "afterAcceptance", firstSeenAt AS "firstSeenAt",
              sum(before) ${all} AS "allBefore", sum("afterRefusal") ${all} AS "allAfterRefusal",
              sum("afterAcceptance") ${all} AS "allAfterAcceptance", min(firstSeenAt) ${all} AS "allFirstSeenAt",
              row_number() OVER (
                PARTITION BY vendor, host
                ORDER BY before + "afterRefusal" DESC, "afterAcceptance" DESC, path
              ) AS place
            FROM (${own}) AS own
          ) AS placed WHERE place <= ${MAX_PAGES}
          ORDER BY "allBefore" + "allAfterRefusal" DESC, "allAfterAcceptance" DESC, vendor, host, place LIMIT ${MAX_ROWS}`,
        keys: KEYS,
        where: whereSql(scope, binder),
      }
    },
  })
}

/** Returns the query for requests that contained the value of a cookie. */
export function cookiesBeforeConsentQuery(scope: Scope): Query {
  const { orgId, window } = scope
  return query('insights.consent-cookies', {
    orgId,
    window: lookback(window),
    write(binder) {
      const has = COOKIE_PARAMETERS.map(({ vendor, key }, at) => {
        const isSent = `vendor = ${binder.bind(vendor)} AND ${binder.dialect.key(key)} <> ''`
        return `CASE WHEN ${isSent} THEN 1 ELSE 0 END AS has${at}`
      })
      const each = COOKIE_PARAMETERS.map(
        ({ cookie }, at) => `SELECT vendor, coalesce(host, '') AS host, ${binder.bind(cookie)} AS cookie, ${byChoice()}
          FROM requests WHERE ${counted(window)} AND has${at} = 1 GROUP BY vendor, host`,
      )
      return {
        sql: `SELECT * FROM (
            WITH requests AS MATERIALIZED (${requestsSql(binder, has)}) ${each.join(' UNION ALL ')}
          ) AS found ORDER BY vendor, host, cookie`,
        keys: [...new Set([...KEYS, ...COOKIE_PARAMETERS.map(({ key }) => key)])],
        where: whereSql(scope, binder),
      }
    },
  })
}

/** Returns the query for the hosts to which browsers sent requests, by vendor. */
export function requestHostsQuery({ orgId, domainId, window }: Omit<Scope, 'oneIn'>): Query {
  return query('insights.consent-hosts', {
    orgId,
    window,
    over: 'pages',
    write: (binder) => ({
      sql: `SELECT DISTINCT vendor, vendorHost FROM pages
        WHERE domainId = ${binder.bind(domainId)} AND env = 'prod' AND vendorHost <> ''
        ORDER BY vendor, vendorHost LIMIT ${MAX_HOSTS}`,
    }),
  })
}

const byChoice = () =>
  [
    ['accepted IS NULL', 'before'],
    ['accepted = 0', 'afterRefusal'],
    ['accepted = 1', 'afterAcceptance'],
  ]
    .map(([test, name]) => `sum(CASE WHEN ${test} THEN weight ELSE 0 END) AS "${name}"`)
    .join(', ')

/**
 * Returns SQL for all requests with the column `accepted`: 1 after an acceptance, 0 after a refusal, NULL before any
 * choice. The most recent choice of the session counts, up to and including that of the request itself. `more`: further
 * columns, named `has0`, `has1` and so on.
 */
function requestsSql(binder: Binder, more: readonly string[]): string {
  const columns = ['vendor', 'host', 'path', 'weight', 'receivedAt']
  const all = [...columns, ...more.map((_, at) => `has${at}`)].join(', ')
  // Events of a batch share the field `consent`, which also follows a default. It only counts if nothing else tells.
  const shared = `CASE consent WHEN 'granted' THEN 1 WHEN 'denied' THEN 0 END`
  return `SELECT ${all}, max(choice) OVER (PARTITION BY unit, turn) AS accepted FROM (
      SELECT ${all}, unit, choice, sum(CASE WHEN choice IS NULL THEN 0 ELSE 1 END) OVER (
          PARTITION BY unit ORDER BY ts, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS turn
      FROM (
        SELECT ${all}, unit, ts, seq,
          CASE WHEN max(tells) OVER (PARTITION BY unit) = 0 THEN shared WHEN tells = 1 THEN own ELSE NULL END AS choice
        FROM (
          SELECT ${[...columns, ...more].join(', ')}, ts, seq, ${UNIT} AS unit, ${ownChoiceSql(binder)}, ${shared} AS shared
          FROM events
        ) AS seen
      ) AS choices
    ) AS turns`
}

/**
 * Letters of Google's `gcd` for `ad_storage`, which distinguish a choice from a default:
 * https://www.simoahava.com/analytics/consent-mode-v2-google-tags/
 */
const LETTERS: readonly (readonly [pattern: string, choice: '0' | '1' | 'NULL'])[] = [
  ['(^1.[qum])', '0'],
  ['(^1.[rvn])', '1'],
  ['(^1.[lpt])', 'NULL'],
]

/** Returns SQL for `own`, the choice that an event states itself (1, 0 or NULL), and `tells`, 1 if it mentions consent. */
function ownChoiceSql(binder: Binder): string {
  const { dialect } = binder
  const key = (name: string) => dialect.key(name)
  const letters = LETTERS.map(
    ([pattern, choice]) => [dialect.matches(key('gcd'), binder.bind(pattern)), choice] as const,
  )
  const words = WORDS.flatMap((name) => [
    [`${key(name)} = 'denied'`, '0'] as const,
    [`${key(name)} = 'granted'`, '1'] as const,
  ])
  const purposes = `concat(',', ${key('consent.tcf.purposes')}, ',')`
  const tests = [
    ...letters,
    ...words,
    [dialect.startsWith(key('gcs'), binder.bind('G10')), '0'],
    [dialect.startsWith(key('gcs'), binder.bind('G11')), '1'],
    [`${key('asc')} = 'D'`, '0'],
    [`${key('asc')} = 'G'`, '1'],
    [`${key('consent.tcf.purposes')} IS NULL`, 'NULL'],
    [dialect.contains(purposes, binder.bind(',1,')), '1'],
  ] as const
  const mentions = KEYS.map((name) => `${key(name)} IS NOT NULL`).join(' OR ')
  return [
    `CASE ${tests.map(([test, choice]) => `WHEN ${test} THEN ${choice}`).join(' ')} ELSE 0 END AS own`,
    `CASE WHEN ${mentions} THEN 1 ELSE 0 END AS tells`,
  ].join(', ')
}
