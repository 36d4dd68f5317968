import { HOUR_MS, type Instant, MINUTE_MS } from '../../../core/clock.ts'
import type { Dialect } from '../../../warehouse/dialect.ts'
import { type Binder, type Query, query, type Statement } from '../../../warehouse/query.ts'
import { spanOf } from '../../window-index.ts'
import { type AlertSql, JourneyColumns, type MembersOf, type WalkedAlert } from './columns.ts'

/** Without an event for so long a session has ended; what its sender calls by the same id later is another one. */
export const SESSION_GAP_MS = 30 * MINUTE_MS
/** Of a longer session only the events of so long before its last one are walked. */
export const MAX_SESSION_MS = 24 * HOUR_MS - SESSION_GAP_MS
/** A session of more events than that is a program's, and is not judged: cut, it would show faults it doesn't have. */
export const MAX_SESSION_EVENTS = 5000
/** So many different shapes of an alert's sessions are looked at in one window, the most frequent ones. */
export const MAX_SHAPES = 10_000

/** Sessions of one alert in one domain that show the same. */
export interface ShapeRow {
  alertId: string
  domainId: string
  /** Place of the window in which they ended. */
  windowIndex: number
  /** Of their last event that has one. */
  host: string | null
  /** The newest of them, for `readShape`; empty when they show nothing that the alert asks for. */
  shape: string
  /** Sum of the sessions' weights, so not always whole. A session stands for as many as its most thinned part. */
  sessions: number
  /** When the last event of the first and of the last session that ended was received. */
  firstAt: Instant
  lastAt: Instant
  /** Of the newest of them. */
  lastSeq: number
  startSeq: number
  startAt: Instant
}

/** `from <= instant < to` */
type Span = Query['window']

export interface JourneyOptions {
  membersOf: MembersOf
  /** Of so many senders one is looked at, and counts for all of them. */
  oneIn?: number
}

/**
 * Asks for the sessions that ended in each of these touching windows, in groups of the same shape, once for all alerts.
 * A session is what one domain receives under one id without a gap of 30 minutes, and it ended 30 minutes behind its
 * last event: so a session ends in exactly one of windows that touch, and nothing that comes later changes what it
 * shows. Sessions without any event that the journey begins with are left out: they are no fault, and count nowhere.
 */
export function journeysQuery(
  orgId: string,
  alerts: readonly WalkedAlert[],
  windows: readonly Span[],
  options: JourneyOptions,
): Query {
  const span = spanOf(windows)
  const ended = { from: span.from - SESSION_GAP_MS, to: span.to - SESSION_GAP_MS }
  return query('alerts.journeys', {
    orgId,
    window: { from: ended.from - MAX_SESSION_MS, to: span.to },
    write: (binder) => journeysSql(alerts, windows, ended, options, binder),
  })
}

function journeysSql(
  alerts: readonly WalkedAlert[],
  windows: readonly Span[],
  ended: Span,
  { membersOf, oneIn = 1 }: JourneyOptions,
  binder: Binder,
): Statement {
  const { dialect } = binder
  const columns = new JourneyColumns(binder, membersOf)
  const parts = alerts.map((alert) => columns.alert(alert))
  const visited = [
    `sessionId <> ''`,
    ...columns.inAnyDomain(alerts),
    ...(oneIn > 1 ? [`${dialect.hash('sessionId')} % ${oneIn} = 0`] : []),
  ]
  const sql = `
    SELECT * FROM (
      WITH ${eventsSql(columns, dialect)},
      ${visitsSql(parts, ended, visited)},
      ${walkedSql(columns, ended)},
      ${shapesSql(columns, parts, { windows, oneIn, dialect })}
    )`
  const { keys, wholeParams, anyTests } = columns
  return { sql, keys: [...keys], wholeParams, anyTests }
}

/** Every event with what it answers. */
function eventsSql({ columns }: JourneyColumns, { inlined }: Dialect): string {
  const answers = [...columns].map(([name, sql]) => `, ${sql} AS ${name}`).join('')
  return `answered AS ${inlined} (
    SELECT domainId, sessionId, receivedAt, ts, seq, host, weight${answers} FROM events
  )`
}

/**
 * What came under one id. Most ids are those of one session; the others have to be cut, which costs many times as much.
 * `hasGap` is true for all that may have a gap.
 */
function visitsSql(parts: readonly AlertSql[], { from, to }: Span, visited: readonly string[]): string {
  const where = visited.join(' AND ')
  // In a short window end far fewer sessions than are seen in the day before it.
  const isShort = to - from < MAX_SESSION_MS
  const recent = `SEMI JOIN (
      SELECT DISTINCT domainId, sessionId FROM events WHERE receivedAt >= ${from} AND receivedAt < ${to} AND ${where}
    ) AS recent USING (domainId, sessionId)`
  return `visits AS MATERIALIZED (
    SELECT domainId, sessionId, min(seq) AS sid, max(receivedAt) AS lastAt,
      max(receivedAt) - min(receivedAt) >= ${SESSION_GAP_MS} AS hasGap
    FROM answered ${isShort ? recent : `WHERE ${where}`}
    GROUP BY domainId, sessionId
    HAVING max(receivedAt) >= ${from} AND min(receivedAt) < ${to}
      AND (${parts.map(({ matters }) => `(${matters})`).join(' OR ')})
  )`
}

/** The events of the sessions that ended; `sid` is one of their `seq`, `lastAt` the time of their last one. */
function walkedSql({ columns }: JourneyColumns, { from, to }: Span): string {
  const visit = 'PARTITION BY domainId, sessionId ORDER BY receivedAt, seq'
  const names = ['domainId', 'receivedAt', 'ts', 'seq', 'host', 'weight', ...columns.keys()].join(', ')
  const hasEnded = `lastAt >= ${from} AND lastAt < ${to}`
  return `
    cut AS (
      SELECT * FROM (
        SELECT *, max(receivedAt) OVER (PARTITION BY sid) AS lastAt
        FROM (
          SELECT *, max(opens) OVER (${visit} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS sid
          FROM (
            SELECT *, CASE
                WHEN receivedAt - lag(receivedAt) OVER (${visit}) < ${SESSION_GAP_MS} THEN NULL ELSE seq
              END AS opens
            FROM answered
            SEMI JOIN (SELECT domainId, sessionId FROM visits WHERE hasGap) AS gapped USING (domainId, sessionId)
          )
        )
      )
      WHERE ${hasEnded} AND receivedAt >= lastAt - ${MAX_SESSION_MS}
    ),
    walked AS MATERIALIZED (
      SELECT sid, lastAt, ${names} FROM cut
      UNION ALL
      SELECT sid, lastAt, ${names} FROM answered JOIN (
        SELECT domainId, sessionId, sid, lastAt FROM visits WHERE NOT hasGap AND ${hasEnded}
      ) AS whole USING (domainId, sessionId)
    )`
}

/**
 * Sessions in groups that show the same. Lists in an aggregate stay in memory, however many sessions there are. So
 * sessions are told apart by a hash of what they show in which place, and only one of each shape is then spelled out.
 */
function shapesSql(
  { askColumns, filterColumns }: JourneyColumns,
  parts: readonly AlertSql[],
  { windows, oneIn, dialect }: { windows: readonly Span[]; oneIn: number; dialect: Dialect },
): string {
  const each = (write: (part: AlertSql, index: number) => string) => parts.map(write).join('')
  const asked = askColumns.length > 0 ? askColumns.join(' OR ') : '(1 = 0)'
  const fromStart = parts.filter(({ fromStart }) => fromStart).map(({ id }) => id)
  const orNothing = fromStart.length > 0 ? ` OR alertId IN (${fromStart.join(', ')})` : ''
  const { anyTrue, argMax, hash, rowsOf, sortedRows } = dialect
  const session = 'PARTITION BY sid ORDER BY ts, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'
  return `
    ended AS (
      SELECT sid, any_value(domainId) AS domainId, ${argMax('host', 'seq')} AS host, max(weight) * ${oneIn} AS weight,
        max(lastAt) AS lastAt, max(seq) AS lastSeq, min(seq) AS startSeq, min(receivedAt) AS startAt,
        ${indexSql(dialect, `max(lastAt) + ${SESSION_GAP_MS}`, windows)} AS windowIndex
        ${filterColumns.map((name) => `, ${anyTrue(name)} AS ${name}`).join('')}
      FROM walked GROUP BY sid HAVING count(*) <= ${MAX_SESSION_EVENTS}
    ),
    marked AS (
      SELECT sid${each(({ hit, code }, n) => `, bit_xor(${hash(`place${n} || ':' || ${code}`)}) FILTER (WHERE ${hit}) AS mark${n}`)}
      FROM (
        SELECT *${each(({ hit }, n) => `, count(*) FILTER (WHERE ${hit}) OVER (${session}) AS place${n}`)}
        FROM walked WHERE ${asked}
      )
      GROUP BY sid
    ),
    sessions AS (
      SELECT ended.*, ${rowsOf({ alertId: parts.map(({ inScope }) => inScope), mark: parts.map((_, n) => `mark${n}`) })}
      FROM ended LEFT JOIN marked USING (sid)
    ),
    shapes AS MATERIALIZED (
      SELECT alertId, domainId, windowIndex, host, sum(weight) AS sessions, min(lastAt) AS firstAt, max(lastAt) AS lastAt,
        max(lastSeq) AS lastSeq, ${argMax('startSeq', 'lastSeq')} AS startSeq,
        ${argMax('startAt', 'lastSeq')} AS startAt, ${argMax('sid', 'lastSeq')} AS sid
      FROM sessions WHERE alertId IS NOT NULL AND (mark IS NOT NULL${orNothing})
      GROUP BY alertId, domainId, windowIndex, host, mark
      QUALIFY row_number() OVER (
        PARTITION BY alertId, windowIndex ORDER BY sum(weight) DESC, domainId, mark, host
      ) <= ${MAX_SHAPES}
    ),
    shown AS (
      SELECT sid, ${sortedRows(['ts', 'seq', 'receivedAt', ...askColumns])} AS hits
      FROM walked SEMI JOIN (SELECT DISTINCT sid FROM shapes) AS chosen USING (sid) WHERE ${asked} GROUP BY sid
    )
    SELECT alertId, domainId, windowIndex, host, sessions, firstAt, lastAt, lastSeq, startSeq, startAt, CASE alertId${each(({ id, text }) => ` WHEN ${id} THEN ${text}`)} END AS shape
    FROM shapes LEFT JOIN shown USING (sid)`
}

/** The place of the window that holds an instant which one of them does. */
function indexSql({ quotient }: Dialect, instant: string, windows: readonly Span[]): string {
  const [first, ...others] = windows
  if (!first || others.length === 0) return '0'
  const lengthMs = first.to - first.from
  if (others.every(({ from, to }) => to - from === lengthMs)) return quotient(`(${instant} - ${first.from})`, lengthMs)
  return `CASE${others.map(({ from }, place) => ` WHEN ${instant} < ${from} THEN ${place}`).join('')} ELSE ${others.length} END`
}
