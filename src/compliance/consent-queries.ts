import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import { ADVERTISING_VENDORS, GOOGLE_VENDORS } from './consent-vendors.ts'

export interface Span {
  from: Instant
  to: Instant
}

/** Requests to one vendor from one domain on one UTC day. `count` is weighted. */
interface Requests {
  orgId: string
  domainId: string
  vendor: string
  /** Start of the UTC day. */
  day: Instant
  count: number
  /** Path of one of the pages; null if none is known. */
  path: string | null
  firstSeenAt: Instant
  lastSeenAt: Instant
}

/** Requests with the same consent signals. A signal is null when its parameter is missing. */
export interface SignalRow extends Requests {
  gcs: string | null
  gcd: string | null
}

/** Requests that were sent although the visitor had denied consent. */
export type DeniedRow = Requests

/**
 * Sessions with consent denied by default, by the hour in which they began, and the number of these in which the
 * visitor later chose.
 */
export interface ChoiceRow {
  domainId: string
  hour: Instant
  vendor: string
  sessions: number
  chosen: number
}

/** Time during which a consent signal applies to later requests of its session. */
const SIGNAL_MS = 4 * HOUR_MS
/**
 * Time that visitors have to answer the banner. After it, a session without an answer counts as one in which the
 * visitor did not choose.
 */
export const CHOICE_MS = 30 * MINUTE_MS

/** SQL that selects requests of real visitors. Library loads, tag manager reports and tests are excluded. */
const REAL = `env = 'prod' AND kind IN ('event', 'hit')`
const SESSION = 'domainId, sessionId'
/**
 * Matches `gcs` values that deny consent. The first letter is the state of `ad_storage`:
 * https://www.simoahava.com/analytics/consent-mode-v2-google-tags/
 */
const DENYING = '(^1.[pqmu])'
const GRANTING = '(^1.[trnv])'
const UNSET = '(^1.l)'
const DENIED_BY_DEFAULT = '([pqr])'
const CHOSEN = '([qr])'

/**
 * Parameters that contain a request's own consent signals. The names are those of the decoders. `consent.gpc` is
 * excluded, because the browser sends it.
 */
const OWN_WORDS = ['consent.personalized_ads', 'consent.gdpr', 'consent.tcf.version', 'consent.us_privacy.sale']
const GPC = ['gpc', 'consent.gpc', 'consent.usnat.gpc']

/**
 * Returns the query for the consent signals in requests to Google and for the number of requests to other advertising
 * vendors. It covers all organizations.
 */
export function signalsQuery(window: Span): Query {
  return query('compliance.consent-said', {
    orgId: null,
    window,
    write: (binder) => {
      const { dialect } = binder
      const among = binder.among('vendor', [...Object.keys(GOOGLE_VENDORS), ...Object.keys(ADVERTISING_VENDORS)])
      return {
        keys: ['gcs', 'gcd'],
        sql: `SELECT orgId, domainId, vendor, day, gcs, gcd, sum(weight) AS count,
            max(path) AS path, min(receivedAt) AS firstSeenAt, max(receivedAt) AS lastSeenAt
          FROM (
            SELECT orgId, domainId, vendor, weight, receivedAt, path, ${dialect.quotient('receivedAt', DAY_MS)} * ${DAY_MS} AS day,
              ${dialect.key('gcs')} AS gcs, ${dialect.key('gcd')} AS gcd
            FROM events WHERE ${REAL} AND ${among.join(' AND ')}
          ) AS said GROUP BY orgId, domainId, vendor, day, gcs, gcd`,
      }
    },
  })
}

/** Returns the query for the sessions with requests to an advertising vendor in the window. */
export function adSessionsQuery(window: Span): Query {
  return query('compliance.ad-sessions', {
    orgId: null,
    window,
    write: (binder) => ({
      sql: `SELECT DISTINCT sessionId FROM events
        WHERE ${REAL} AND sessionId <> '' AND ${binder.among('vendor', Object.keys(ADVERTISING_VENDORS)).join(' AND ')}`,
    }),
  })
}

/**
 * Returns the query for requests to advertising vendors that carry no consent signal and follow a denial. A request
 * follows a denial when the most recent signal in its session is at most `SIGNAL_MS` old and denies `ad_storage`, or
 * when `gpc` is on in the session. `sessionIds`: only these sessions; null for all.
 */
export function deniedQuery({ from, to }: Span, sessionIds: readonly string[] | null): Query {
  return query('compliance.after-denial', {
    orgId: null,
    window: { from: from - SIGNAL_MS, to },
    write: (binder) => {
      const { dialect } = binder
      const sessions = binder.among('sessionId', sessionIds ?? [])
      const turn = `PARTITION BY ${SESSION}, turn`
      return {
        keys: ['gcs', 'gcd', 'asc', 'consent.ad_storage', ...OWN_WORDS, ...GPC],
        // Most sessions contain no denial. A signal starts a turn, during which it applies until the next signal.
        sql: `SELECT orgId, domainId, vendor, day, sum(weight) AS count,
            max(path) AS path, min(receivedAt) AS firstSeenAt, max(receivedAt) AS lastSeenAt
          FROM (
            WITH said AS MATERIALIZED (
              SELECT * FROM (
                SELECT orgId, ${SESSION}, vendor, weight, receivedAt, path, ts, seq, ${signalColumns(binder)}
                FROM events WHERE ${[REAL, `sessionId <> ''`, ...sessions].join(' AND ')}
              ) AS every WHERE isRequest = 1 OR denies IS NOT NULL OR gpc = 1
            ),
            turns AS (
              SELECT orgId, ${SESSION}, vendor, weight, receivedAt, path, isRequest, gpc, denies,
                CASE WHEN denies IS NULL THEN NULL ELSE receivedAt END AS signalAt,
                sum(CASE WHEN denies IS NULL THEN 0 ELSE 1 END) OVER (
                  PARTITION BY ${SESSION} ORDER BY ts, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS turn
              FROM said SEMI JOIN (SELECT DISTINCT ${SESSION} FROM said WHERE denies = 1 OR gpc = 1) AS denying
                USING (${SESSION})
            )
            SELECT orgId, domainId, vendor, weight, receivedAt, path, isRequest,
              ${dialect.quotient('receivedAt', DAY_MS)} * ${DAY_MS} AS day,
              max(gpc) OVER (PARTITION BY ${SESSION}) AS gpcOn,
              max(denies) OVER (${turn}) AS denied, max(signalAt) OVER (${turn}) AS inForceSince
            FROM turns
          ) AS requests
          WHERE isRequest = 1 AND receivedAt >= ${from}
            AND (gpcOn = 1 OR (denied = 1 AND inForceSince >= receivedAt - ${SIGNAL_MS}))
          GROUP BY orgId, domainId, vendor, day`,
      }
    },
  })
}

/**
 * Returns SQL for the columns `denies` (1 or 0, NULL when the event is not a signal), `gpc` and `isRequest` (1 or 0).
 */
function signalColumns(binder: Binder): string {
  const { dialect } = binder
  const key = (name: string) => dialect.key(name)
  const letters = (pattern: string) => dialect.matches(key('gcd'), binder.bind(pattern))
  const word = key('consent.ad_storage')
  const tests: [test: string, denies: 0 | 1][] = [
    [`${word} = 'denied'`, 1],
    [`${word} IS NOT NULL`, 0],
    [dialect.startsWith(key('gcs'), binder.bind('G10')), 1],
    [dialect.startsWith(key('gcs'), binder.bind('G11')), 0],
    [letters(DENYING), 1],
    [letters(GRANTING), 0],
    [dialect.startsWith(key('gcs'), binder.bind('G1-')), 0],
    [letters(UNSET), 0],
    [`${key('asc')} = 'D'`, 1],
    [`${key('asc')} = 'G'`, 0],
  ]
  const says = [word, ...['gcs', 'gcd', 'asc', ...OWN_WORDS].map(key)].map((column) => `${column} IS NOT NULL`)
  const isAd = binder.among('vendor', Object.keys(ADVERTISING_VENDORS)).join(' AND ')
  const gpc = GPC.map((name) => `${key(name)} IN ('1', 'true', 'yes')`).join(' OR ')
  return [
    `CASE ${tests.map(([test, denies]) => `WHEN ${test} THEN ${denies}`).join(' ')} ELSE NULL END AS denies`,
    `CASE WHEN ${gpc} THEN 1 ELSE 0 END AS gpc`,
    `CASE WHEN ${isAd} AND NOT (${says.join(' OR ')}) THEN 1 ELSE 0 END AS isRequest`,
  ].join(', ')
}

/**
 * Returns the query for the number of sessions that began in each hour with consent denied by default, and the number
 * of these in which the visitor chose. The span must start and end on the hour, and events must be available up to
 * `CHOICE_MS` after its end.
 */
export function choicesQuery({ from, to }: Span): Query {
  return query('compliance.consent-choices', {
    orgId: null,
    window: { from: from - SIGNAL_MS, to: to + CHOICE_MS },
    write: (binder) => {
      const { dialect } = binder
      const gcd = dialect.key('gcd')
      const isGa4 = `vendor = 'Google Analytics 4'`
      return {
        keys: ['gcd'],
        sql: `SELECT domainId, hour, CASE WHEN max(ga4) = 1 THEN 'Google Analytics 4' ELSE max(vendor) END AS vendor,
            count(*) AS sessions, sum(chose) AS chosen
          FROM (
            SELECT ${SESSION}, ${dialect.quotient('min(receivedAt)', HOUR_MS)} * ${HOUR_MS} AS hour,
              max(vendor) AS vendor, max(CASE WHEN ${isGa4} THEN 1 ELSE 0 END) AS ga4,
              max(CASE WHEN ${dialect.matches('gcd', binder.bind(CHOSEN))} THEN 1 ELSE 0 END) AS chose
            FROM (
              SELECT ${SESSION}, vendor, receivedAt, ${gcd} AS gcd FROM events
              WHERE ${REAL} AND sessionId <> '' AND ${binder.among('vendor', Object.keys(GOOGLE_VENDORS)).join(' AND ')}
                AND ${dialect.matches(gcd, binder.bind(DENIED_BY_DEFAULT))}
            ) AS denied GROUP BY ${SESSION}
          ) AS visits WHERE hour >= ${from} AND hour < ${to} GROUP BY domainId, hour`,
      }
    },
  })
}
