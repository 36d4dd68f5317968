import { EVENT_COLUMNS, SEGMENTS } from '../../core/event.ts'
import { quoteText } from './duckdb-dialect.ts'
import type { EventFile } from './manifest.ts'

/** SQL type of `params` in queries. */
export const PARAMS = 'MAP(VARCHAR, VARCHAR)'

type Column = keyof typeof EVENT_COLUMNS
const COLUMNS = Object.keys(EVENT_COLUMNS) as Column[]
const STORED_SEGMENTS = SEGMENTS.filter((name) => Object.hasOwn(EVENT_COLUMNS, name))

/**
 * Boolean column that is true if an event has `violations`. Searching this column is several times as fast as searching
 * the lists.
 */
export const VIOLATED = 'violated'
/** Columns of the files of the relation `events`, in order, excluding parameters. */
export const RELATION_COLUMNS = [...COLUMNS, VIOLATED]

/** Columns that a spool line stores once for all of its events. `seq` is that of the first event. */
const SHARED: ReadonlySet<Column> = new Set<Column>([
  ...(['seq', 'receivedAt', 'orgId', 'domainId', 'env', 'host', 'path', 'title', 'sessionId', 'customerId'] as const),
  ...(['version', 'browser', 'browserVersion', 'os', 'device', 'language', 'country'] as const),
])

/** SQL for default values, which are stored as NULL. */
const DEFAULTS: Partial<Record<Column, string>> = {
  id: `'evt_' || seq`,
  ts: 'receivedAt',
  env: `'prod'`,
  kind: `'event'`,
  consent: `'unknown'`,
  weight: '1',
}

/**
 * Columns whose defaults are stored as NULL in compacted files as well. In other columns, repeated strings compress
 * better.
 */
const COMPACTED_DEFAULTS = ['id', 'ts', 'consent'] as const

/** Expressions that store `RELATION_COLUMNS` in a compacted file. */
export const STORED_COLUMNS = RELATION_COLUMNS.map((name) => {
  const omitted = COMPACTED_DEFAULTS.find((own) => own === name)
  return omitted ? `nullif(${omitted}, ${DEFAULTS[omitted]}) AS ${omitted}` : name
})

/**
 * Expressions that restore `RELATION_COLUMNS` from a compacted file. Files written by earlier versions contain all
 * values.
 */
export const COMPACTED_COLUMNS = RELATION_COLUMNS.map((name) => {
  const omitted = COMPACTED_DEFAULTS.find((own) => own === name)
  return omitted ? `coalesce(${omitted}, ${DEFAULTS[omitted]}) AS ${omitted}` : name
})

/**
 * The events in spool files, in the form in which a fresh file stores them: default values as NULL, and `params` as
 * JSON. Skips incomplete lines, and the lines that commit batches.
 */
export function spooledEvents(paths: readonly string[], params: 'JSON' | typeof PARAMS | null = 'JSON'): string {
  const shared = COLUMNS.filter((name) => SHARED.has(name))
  const lists: Record<string, string> = { place: 'BIGINT' }
  for (const name of COLUMNS) if (!SHARED.has(name)) lists[name] = EVENT_COLUMNS[name]
  if (params !== null) lists.params = params
  const types = [
    ...shared.map((name) => `${name}: ${quoteText(EVENT_COLUMNS[name])}`),
    ...Object.entries(lists).map(([name, type]) => `${name}: ${quoteText(`${type}[]`)}`),
  ]
  const files = paths.map(quoteText).join(', ')
  // An incomplete line belongs to a batch that was never acknowledged.
  const lines = `read_json([${files}], format = 'newline_delimited', ignore_errors = true, columns = {${types.join(', ')}})`
  const each = [...shared, ...Object.keys(lists).map((name) => `unnest(${name}) AS ${name}`)].join(', ')
  const events = `SELECT ${each}, unnest(range(len(vendor))) AS index FROM ${lines}`
  const whole = '* EXCLUDE (place, index) REPLACE (seq + coalesce(place, index) AS seq)'
  return `(SELECT ${whole}, violations IS NOT NULL AS ${VIOLATED} FROM (${events}))`
}

/** The events in spool files, with parameters as a map or, which is cheaper, without parameters. */
export function spoolRelation(paths: readonly string[], withParams = true): string {
  return withDefaults(spooledEvents(paths, withParams ? PARAMS : null), withParams ? 'params' : null)
}

/**
 * SQL that reads event files. `options`: for `read_parquet`, starting with a comma. In files
 * of earlier versions, columns for segments are NULL, and `violated` is derived from `violations`.
 */
export function readFiles(
  folder: string,
  files: readonly Pick<EventFile, 'path' | 'hasSegments'>[],
  options = '',
): string {
  const paths = files.map(({ path }) => quoteText(`${folder}/${path}`)).join(', ')
  if (files.every(({ hasSegments }) => hasSegments)) return `read_parquet([${paths}]${options})`
  const segments = STORED_SEGMENTS.map((name) => `NULL::VARCHAR AS ${name}`).join(', ')
  const missing = `SELECT ${segments}, NULL::BOOLEAN AS ${VIOLATED} WHERE false`
  const events = `${missing} UNION ALL BY NAME SELECT * FROM read_parquet([${paths}], union_by_name = true)`
  return `(SELECT * REPLACE (coalesce(${VIOLATED}, len(violations) > 0, false) AS ${VIOLATED}) FROM (${events}))`
}

/** The events in fresh files, which `source` reads, with parameters as a map. */
export function freshRelation(source: string): string {
  return withDefaults(source, `params::JSON::${PARAMS} AS params`)
}

/** Like `freshRelation`, but with parameters as JSON. */
export function freshTexts(source: string): string {
  return withDefaults(source, 'params')
}

function withDefaults(events: string, params: string | null): string {
  const columns = COLUMNS.map((name) => (DEFAULTS[name] ? `coalesce(${name}, ${DEFAULTS[name]}) AS ${name}` : name))
  return `(SELECT ${[...columns, VIOLATED, ...(params === null ? [] : [params])].join(', ')} FROM ${events})`
}
