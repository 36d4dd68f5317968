import { EVENT_COLUMNS, type StoredEvent } from '../../src/core/event.ts'
import { PAGE_COLUMNS, type StoredPage } from '../../src/core/stored-page-view.ts'
import { BLANK_PATTERN } from '../../src/core/value-type.ts'
import { PAGE_VIEWS } from '../../src/decoders/page-view.ts'
import { derivedColumns } from '../../src/warehouse/dialect.ts'
import { type Query, type WrittenQuery, writeQuery } from '../../src/warehouse/query.ts'
import { MARK_BUCKETS } from '../../src/warehouse/relation-columns.ts'
import { clickhouseDialect, columnName, quoteName, quoteText } from './clickhouse-dialect.ts'

/**
 * Without these settings, ClickHouse returns 0 for sums of no rows and the empty string for joins without a match. It
 * also resolves a name in an expression to the alias of another column, and evaluates materialized CTEs at every use.
 */
const SETTINGS = {
  aggregate_functions_null_for_empty: 1,
  join_use_nulls: 1,
  prefer_column_name_to_alias: 1,
  enable_named_columns_in_function_tuple: 1,
  enable_materialized_cte: 1,
  precise_float_parsing: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 1,
}

const TYPES: Record<string, string> = {
  BIGINT: 'Int64',
  DOUBLE: 'Float64',
  VARCHAR: 'String',
  'VARCHAR[]': 'Array(String)',
  'DOUBLE[]': 'Array(Float64)',
  BOOLEAN: 'Bool',
}
/** Columns that are never NULL. */
const SURE = [
  'seq',
  'id',
  'ts',
  'receivedAt',
  'orgId',
  'domainId',
  'env',
  'vendor',
  'event',
  'kind',
  'consent',
  'weight',
  'violations',
]

/** Columns of pages that are never NULL. */
const SURE_OF_PAGES = ['page', 'loaf', 'vendor', 'vendorHost', 'requests', 'durMs', ...SURE]

const columnsOf = (columns: Readonly<Record<string, string>>, sure: readonly string[]) =>
  Object.entries(columns).map(([name, type]) => {
    const own = TYPES[type] ?? type
    return `${name} ${sure.includes(name) ? own : `Nullable(${own})`}`
  })
const COLUMNS = columnsOf(EVENT_COLUMNS, SURE)

type Session = import('chdb').Session

/**
 * Loads ClickHouse. Returns a function that opens sessions, or the reason why ClickHouse can't be loaded on this
 * machine.
 */
export async function loadClickhouse(): Promise<{ open(): Session } | string> {
  try {
    const { Session } = await import('chdb')
    return { open: () => new Session() }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A second engine for the program's queries: ClickHouse in this process, with tables that contain the given events. */
export class ClickhouseHistory {
  private constructor(private readonly session: Session) {}

  static async with(
    session: Session,
    events: readonly StoredEvent[],
    pages: readonly StoredPage[] = [],
  ): Promise<ClickhouseHistory> {
    for (const [name, value] of Object.entries(SETTINGS)) session.query(`SET ${name} = ${value}`)
    session.query(
      `CREATE TABLE stored (${COLUMNS.join(', ')}, violated Bool, params Map(String, String))
       ENGINE = MergeTree ORDER BY (orgId, receivedAt, seq)`,
    )
    const lines = events.map(({ segments, ...event }) => {
      const violations = event.violations ?? []
      return `${JSON.stringify({ ...event, ...segments, violations, violated: violations.length > 0 })}\n`
    })
    await session.insert({ table: 'stored', values: Buffer.from(lines.join('')), format: 'JSONEachRow' })
    session.query(
      `CREATE TABLE measured (${columnsOf(PAGE_COLUMNS, SURE_OF_PAGES).join(', ')})
       ENGINE = MergeTree ORDER BY (orgId, receivedAt)`,
    )
    const views = pages.map((page) => `${JSON.stringify(page)}\n`)
    await session.insert({ table: 'measured', values: Buffer.from(views.join('')), format: 'JSONEachRow' })
    const pageViews = PAGE_VIEWS.map(quoteText).join(', ')
    session.query(
      `CREATE TABLE counted ENGINE = MergeTree ORDER BY (orgId, minute) AS
       SELECT orgId, domainId, vendor, event, env, intDiv(receivedAt, 60000) * 60000 AS minute,
         toInt64(count(*)) AS events, ifNull(sum(weight), 0) AS weight, toInt64(uniqExact(sessionId)) AS sessions,
         ifNull(sumIf(weight, lower(event) IN (${pageViews})), 0) AS pageViews
       FROM stored WHERE kind <> 'library' GROUP BY ALL`,
    )
    return new ClickhouseHistory(session)
  }

  /** Returns the rows of the result. The query's `read` function is not applied. */
  async query<T = Record<string, unknown>>(query: Query): Promise<T[]> {
    const { over = 'events' } = query
    if (query.masking) throw new Error('this engine does not support masked queries')
    const statement = writeQuery(query, clickhouseDialect)
    const relations = {
      counts: countsRelation,
      names: namesRelation,
      parameters: parametersRelation,
      events: eventsRelation,
      pages: pagesRelation,
    }
    const relation = relations[over](query, statement)
    const sql = `WITH ${over} AS (${relation})\n${statement.sql}`
    const answer = await this.session.queryBindAsync(sql, statement.params, { format: 'JSONEachRow' })
    return answer
      .text()
      .split('\n')
      .filter(Boolean)
      .map((line) => rowOf(JSON.parse(line)) as T)
  }

  close(): void {
    this.session.close()
  }
}

/** Restores NULL for empty lists, because lists are never NULL in ClickHouse. */
function rowOf(row: Record<string, unknown>): Record<string, unknown> {
  if (Array.isArray(row.violations) && row.violations.length === 0) row.violations = null
  return row
}

function scopeOf({ orgId, window }: Query, time: string): string {
  const tests = [`${time} >= ${window.from}`, `${time} < ${window.to}`]
  if (orgId !== null) tests.push(`orgId = ${quoteText(orgId)}`)
  return tests.join(' AND ')
}

const pagesRelation = (query: Query) => `SELECT * FROM measured WHERE ${scopeOf(query, 'receivedAt')}`
const countsRelation = (query: Query) => `SELECT * FROM counted WHERE ${scopeOf(query, 'minute')}`

const namesRelation = (query: Query) =>
  `SELECT DISTINCT arrayJoin(mapKeys(params)) AS name FROM stored WHERE ${scopeOf(query, 'receivedAt')}`

function eventsRelation(query: Query, { keys = [], anyTests = [], where }: WrittenQuery): string {
  const parameters = keys.map((key) => {
    const text = quoteText(key)
    return `if(mapContains(params, ${text}), params[${text}], NULL) AS ${quoteName(columnName(key))}`
  })
  const any = anyTests.map(({ column, of }) => {
    const test = of(null)
    return `${clickhouseDialect.anyValue((value) => test.replaceAll('{value}', () => value))} AS ${quoteName(column)}`
  })
  const all = `SELECT ${['*', derivedColumns(clickhouseDialect), ...parameters, ...any].join(', ')} FROM stored WHERE ${scopeOf(query, 'receivedAt')}`
  return where === undefined ? all : `SELECT * FROM (${all}) WHERE ${where}`
}

function parametersRelation(query: Query, { where = 'true', form }: WrittenQuery): string {
  if (!form) throw new Error('a query over parameters must specify them')
  const { by, only, except = [], as, among = [] } = form
  const list = (texts: readonly string[]) => `(${texts.map(quoteText).join(', ')})`
  const events = `SELECT ${by.join(', ')}, weight, receivedAt, arrayJoin(arrayZip(mapKeys(params), mapValues(params))) AS pair
    FROM (SELECT *, ${derivedColumns(clickhouseDialect)} FROM stored) AS derived WHERE ${scopeOf(query, 'receivedAt')} AND kind <> 'library' AND ${where}`
  const tests = [
    `NOT match(text, ${quoteText(`(?-s)(${BLANK_PATTERN})`)})`,
    ...(only ? [only.length > 0 ? `key IN ${list(only)}` : 'false'] : []),
    ...(except.length > 0 ? [`key NOT IN ${list(except)}`] : []),
  ]
  const parameters = `SELECT ${by.join(', ')}, weight, receivedAt, tupleElement(pair, 1) AS key, tupleElement(pair, 2) AS text
    FROM (${events}) WHERE ${tests.join(' AND ')}`
  const group = [...by, 'key'].join(', ')
  const counted = 'toInt64(count(*)) AS events, sum(weight) AS weight, max(receivedAt) AS lastAt'
  if (as === 'marks') {
    const rest = 'bitShiftRight(cityHash64(text), 13)'
    const marks = `SELECT ${group}, weight, receivedAt, toInt32(bitAnd(cityHash64(text), ${MARK_BUCKETS - 1})) AS bucket,
      toInt32(if(${rest} = 0, 52, 51 - floor(log2(${rest})))) AS zeros FROM (${parameters})`
    return `SELECT ${group}, CAST(NULL, 'Nullable(String)') AS value, bucket, max(zeros) AS rank, ${counted}
      FROM (${marks}) GROUP BY ${group}, bucket`
  }
  const lists = among.map(({ list: own }) => list(own)).join(', ')
  const named = among.flatMap(({ list: own, values }) => values.map((value) => list([own.at(-1) ?? '', value])))
  const isNamed = named.length > 0 ? `tuple(key, text) IN (${named.join(', ')})` : 'false'
  const value = among.length > 0 ? `if(tuple(${group}) NOT IN (${lists}) OR ${isNamed}, text, NULL)` : 'text'
  return `SELECT ${group}, value, CAST(NULL, 'Nullable(Int32)') AS bucket, CAST(NULL, 'Nullable(Int32)') AS rank, ${counted}
    FROM (SELECT ${group}, weight, receivedAt, toNullable(${value}) AS value FROM (${parameters})) GROUP BY ${group}, value`
}
