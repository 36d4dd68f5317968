import { SESSION_GAP_MS } from '../alerts/types/journey/journey-sql.ts'
import { type Dialect, SAMPLE_PARTS } from '../warehouse/dialect.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import { sessionTests } from './sample-estimates.ts'

/** Maximum number of named paths per step. The paths with the most sessions are named. */
const MAX_PATHS = 20
/** Maximum number of vendor events read per node, most frequent first. Masking may merge several of them. */
const MAX_FIRED = 100
/** Maximum number of distinct paths that are named. Further paths are neither named nor scanned for personal data. */
export const MAX_NAMED_PATHS = 50_000
/** Maximum number of events in memory at once. Larger scopes are processed in parts. */
const EVENTS_AT_ONCE = 1_200_000

/** The events from which flows are built. */
export interface FlowScope {
  orgId: string
  /** Empty for all domains of the organization. */
  domainIds: readonly string[]
  window: Query['window']
  /** Sampling: one in this many senders is read; 1: all. */
  oneIn: number
}

/** Number of senders (distinct combinations of domain and session id) and of their events. */
export interface SenderRow {
  senders: number
  /** Senders whose events are far enough apart to form several sessions. */
  gapped: number
  events: number
}

export function sendersQuery(scope: FlowScope): Query {
  return query('insights.flow-senders', {
    orgId: scope.orgId,
    window: scope.window,
    write(binder) {
      return {
        sql: `SELECT count(*) AS senders, sum(CASE WHEN span >= ${SESSION_GAP_MS} THEN 1 ELSE 0 END) AS gapped,
            sum(events) AS events
          FROM (
            SELECT max(receivedAt) - min(receivedAt) AS span, count(*) AS events
            FROM events WHERE ${testsOf(scope, binder).join(' AND ')} GROUP BY domainId, sessionId
          )`,
      }
    },
  })
}

/** Returns the query for the names of paths, with identifiers replaced. The names with the most events come first. */
export function pathsQuery(scope: FlowScope): Query {
  return query('insights.flow-paths', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({
      sql: `SELECT name FROM (${namedPaths(scope, binder)}) AS named GROUP BY name
        ORDER BY sum(events) DESC, name LIMIT ${MAX_NAMED_PATHS + 1}`,
    }),
  })
}

/** Options for reading sessions. */
export interface FlowOptions {
  maxSteps: number
  /** One in this many senders of the scope is read, in addition to the scope's own sampling; 1: all. */
  furtherOneIn: number
  senders: SenderRow
  /** Path names whose displayed name differs from the name in `pathsQuery`. */
  masked: readonly { name: string; shown: string }[]
  /** True when only the names returned by `pathsQuery` are displayed. */
  isCut: boolean
}

/** One row of flow data. Columns that do not apply to the kind of row are NULL. */
export interface FlowRow {
  /**
   * `session`: all sessions. `node`: sessions at a path. `link`: sessions that continued from this path to another.
   * `fired`: events on this path.
   */
  kind: 'session' | 'node' | 'link' | 'fired'
  step: number
  /** Null for all unnamed paths together. */
  path: string | null
  toPath: string | null
  vendor: string | null
  event: string | null
  count: number
  /** Sum of the squares of the counts by part of the sample; `count` squared if nothing was sampled. */
  squares: number
}

/**
 * Returns the query for the steps of all sessions. Each sender's events are sorted as a list of numbers, which is much
 * cheaper than window functions over all events. Large numbers of senders are processed in parts.
 */
export function flowsQuery(scope: FlowScope, options: FlowOptions): Query {
  return query('insights.flows', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({ sql: `SELECT * FROM (${flowsSql(scope, options, binder)})` }),
  })
}

function testsOf({ domainIds, oneIn }: FlowScope, binder: Binder): string[] {
  return [`sessionId <> ''`, ...binder.among('domainId', domainIds), ...sessionTests(oneIn, binder)]
}

/** A path segment that is an identifier, including the slashes around it. */
const IDENTIFIER =
  '/([0-9]+|[0-9A-Fa-f]{16,}|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})/'

/**
 * Returns SQL for the path with its identifiers replaced. Slashes are doubled first, so that adjacent identifiers can
 * both be matched.
 */
function nameOf(path: string, { replaceAll }: Dialect): string {
  const doubled = replaceAll(`('/' || ${path} || '/')`, `'(/)'`, '//')
  const starred = replaceAll(doubled, `'(${IDENTIFIER})'`, '/*/')
  const halved = replaceAll(starred, `'(//)'`, '/')
  return replaceAll(halved, `'(^/|/$)'`, '')
}

/** Returns SQL for every path, with its name and number of events. */
function namedPaths(scope: FlowScope, binder: Binder): string {
  const tests = [...testsOf(scope, binder), `path <> ''`, `kind <> 'library'`]
  return `SELECT path, ${nameOf('path', binder.dialect)} AS name, events FROM (
    SELECT path, count(*) AS events FROM events WHERE ${tests.join(' AND ')} GROUP BY path
  )`
}

function flowsSql(scope: FlowScope, options: FlowOptions, binder: Binder): string {
  const { dialect } = binder
  const { maxSteps, furtherOneIn, senders } = options
  const oneIn = scope.oneIn * furtherOneIn
  const parts = Math.max(1, Math.ceil(senders.events / furtherOneIn / EVENTS_AT_ONCE))
  const tests = testsOf(scope, binder)
  const sampled = testsOf({ ...scope, oneIn }, binder)
  const samplePart = oneIn > 1 ? `CAST(${dialect.hash('sessionId')} % ${SAMPLE_PARTS} AS INTEGER)` : '0'
  const stays = Array.from({ length: parts }, (_, part) => {
    const own = parts > 1 ? [`${dialect.hash('sessionId')} % ${parts} = ${part}`] : []
    const among = [...sampled, ...own].join(' AND ')
    return staysSql(among, { maxSteps, hasGaps: senders.gapped > 0, samplePart, dialect })
  })
  return `
    WITH ${pathsSql(scope, options, binder)},
    names AS MATERIALIZED (
      SELECT vendor, event, CAST(row_number() OVER (ORDER BY vendor, event) AS INTEGER) AS nameId
      FROM (SELECT DISTINCT vendor, event FROM events WHERE ${tests.join(' AND ')}) AS pairs
    ),
    stays AS MATERIALIZED (
      SELECT samplePart, stay.step AS step, stay.pathId AS pathId, stay.next AS next, stay.fired AS fired
      FROM (${stays.join(' UNION ALL ')}) AS lists
    ),
    reached AS MATERIALIZED (
      SELECT step, pathId, next, samplePart, count(*) AS sessions FROM stays GROUP BY step, pathId, next, samplePart
    ),
    ${nodesSql()}
    ${answerSql()}`
}

/**
 * Returns SQL for paths. `pathId` identifies the displayed name. `shown` is NULL when the name must not be displayed.
 */
function pathsSql(scope: FlowScope, { masked, isCut }: FlowOptions, binder: Binder): string {
  const shown = binder.dialect.rowsOfJson(binder.bind(JSON.stringify(masked)), { name: 'text', shown: 'text' })
  const rank = isCut
    ? `CASE WHEN dense_rank() OVER (ORDER BY nameEvents DESC, name) <= ${MAX_NAMED_PATHS} THEN 1 ELSE 0 END`
    : '1'
  return `paths AS MATERIALIZED (
      SELECT path, CAST(dense_rank() OVER (ORDER BY shown) AS INTEGER) AS pathId, shown, isNamed FROM (
        SELECT path, coalesce(masked.shown, named.name) AS shown, isNamed FROM (
          SELECT path, name, ${rank} AS isNamed
          FROM (SELECT path, name, sum(events) OVER (PARTITION BY name) AS nameEvents FROM (${namedPaths(scope, binder)}) AS one) AS ranked
        ) AS named LEFT JOIN ${shown} AS masked ON masked.name = named.name
      ) AS spelled
    ),
    shownPaths AS MATERIALIZED (
      SELECT pathId, max(shown) AS shown, max(isNamed) AS isNamed FROM paths GROUP BY pathId
    )`
}

interface StaysParts {
  maxSteps: number
  hasGaps: boolean
  /** SQL for the part of the sample that contains a sender. */
  samplePart: string
  dialect: Dialect
}

/**
 * Returns SQL for the first page stays of each session, one row `stay` per stay: its step, its path, the path of the
 * next stay (NULL for the last stay read), and its events. `samplePart`: the part of the sample with its sender.
 */
function staysSql(tests: string, { maxSteps, hasGaps, samplePart, dialect }: StaysParts): string {
  const { row, upTo, mapList: each, filterList: those, slice } = dialect
  const told = `(
    SELECT domainId, sessionId, receivedAt, ts, seq, CASE WHEN kind <> 'library' THEN pathId END AS pathId, nameId
    FROM events LEFT JOIN paths USING (path) LEFT JOIN names USING (vendor, event) WHERE ${tests}
  ) AS told`
  const end = (place: string) =>
    `CASE WHEN ${place} < length(starts) THEN starts[${place} + 1] - 1 ELSE length(events) END`
  const last = `least(length(starts), ${maxSteps})`
  const stay = row({
    step: 'n - 1',
    pathId: 'events[starts[n]].pathId',
    next: `CASE WHEN n < ${last} THEN events[starts[n + 1]].pathId END`,
    fired: each(slice('events', 'starts[n]', end('n')), 'one', 'one.nameId'),
  })
  const starts = those(
    upTo('length(events)'),
    'n',
    'CASE WHEN n = 1 THEN true ELSE events[n].pathId <> events[n - 1].pathId END',
  )
  const sessions = [wholeSql(told, samplePart, dialect), ...(hasGaps ? [splitSql(told, samplePart, dialect)] : [])]
  return `SELECT samplePart, unnest(${each(upTo(last), 'n', stay)}) AS stay FROM (
    SELECT samplePart, events, ${starts} AS starts FROM (${sessions.join(' UNION ALL ')}) AS sessions
  ) AS begun`
}

const ORDERED = ['ts', 'seq', 'pathId', 'nameId']

/** Returns SQL for the events with a path from senders that have one session. */
function wholeSql(told: string, samplePart: string, { sortedRows }: Dialect): string {
  return `SELECT ${samplePart} AS samplePart, ${sortedRows(ORDERED, 'pathId IS NOT NULL')} AS events FROM ${told} GROUP BY domainId, sessionId
    HAVING max(receivedAt) - min(receivedAt) < ${SESSION_GAP_MS} AND count(pathId) > 0`
}

/** Returns SQL for the events with a path, by session, from senders that may have several sessions. */
function splitSql(
  told: string,
  samplePart: string,
  { sortedRows, sorted, row, upTo, mapList: each, filterList: those, slice }: Dialect,
): string {
  const arrivals = `SELECT ${samplePart} AS samplePart, ${sortedRows(['receivedAt', ...ORDERED.slice(1), 'ts'])} AS arrivals FROM ${told} GROUP BY domainId, sessionId
    HAVING max(receivedAt) - min(receivedAt) >= ${SESSION_GAP_MS}`
  const opens = those(
    upTo('length(arrivals)'),
    'n',
    `CASE WHEN n = 1 THEN true ELSE arrivals[n].receivedAt - arrivals[n - 1].receivedAt >= ${SESSION_GAP_MS} END`,
  )
  const end = 'CASE WHEN n < length(opens) THEN opens[n + 1] - 1 ELSE length(arrivals) END'
  const own = those(slice('arrivals', 'opens[n]', end), 'one', 'one.pathId IS NOT NULL')
  const ordered = each(own, 'one', row(Object.fromEntries(ORDERED.map((name) => [name, `one.${name}`]))))
  return `SELECT samplePart, events FROM (
      SELECT samplePart, unnest(${each(upTo('length(opens)'), 'n', sorted(ordered))}) AS events
      FROM (SELECT samplePart, arrivals, ${opens} AS opens FROM (${arrivals}) AS arrived) AS opened
    ) AS split WHERE length(events) > 0`
}

/** Returns SQL for the name of each path in each step. `node` is 0 for paths that are unnamed in the step. */
function nodesSql(): string {
  return `nodes AS MATERIALIZED (
      SELECT step, pathId, sessions,
        CASE WHEN isNamed = 1 AND row_number() OVER (
          PARTITION BY step ORDER BY isNamed DESC, sessions DESC, shown
        ) <= ${MAX_PATHS} THEN pathId ELSE 0 END AS node
      FROM (SELECT step, pathId, sum(sessions) AS sessions FROM reached GROUP BY step, pathId) AS visited
      JOIN shownPaths USING (pathId)
    ),
    fired AS (
      SELECT step, node, nameId, sum(events) AS events, sum(events * events) AS squares FROM (
        SELECT step, node, nameId, samplePart, sum(events) AS events FROM (
          SELECT step, pathId, nameId, samplePart, count(*) AS events
          FROM (SELECT step, pathId, samplePart, unnest(fired) AS nameId FROM stays) AS one
          GROUP BY step, pathId, nameId, samplePart
        ) AS counted JOIN nodes USING (step, pathId) GROUP BY step, node, nameId, samplePart
      ) AS parts GROUP BY step, node, nameId
    ),
    ranked AS (
      SELECT step, node, nameId, events, squares, row_number() OVER (PARTITION BY step, node ORDER BY events DESC, nameId) AS place FROM fired
    )`
}

function answerSql(): string {
  const shown = (column: string, alias: string) => `LEFT JOIN shownPaths AS ${alias} ON ${alias}.pathId = ${column}`
  const sums = 'sum(sessions) AS "count", sum(sessions * sessions) AS squares'
  return `SELECT 'session' AS kind, 0 AS step, NULL AS path, NULL AS toPath, NULL AS vendor, NULL AS event, ${sums}
    FROM (SELECT samplePart, sum(sessions) AS sessions FROM reached WHERE step = 0 GROUP BY samplePart) AS parts
    UNION ALL
    SELECT 'node' AS kind, step, shown AS path, NULL AS toPath, NULL AS vendor, NULL AS event, ${sums} FROM (
      SELECT step, node, samplePart, sum(reached.sessions) AS sessions FROM reached
      JOIN nodes USING (step, pathId) GROUP BY step, node, samplePart
    ) AS parts ${shown('node', 'here')} GROUP BY step, shown
    UNION ALL
    SELECT 'link' AS kind, step, here.shown AS path, there.shown AS toPath, NULL AS vendor, NULL AS event, ${sums} FROM (
      SELECT reached.step AS step, source.node AS source, target.node AS target, samplePart, sum(reached.sessions) AS sessions
      FROM reached
      JOIN nodes AS source ON source.step = reached.step AND source.pathId = reached.pathId
      JOIN nodes AS target ON target.step = reached.step + 1 AND target.pathId = reached.next
      GROUP BY reached.step, source.node, target.node, samplePart
    ) AS moved ${shown('source', 'here')} ${shown('target', 'there')} GROUP BY step, here.shown, there.shown
    UNION ALL
    SELECT 'fired' AS kind, step, shown AS path, NULL AS toPath, vendor, event, events AS "count", squares
    FROM ranked JOIN names ON names.nameId = ranked.nameId ${shown('node', 'here')} WHERE place <= ${MAX_FIRED}`
}
