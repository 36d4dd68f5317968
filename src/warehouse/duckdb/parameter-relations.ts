import { BLANK_PATTERN } from '../../core/value-type.ts'
import { samplePartSql } from '../dialect.ts'
import type { ParameterForm } from '../query.ts'
import { MARK_BUCKETS } from '../relation-columns.ts'
import { columnName, duckdbDialect, quoteName, quoteText } from './duckdb-dialect.ts'
import { derivedSource, eventsRelation, filterFor, type Scope, type Sources } from './events-relation.ts'
import { type EventFile, isInScope } from './manifest.ts'

/**
 * Maximum number of keys counted in one pass. Each key's hash table uses 2 MB per thread, regardless of its content.
 */
const KEYS_AT_ONCE = 16
/** Lower maximum if only listed values are counted, because each key then requires a second table. */
const LISTED_KEYS_AT_ONCE = 4

const COUNTED = 'count(*)::BIGINT AS events, sum(weight)::DOUBLE AS weight, max(receivedAt) AS lastAt'

/**
 * The relation `parameters` as several SELECTs, each for a subset of the keys. Hash tables for hundreds of keys would
 * not fit in the engine's memory. A query runs on one SELECT at a time. All rows for a key are in the same SELECT.
 */
export function parameterRelations(sources: Sources, scope: Scope): string[] {
  const { form } = scope
  if (!form) throw new Error('a query over parameters requires a form')
  const keys = keysOf(
    sources.files.filter((file) => isInScope(file, scope)),
    form,
  )
  const atOnce = form.among ? LISTED_KEYS_AT_ONCE : KEYS_AT_ONCE
  if (keys.length <= atOnce) return [parametersRelation(sources, scope, form)]
  const parts: ParameterForm[] = [{ ...form, except: [...(form.except ?? []), ...keys] }]
  for (let at = 0; at < keys.length; at += atOnce) parts.push({ ...form, only: keys.slice(at, at + atOnce) })
  return parts.map((part) => parametersRelation(sources, scope, part))
}

/**
 * Keys that have columns are counted by column. For keys in maps, a row is created for each parameter, which is ten
 * times as slow.
 */
function parametersRelation(sources: Sources, scope: Scope, form: ParameterForm): string {
  const { folder, spool } = sources
  const inScope = sources.files.filter((file) => isInScope(file, scope))
  const [others, compacted] = [inScope.filter(({ keys }) => keys === null), inScope.filter(({ keys }) => keys !== null)]
  const branches: string[] = []
  if (others.length + spool.length > 0 || compacted.length === 0) {
    const whole = { ...scope, keys: [], anyTests: [], wholeParams: true }
    branches.push(inMaps(withPart(`(${eventsRelation({ files: others, folder, spool }, whole)})`, form), form))
  }
  if (compacted.length > 0) {
    const keys = keysOf(compacted, form)
    // All files share one scan with the filters of all files. A separate scan for each filter would require separate
    // hash tables, which cost more than evaluating filters that a file doesn't need.
    const tests = new Set(compacted.map((file) => filterFor(file, scope).replace(' WHERE ', '')))
    const where = [...tests, scope.where ?? ''].filter(Boolean).join(' AND ')
    const source = withPart(`(FROM ${derivedSource(folder, compacted, keys)}${where ? ` WHERE ${where}` : ''})`, form)
    // If a file has a column for a key, its maps never contain the key.
    const isAll = keys.length > 0 && form.only?.every((key) => compacted.every(({ keys }) => keys?.includes(key)))
    branches.push(...(isAll ? [] : [inMaps(source, form)]), ...inColumns(source, keys, form))
  }
  return branches.join('\nUNION ALL\n')
}

/** Adds the column `samplePart` if it is requested. */
const withPart = (source: string, { by }: ParameterForm) =>
  by.includes('samplePart')
    ? `(SELECT *, (${samplePartSql(duckdbDialect)})::INTEGER AS samplePart FROM ${source})`
    : source

/** Columns that identify a list, together with the key. */
const listColumns = (by: ParameterForm['by']) => by.filter((column) => column !== 'samplePart')

/** Requested keys that have a column in at least one of these files, sorted. */
function keysOf(files: readonly EventFile[], { only, except = [] }: ParameterForm): string[] {
  const left = new Set(except)
  const own = new Set(files.flatMap(({ keys }) => keys ?? []))
  return [...own].filter((key) => !left.has(key) && (!only || only.includes(key))).sort()
}

/** Counts parameters that are in maps. `source` has the event columns and the map. */
function inMaps(source: string, form: ParameterForm): string {
  const { by, only, except = [] } = form
  const list = (keys: readonly string[]) => keys.map(quoteText).join(', ')
  const tests = [
    ...(only ? [only.length > 0 ? `key IN (${list(only)})` : 'false'] : []),
    ...(except.length > 0 ? [`key NOT IN (${list(except)})`] : []),
  ]
  const each = `SELECT ${[...by, 'weight', 'receivedAt'].join(', ')}, unnest(map_keys(params)) AS key,
      unnest(map_values(params)) AS text
    FROM ${source} WHERE kind <> 'library' AND cardinality(params) > 0`
  return counted(`(SELECT * FROM (${each})${tests.length > 0 ? ` WHERE ${tests.join(' AND ')}` : ''})`, form)
}

/** Counts parameters that have columns. */
function inColumns(source: string, keys: readonly string[], form: ParameterForm): string[] {
  if (keys.length === 0) return []
  return [form.as === 'marks' ? marksInOnePass(source, keys, form) : inOnePass(source, keys, form)]
}

/**
 * Creates intermediate rows for each key and event that contain only numbers. This is cheaper than reading the events
 * once per key.
 */
function marksInOnePass(source: string, keys: readonly string[], { by }: ParameterForm): string {
  const hashes = keys.map((key) => `CASE WHEN NOT ${isBlank(columnOf(key))} THEN hash(${columnOf(key)}) END`)
  const places = keys.map((_, at) => `${at + 1}::UTINYINT`)
  const each = `SELECT ${[...by, 'weight', 'receivedAt'].join(', ')}, unnest([${places.join(', ')}]) AS place,
      unnest([${hashes.join(', ')}]) AS hash FROM ${source} WHERE kind <> 'library'`
  return `SELECT ${by.join(', ')}, [${keys.map(quoteText).join(', ')}][place] AS key, NULL::VARCHAR AS value, bucket, rank, events, weight, lastAt
    FROM (SELECT ${by.join(', ')}, place, ${MARKED}, ${COUNTED} FROM (${each}) WHERE hash IS NOT NULL GROUP BY ${by.join(', ')}, place, bucket)`
}

const columnOf = (key: string) => quoteName(columnName(key))

/** Represents all unlisted values. Stored strings never contain it. */
const OTHERS = 'chr(0)'

/**
 * Fills one hash table per key in a single pass. In each result row, only the column of the row's own key is not NULL.
 */
function inOnePass(source: string, keys: readonly string[], { by, among }: ParameterForm): string {
  const lists = among?.length ? listsOf(keys, listColumns(by), among) : null
  const columns = keys.map((key, at) => `${lists ? lists.value(key, at) : columnOf(key)} AS v${at}`)
  const listed = lists ? ` LEFT JOIN ${lists.table} USING (${listColumns(by).join(', ')})` : ''
  const events = `SELECT ${[...by, 'weight', 'receivedAt', ...columns].join(', ')} FROM ${source}${listed} WHERE kind <> 'library'`
  const sets = keys.map((_, at) => `(${[...by, `v${at}`].join(', ')})`)
  const names = keys.map((key, at) => `WHEN v${at} IS NOT NULL THEN ${quoteText(key)}`)
  const value = `coalesce(${keys.map((_, at) => `v${at}`).join(', ')}, NULL)`
  return `SELECT ${[...by].join(', ')}, CASE ${names.join(' ')} END AS key, nullif(${value}, ${OTHERS}) AS value, NULL::INTEGER AS bucket,
      NULL::INTEGER AS rank, events, weight, lastAt
    FROM (SELECT ${[...by, ...keys.map((_, at) => `v${at}`)].join(', ')}, ${COUNTED} FROM (${events})
      GROUP BY GROUPING SETS (${sets.join(', ')})) WHERE ${value} IS NOT NULL AND NOT ${isBlank(value)}`
}

/**
 * Returns a table of the lists with restricted values, with one bit per key, and the SQL for a key's value: its text or
 * `OTHERS`.
 */
function listsOf(keys: readonly string[], by: ParameterForm['by'], among: NonNullable<ParameterForm['among']>) {
  const bits = new Map<string, number>()
  for (const { list } of among) {
    const at = keys.indexOf(list.at(-1) ?? '')
    const place = `(${list.slice(0, by.length).map(quoteText).join(', ')}`
    if (at >= 0) bits.set(place, (bits.get(place) ?? 0) | (1 << at))
  }
  const rows = bits.size > 0 ? [...bits].map(([place, bit]) => `${place}, ${bit})`) : []
  const none = `SELECT ${by.map((column) => `'' AS ${column}`).join(', ')}, 0 AS listed WHERE false`
  return {
    table: rows.length > 0 ? `(VALUES ${rows.join(', ')}) AS lists(${by.join(', ')}, listed)` : `(${none}) AS lists`,
    value(key: string, at: number): string {
      const text = columnOf(key)
      const wanted = among.flatMap(({ list, values }) => (list.at(-1) === key ? values : []))
      const isWanted = wanted.length > 0 ? `${text} IN (${[...new Set(wanted)].map(quoteText).join(', ')})` : 'false'
      return `CASE WHEN ifnull(listed, 0) & ${1 << at} = 0 OR ${isWanted} OR ${isBlank(text)} THEN ${text} WHEN ${text} IS NOT NULL THEN ${OTHERS} END`
    },
  }
}

/** Counts the rows of `source`, each of which has a `key` and its `text`, in the given form. */
function counted(source: string, { by, as, among }: ParameterForm): string {
  const columns = [...by, 'key'].join(', ')
  const there = `FROM ${source} WHERE text IS NOT NULL AND NOT ${isBlank('text')}`
  if (as === 'marks') {
    const hashes = `SELECT ${columns}, weight, receivedAt, hash(text) AS hash ${there}`
    return `SELECT ${columns}, NULL::VARCHAR AS value, ${MARKED}, ${COUNTED} FROM (${hashes}) GROUP BY ${columns}, bucket`
  }
  const value = among ? namedOnly([...listColumns(by), 'key'], among) : 'text'
  const values = `SELECT ${columns}, weight, receivedAt, ${value} AS value ${there}`
  return `SELECT ${columns}, value, NULL::INTEGER AS bucket, NULL::INTEGER AS rank, ${COUNTED} FROM (${values}) GROUP BY ${columns}, value`
}

/** SQL for the value. NULL if the list is restricted and does not include the value. */
function namedOnly(columns: readonly string[], among: NonNullable<ParameterForm['among']>): string {
  if (among.length === 0) return 'text'
  const lists = among.map(({ list }) => `(${list.slice(0, columns.length).map(quoteText).join(', ')})`)
  const isListed = `(${columns.join(', ')}) IN (VALUES ${lists.join(', ')})`
  const values = among.flatMap(({ list, values }) =>
    values.map((value) => `(${[list.at(-1) ?? '', value].map(quoteText).join(', ')})`),
  )
  const isNamed = values.length > 0 ? `(key, text) IN (VALUES ${[...new Set(values)].join(', ')})` : 'false'
  return `CASE WHEN NOT (${isListed}) OR ${isNamed} THEN text END`
}

/** Most values begin with printable ASCII, so a comparison is tried before the pattern, which is slower. */
const isBlank = (text: string) =>
  `(${text} = '' OR CASE WHEN ${text} < '!' OR ${text} > '~' THEN regexp_matches(${text}, '(${BLANK_PATTERN})') ELSE false END)`

/**
 * Number of hash bits that don't select the bucket. The rank is one more than the number of leading zeros in the lowest
 * hash.
 */
const REST_BITS = 64 - Math.log2(MARK_BUCKETS)
const REST = `min(hash >> ${64 - REST_BITS})`
const RANK = `(CASE WHEN ${REST} = 0 THEN ${REST_BITS + 1} ELSE ${REST_BITS} - floor(log2(${REST})) END)::INTEGER`
/** Columns for rows grouped by `bucket`. */
const MARKED = `(hash & ${MARK_BUCKETS - 1})::INTEGER AS bucket, ${RANK} AS rank`
