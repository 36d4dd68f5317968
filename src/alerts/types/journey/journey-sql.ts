import { HOUR_MS, type Instant, MINUTE_MS } from '../../../core/clock.ts'
import type { MembersOf } from '../../../labels/label.ts'
import { type Dialect, derivedColumns } from '../../../warehouse/dialect.ts'
import { type Binder, type Query, query, type Statement } from '../../../warehouse/query.ts'
import { spanOf } from '../../alert-windows.ts'
import { type AlertSql, type JourneyAlert, JourneyColumns } from './journey-matcher-sql.ts'

/** A session ends after this time without an event. Later events with the same id belong to another session. */
export const SESSION_GAP_MS = 30 * MINUTE_MS
/** Limit for long sessions: only events within this time before the last event are evaluated. */
const MAX_SESSION_MS = 24 * HOUR_MS - SESSION_GAP_MS
/**
 * A session with more events is assumed to come from a bot and is skipped, because a truncated session would seem to
 * fail.
 */
export const MAX_SESSION_EVENTS = 5000
/** Maximum number of session shapes evaluated per alert and window; the most frequent shapes are used. */
export const MAX_SHAPES = 10_000

/** Sessions with the same shape, of one alert in one domain. */
export interface ShapeRow {
  alertId: string
  domainId: string
  /** Index of the window in which the sessions ended. */
  windowIndex: number
  /** Host of the last event that has a host. */
  host: string | null
  /** The shape of the newest session, as parsed by `readShape`; empty when no event matches. */
  shape: string
  /** Sum of the sessions' weights, so not always an integer. A session's weight is the largest weight of its events. */
  sessions: number
  /** Time at which the last event was received, for the sessions that ended first and last. */
  firstAt: Instant
  lastAt: Instant
  /** `seq` of the last event of the newest session. */
  lastSeq: number
  startSeq: number
  startAt: Instant
}

/** `from <= instant < to` */
type Span = Query['window']

export interface JourneyOptions {
  membersOf: MembersOf
  /** Sampling: one in this many senders is read and represents all of them. */
  oneIn?: number
}

/**
 * Returns the query for the sessions that ended in each of these adjacent windows, grouped by shape, for all alerts at
 * once. A session is a sequence of events in one domain with the same id and without a gap of 30 minutes. A session
 * ends 30 minutes after its last event, so it ends in exactly one window, and later events do not change its shape.
 * Sessions without an event that can begin the journey are omitted and not counted.
 */
export function journeysQuery(
  orgId: string,
  alerts: readonly JourneyAlert[],
  windows: readonly Span[],
  options: JourneyOptions,
): Query {
  const ended = endedIn(spanOf(windows))
  return query('alerts.journeys', {
    orgId,
    window: eventsOf(ended),
    write: (binder) => journeysSql(alerts, windows, ended, options, binder),
  })
}

/** Returns the times of the last events of the sessions that end in this span. */
const endedIn = ({ from, to }: Span): Span => ({ from: from - SESSION_GAP_MS, to: to - SESSION_GAP_MS })

/** Returns the span of all events of the sessions whose last event is in this span, including later events. */
const eventsOf = ({ from, to }: Span): Span => ({ from: from - MAX_SESSION_MS, to: to + SESSION_GAP_MS })

function visitedTests(
  columns: JourneyColumns,
  alerts: readonly JourneyAlert[],
  { oneIn, dialect }: Omit<GroupingOptions, 'windows'>,
): string[] {
  return [
    `sessionId <> ''`,
    ...columns.inAnyDomain(alerts),
    ...(oneIn > 1 ? [dialect.sampled(['sessionId'], oneIn)] : []),
  ]
}

function journeysSql(
  alerts: readonly JourneyAlert[],
  windows: readonly Span[],
  ended: Span,
  { membersOf, oneIn = 1 }: JourneyOptions,
  binder: Binder,
): Statement {
  const { dialect } = binder
  const columns = new JourneyColumns(binder, membersOf)
  const parts = alerts.map((alert) => columns.alert(alert))
  const visited = visitedTests(columns, alerts, { oneIn, dialect })
  const grouping = { windows, oneIn, dialect }
  const sql = `
    SELECT * FROM (
      WITH ${eventsSql(columns, dialect)},
      ${visitsSql(parts, ended, visited)},
      ${endedSessionsSql(columns, ended)},
      ${marksSql(columns, parts, grouping)},
      ${shapesSql(columns, parts, grouping)}
    )`
  const { keys, wholeParams, anyTests } = columns
  return { sql, keys: [...keys], wholeParams, anyTests }
}

/** Columns of the events of sessions, in addition to one column per matcher and filter. */
const EVENT_COLUMNS = ['domainId', 'receivedAt', 'ts', 'seq', 'host', 'weight']

/** Returns SQL for all events with one column per matcher. `columns`: further columns of `events`. */
function eventsSql({ columns: tests }: JourneyColumns, { inlined }: Dialect, columns: readonly string[] = []): string {
  const matches = [...tests].map(([name, sql]) => `${sql} AS ${name}`)
  return `tested AS ${inlined} (
    SELECT ${[...EVENT_COLUMNS, 'sessionId', ...columns, ...matches].join(', ')} FROM events
  )`
}

/**
 * Returns SQL for the events grouped by id. Most ids have one session; splitting the events of other ids into sessions
 * costs many times as much. `hasGap` is true for all ids that may have a gap.
 */
function visitsSql(parts: readonly AlertSql[], { from, to }: Span, visited: readonly string[]): string {
  const where = visited.join(' AND ')
  // In a short window, far fewer sessions end than occur in the preceding day.
  const isShort = to - from < MAX_SESSION_MS
  const recent = `SEMI JOIN (
      SELECT DISTINCT domainId, sessionId FROM events WHERE receivedAt >= ${from} AND receivedAt < ${to} AND ${where}
    ) AS recent USING (domainId, sessionId)`
  return `visits AS MATERIALIZED (
    SELECT domainId, sessionId, min(seq) AS sid, max(receivedAt) AS lastAt,
      max(receivedAt) - min(receivedAt) >= ${SESSION_GAP_MS} AS hasGap
    FROM tested ${isShort ? recent : `WHERE ${where}`}
    GROUP BY domainId, sessionId
    HAVING max(receivedAt) >= ${from} AND min(receivedAt) < ${to}
      AND (${parts.map(({ matters }) => `(${matters})`).join(' OR ')})
  )`
}

/**
 * Returns SQL for the events of the sessions that ended. `sid` is the `seq` of one event of the session, `lastAt` the
 * time of its last event.
 */
function endedSessionsSql(
  { columns: tests }: JourneyColumns,
  { from, to }: Span,
  columns: readonly string[] = [],
): string {
  const visit = 'PARTITION BY domainId, sessionId ORDER BY receivedAt, seq'
  const names = [...EVENT_COLUMNS, ...columns, ...tests.keys()].join(', ')
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
            FROM tested
            SEMI JOIN (SELECT domainId, sessionId FROM visits WHERE hasGap) AS gapped USING (domainId, sessionId)
          )
        )
      )
      WHERE ${hasEnded} AND receivedAt >= lastAt - ${MAX_SESSION_MS}
    ),
    walked AS MATERIALIZED (
      SELECT sid, lastAt, ${names} FROM cut
      UNION ALL
      SELECT sid, lastAt, ${names} FROM tested JOIN (
        SELECT domainId, sessionId, sid, lastAt FROM visits WHERE NOT hasGap AND ${hasEnded}
      ) AS whole USING (domainId, sessionId)
    )`
}

/** Window for the running number of a session's events that match a matcher. */
const SESSION_ORDER = 'PARTITION BY sid ORDER BY ts, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'

const anyMatcher = ({ matcherColumns }: JourneyColumns) =>
  matcherColumns.length > 0 ? matcherColumns.join(' OR ') : '(1 = 0)'

interface GroupingOptions {
  windows: readonly Span[]
  oneIn: number
  dialect: Dialect
}

/** Returns SQL for the sessions, and for the hash of each session's matches: `mark0` for the first alert, and so on. */
function marksSql(
  columns: JourneyColumns,
  parts: readonly AlertSql[],
  { windows, oneIn, dialect }: GroupingOptions,
): string {
  const each = (write: (part: AlertSql, index: number) => string) => parts.map(write).join('')
  const { anyTrue, argMax, hash } = dialect
  return `
    ended AS (
      SELECT sid, any_value(domainId) AS domainId, ${argMax('host', 'seq')} AS host, max(weight) * ${oneIn} AS weight,
        max(lastAt) AS lastAt, max(seq) AS lastSeq, min(seq) AS startSeq, min(receivedAt) AS startAt,
        ${indexSql(dialect, `max(lastAt) + ${SESSION_GAP_MS}`, windows)} AS windowIndex
        ${columns.filterColumns.map((name) => `, ${anyTrue(name)} AS ${name}`).join('')}
      FROM walked GROUP BY sid HAVING count(*) <= ${MAX_SESSION_EVENTS}
    ),
    marked AS (
      SELECT sid${each(({ hit, code }, n) => `, bit_xor(${hash(`place${n} || ':' || ${code}`)}) FILTER (WHERE ${hit}) AS mark${n}`)}
      FROM (
        SELECT *${each(({ hit }, n) => `, count(*) FILTER (WHERE ${hit}) OVER (${SESSION_ORDER}) AS place${n}`)}
        FROM walked WHERE ${anyMatcher(columns)}
      )
      GROUP BY sid
    )`
}

/**
 * Returns SQL for sessions grouped by shape. The engine holds aggregated lists in memory, and there may be many
 * sessions. Sessions are therefore grouped by a hash of their matches, and the shape is output for only one session per
 * group.
 */
function shapesSql(columns: JourneyColumns, parts: readonly AlertSql[], { dialect }: GroupingOptions): string {
  const { matcherColumns } = columns
  const each = (write: (part: AlertSql, index: number) => string) => parts.map(write).join('')
  const fromStart = parts.filter(({ fromStart }) => fromStart).map(({ id }) => id)
  const orNothing = fromStart.length > 0 ? ` OR alertId IN (${fromStart.join(', ')})` : ''
  const { argMax, rowsOf, sortedRows } = dialect
  return `
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
      SELECT sid, ${sortedRows(['ts', 'seq', 'receivedAt', ...matcherColumns])} AS hits
      FROM walked SEMI JOIN (SELECT DISTINCT sid FROM shapes) AS chosen USING (sid) WHERE ${anyMatcher(columns)} GROUP BY sid
    )
    SELECT alertId, domainId, windowIndex, host, sessions, firstAt, lastAt, lastSeq, startSeq, startAt, CASE alertId${each(({ id, text }) => ` WHEN ${id} THEN ${text}`)} END AS shape
    FROM shapes LEFT JOIN shown USING (sid)`
}

/** The verdict on all sessions with the same matches. */
export interface SessionVerdict {
  /** `startSeq` of one of these sessions. */
  startSeq: number
  /** Number of the event that represents the session, among its events that match, from 1; 0 for its first event. */
  place: number
  violates: boolean
}

/** Columns of `events` that describe the visitor, the page and the release of an event. */
const SEGMENT_COLUMNS = [
  'browser',
  'browserVersion',
  'os',
  'device',
  'country',
  'language',
  'consent',
  'account',
  'path',
  'version',
]

/**
 * Returns the relation of the sessions that ended in the window and have one of these verdicts, one row per session: an
 * event, with `violates` and the session's weight, and without a `sessionId`. `window` is that of the events to read.
 */
export function sessionsRelation(
  alert: JourneyAlert,
  { window, verdicts }: { window: Span; verdicts: readonly SessionVerdict[] },
  options: JourneyOptions,
): { window: Span; write(binder: Binder): Statement } {
  const ended = endedIn(window)
  return {
    window: eventsOf(ended),
    write: (binder) => sessionsSql(alert, { windows: [window], ended, verdicts }, options, binder),
  }
}

function sessionsSql(
  alert: JourneyAlert,
  { windows, ended, verdicts }: { windows: readonly Span[]; ended: Span; verdicts: readonly SessionVerdict[] },
  { membersOf, oneIn = 1 }: JourneyOptions,
  binder: Binder,
): Statement {
  const { dialect } = binder
  const columns = new JourneyColumns(binder, membersOf)
  const part = columns.alert(alert)
  const rows = verdicts.map((verdict) => ({ ...verdict, violates: verdict.violates ? 1 : 0 }))
  const judged = dialect.rowsOfJson(binder.bind(JSON.stringify(rows)), {
    startSeq: 'integer',
    place: 'integer',
    violates: 'integer',
  })
  const sql = `
    SELECT * FROM (
      WITH ${eventsSql(columns, dialect, SEGMENT_COLUMNS)},
      ${visitsSql([part], ended, visitedTests(columns, [alert], { oneIn, dialect }))},
      ${endedSessionsSql(columns, ended, SEGMENT_COLUMNS)},
      ${marksSql(columns, [part], { windows, oneIn, dialect })},
      verdicts AS (
        SELECT coalesce(mark0, 0) AS mark, max(place) AS place, max(violates) AS violating
        FROM ${judged} AS judged JOIN ended USING (startSeq) LEFT JOIN marked USING (sid) GROUP BY 1
      ),
      compared AS (
        SELECT ended.sid AS sid, ended.weight AS represented, verdicts.place AS place, verdicts.violating = 1 AS violates
        FROM ended LEFT JOIN marked USING (sid) JOIN verdicts ON coalesce(mark0, 0) = verdicts.mark
        WHERE ${part.inScope} IS NOT NULL
      ),
      positions AS (
        SELECT sid, seq, CAST(count(*) FILTER (WHERE ${part.hit}) OVER (${SESSION_ORDER}) AS BIGINT) AS place
        FROM walked WHERE ${anyMatcher(columns)}
        UNION ALL
        SELECT sid, startSeq AS seq, CAST(0 AS BIGINT) AS place FROM ended
      ),
      shown AS (
        SELECT domainId, seq, receivedAt, represented, violates, ${SEGMENT_COLUMNS.join(', ')}
        FROM compared JOIN positions USING (sid, place) JOIN walked USING (sid, seq)
      )
      SELECT domainId, '' AS sessionId, seq, receivedAt, represented AS weight, violates,
        ${SEGMENT_COLUMNS.join(', ')}, ${derivedColumns(dialect)}
      FROM shown
    )`
  const { keys, wholeParams, anyTests } = columns
  return { sql, keys: [...keys], wholeParams, anyTests }
}

/** Returns SQL for the index of the window that contains an instant. The instant must be in one of the windows. */
function indexSql({ quotient }: Dialect, instant: string, windows: readonly Span[]): string {
  const [first, ...others] = windows
  if (!first || others.length === 0) return '0'
  const lengthMs = first.to - first.from
  if (others.every(({ from, to }) => to - from === lengthMs)) return quotient(`(${instant} - ${first.from})`, lengthMs)
  return `CASE${others.map(({ from }, place) => ` WHEN ${instant} < ${from} THEN ${place}`).join('')} ELSE ${others.length} END`
}
