import { EVENT_COLUMNS, type StoredEvent } from '../../core/event.ts'
import { BLANK_PATTERN } from '../../core/value-type.ts'
import { PAGE_VIEWS } from '../../decoders/page-view.ts'
import { derivedColumns, isStorable, samplePartSql } from '../dialect.ts'
import type { Query, WrittenQuery } from '../query.ts'
import { MARK_BUCKETS } from '../relation-columns.ts'
import { clickhouseDialect, columnName, quoteName, quoteText } from './clickhouse-dialect.ts'
import { EVENT_TYPES, nameOfPath, pathOf, type Table } from './clickhouse-schema.ts'

const DERIVED = derivedColumns(clickhouseDialect)
const SAMPLE_PART = samplePartSql(clickhouseDialect)
const PAGE_VIEW_NAMES = PAGE_VIEWS.map(quoteText).join(', ')
const MINUTE_COUNTS: Table = 'counts'
const QUARTER_COUNTS: Table = 'counts_quarter'

/** Stored columns of `events`, except parameters. An event that the sender gave no id is stored with an empty one. */
const STORED = [...Object.keys(EVENT_COLUMNS), 'violated'].map((name) =>
  name === 'id' ? `if(id = '', concat('evt_', toString(seq)), id) AS id` : name,
)

/** All parameters as a map. */
const PAIRS = `JSONExtractKeysAndValues(toJSONString(j), 'String')`
const PARAMS = `mapFromArrays(arrayMap(p -> ${nameOfPath('p.1')}, ${PAIRS}), arrayMap(p -> p.2, ${PAIRS}))`

type Scope = Pick<Query, 'orgId' | 'window'>

export interface RelationOptions {
  /** Counts of earlier minutes are read by quarter-hour. */
  minutesFrom: number
  /** Copies of events that replace the stored events with the same number. */
  copies?: readonly StoredEvent[]
  /** All parameter names in the window. Default: unknown. */
  names?: readonly string[] | undefined
}

/** The relation of a query as one SELECT. */
export function relationOf(query: Query, statement: WrittenQuery, options: RelationOptions): string {
  switch (query.over) {
    case 'counts':
      return countsRelation(query, options)
    case 'names':
      return namesRelation(query)
    case 'pages':
      return `SELECT * FROM pages WHERE ${scopeOf(query, 'receivedAt')}`
    case 'parameters':
      return parametersRelation(query, statement, options.names)
    default:
      return eventsRelation(query, statement, options.copies)
  }
}

/** All events of an organization in a window, with all stored columns and `params`, as one SELECT. */
export function wholeEvents(orgId: string, window: Query['window']): string {
  return eventsRelation({ orgId, window }, { sql: '', params: {}, wholeParams: true })
}

function scopeOf({ orgId, window }: Scope, time: string): string {
  const tests = [`${time} >= ${window.from}`, `${time} < ${window.to}`]
  if (orgId !== null) tests.unshift(`orgId = ${quoteText(orgId)}`)
  return tests.join(' AND ')
}

function countsRelation({ orgId, window }: Scope, { minutesFrom }: RelationOptions): string {
  const columns = `orgId, domainId, vendor, event, env, minute, events, weight,
    if(lower(event) IN (${PAGE_VIEW_NAMES}), weight, 0) AS pageViews`
  const from = (table: Table, part: Query['window']) =>
    `SELECT ${columns} FROM ${table} WHERE ${scopeOf({ orgId, window: part }, 'minute')}`
  if (window.from >= minutesFrom) return from(MINUTE_COUNTS, window)
  const recent = from(MINUTE_COUNTS, { from: Math.max(window.from, minutesFrom), to: window.to })
  const older = from(QUARTER_COUNTS, { from: window.from, to: Math.min(window.to, minutesFrom) })
  return `${recent}\nUNION ALL\n${older}`
}

function namesRelation({ orgId, window }: Scope): string {
  const day = (instant: number) => `toDate(fromUnixTimestamp64Milli(toInt64(${instant}), 'UTC'), 'UTC')`
  const latest = Math.min(window.to, LATEST)
  const tests = [`day >= ${day(Math.max(0, window.from))}`, `day <= ${day(latest)}`]
  if (orgId !== null) tests.unshift(`orgId = ${quoteText(orgId)}`)
  return `SELECT DISTINCT name FROM names WHERE ${tests.join(' AND ')}`
}

/** The end of the range of dates. */
const LATEST = Date.UTC(2149, 0, 1)

function eventsRelation(
  query: Scope,
  { keys = [], anyTests = [], where, wholeParams = false }: WrittenQuery,
  copies: readonly StoredEvent[] = [],
): string {
  const columnOf = (key: string, stored: string) =>
    `${isStorable(key) ? stored : `CAST(NULL, 'Nullable(String)')`} AS ${quoteName(columnName(key))}`
  const parameters = keys.map((key) => columnOf(key, `j.${pathOf(key)}.:String`))
  const params = wholeParams || anyTests.length > 0 ? [`${PARAMS} AS params`] : []
  const any = anyTests.map(({ column, of }) => {
    const test = of(null)
    return `${clickhouseDialect.anyValue((value) => test.replaceAll('{value}', () => value))} AS ${quoteName(column)}`
  })
  const derive = (source: string) => {
    const all = `SELECT ${['*', DERIVED, ...any].join(', ')} FROM (${source})`
    return where === undefined ? all : `SELECT * FROM (${all}) WHERE ${where}`
  }
  const stored = `SELECT ${[...STORED, ...parameters, ...params].join(', ')} FROM events WHERE ${scopeOf(query, 'receivedAt')}`
  if (copies.length === 0) return derive(stored)
  const table = copiesTable(copies)
  const ofCopies = keys.map((key) => {
    const text = quoteText(key)
    return columnOf(key, `if(mapContains(params, ${text}), params[${text}], NULL)`)
  })
  const own = [...Object.keys(EVENT_COLUMNS), 'violated', ...ofCopies, ...(params.length > 0 ? ['params'] : [])]
  return derive(
    `${stored} AND seq GLOBAL NOT IN (SELECT seq FROM ${table})\nUNION ALL\nSELECT ${own.join(', ')} FROM ${table}`,
  )
}

/** A table that contains these events. */
function copiesTable(copies: readonly StoredEvent[]): string {
  const types = { ...EVENT_TYPES, violated: 'Bool', params: 'Map(String, String)' }
  const structure = Object.entries(types).map(([name, type]) => `${name} ${type}`)
  const lines = copies.map(({ segments, ...event }) => {
    const violations = event.violations ?? []
    return JSON.stringify({ ...event, ...segments, violations, violated: violations.length > 0 })
  })
  return `format(JSONEachRow, ${quoteText(structure.join(', '))}, ${quoteText(lines.join('\n'))})`
}

/**
 * Maximum number of parameters that are read as columns. Others share one column, from which a single one is expensive
 * to read.
 */
export const MAX_READ_COLUMNS = 256

/** Values of parameters by name, from their columns. This is ten times as fast as parsing the JSON of all parameters. */
function columnPairs(names: readonly string[]): string {
  const pairs = names.map((name) => `(${quoteText(name)}, j.${pathOf(name)}.:String)`)
  return `arrayFilter(p -> isNotNull(p.2), CAST([${pairs.join(', ')}], 'Array(Tuple(String, Nullable(String)))'))`
}

function parametersRelation(query: Scope, { where = 'true', form }: WrittenQuery, known?: readonly string[]): string {
  if (!form) throw new Error('a query over parameters requires a form')
  const { by, only, except = [], as, among = [] } = form
  const list = (texts: readonly string[]) => `(${texts.map(quoteText).join(', ')})`
  const grouped = by.map((column) => (column === 'samplePart' ? `toInt32(${SAMPLE_PART}) AS samplePart` : column))
  const names = (only ?? known)?.filter((name) => isStorable(name) && !except.includes(name))
  const isRead = names !== undefined && names.length <= MAX_READ_COLUMNS
  const pairs = isRead ? columnPairs(names) : PAIRS
  const events = `SELECT ${grouped.join(', ')}, weight, receivedAt, arrayJoin(pairs) AS pair
    FROM (SELECT ${STORED.join(', ')}, ${pairs} AS pairs, ${DERIVED} FROM events WHERE ${scopeOf(query, 'receivedAt')}) AS derived
    WHERE kind <> 'library' AND ${where}`
  const tests = [
    `NOT match(text, ${quoteText(`(?-s)(${BLANK_PATTERN})`)})`,
    ...(only && !isRead ? [`key IN ${list(only)}`] : []),
    ...(except.length > 0 && !isRead ? [`key NOT IN ${list(except)}`] : []),
  ]
  const key = isRead ? 'pair.1' : nameOfPath('pair.1')
  const named = `SELECT ${by.join(', ')}, weight, receivedAt, ${key} AS key, assumeNotNull(pair.2) AS text FROM (${events})`
  const parameters = `SELECT * FROM (${named}) WHERE ${tests.join(' AND ')}`
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
  const listed = among.flatMap(({ list: own, values }) => values.map((value) => list([own.at(-1) ?? '', value])))
  const isListed = listed.length > 0 ? `tuple(key, text) IN (${listed.join(', ')})` : 'false'
  const listKey = [...by.filter((column) => column !== 'samplePart'), 'key'].join(', ')
  const value = among.length > 0 ? `if(tuple(${listKey}) NOT IN (${lists}) OR ${isListed}, text, NULL)` : 'text'
  return `SELECT ${group}, value, CAST(NULL, 'Nullable(Int32)') AS bucket, CAST(NULL, 'Nullable(Int32)') AS rank, ${counted}
    FROM (SELECT ${group}, weight, receivedAt, toNullable(${value}) AS value FROM (${parameters})) GROUP BY ${group}, value`
}
