import { DERIVED_SEGMENTS, EVENT_COLUMNS } from '../../core/event.ts'
import { derivedColumns, isStorable } from '../dialect.ts'
import type { AnyTest, Query, Statement } from '../query.ts'
import { columnName, duckdbDialect, quoteName, quoteText } from './duckdb-dialect.ts'
import { type EventFile, isInScope } from './manifest.ts'
import {
  COMPACTED_COLUMNS,
  freshRelation,
  freshTexts,
  PARAMS,
  RELATION_COLUMNS,
  readFiles,
  spoolRelation,
  VIOLATED,
} from './spool-relation.ts'

/** Files of the relation `events` at one point in time. Paths are absolute. */
export interface Sources {
  files: readonly EventFile[]
  folder: string
  /** Spool files with events that are not in a Parquet file yet. */
  spool: readonly string[]
}

export type Scope = Omit<Statement, 'sql'> & Pick<Query, 'orgId' | 'window'>

const DERIVED = derivedColumns(duckdbDialect)
const COLUMNS = [...RELATION_COLUMNS, DERIVED].join(', ')
const RESTORED = [...COMPACTED_COLUMNS, DERIVED].join(', ')
const NAMES = [...RELATION_COLUMNS, ...DERIVED_SEGMENTS].join(', ')

/**
 * The relation `events` as one SELECT, with a branch for each kind of file and the same columns in every branch. Skips
 * files that are outside the window or belong to other organizations. Filters rows only if the manifest does not
 * guarantee that all of them match, because a filter on another column costs more than counting.
 */
export function eventsRelation(sources: Sources, scope: Scope): string {
  const inScope = sources.files.filter((file) => isInScope(file, scope))
  const branches = groupBy(inScope, (file) =>
    JSON.stringify([shreddedKeys(file, scope), file.hasSegments, filterFor(file, scope)]),
  ).map((files) => parquetBranch(sources.folder, files, scope))
  if (sources.spool.length > 0) branches.push(spoolBranch(sources.spool, scope))
  return branches.length > 0 ? branches.join('\nUNION ALL\n') : emptyBranch(scope)
}

/**
 * For each requested key, true if the file has a column for it. When all parameters are read, all columns of the file
 * are read.
 */
function shreddedKeys(file: EventFile, scope: Scope): boolean[] | 'shredded' | 'fresh' {
  if (file.keys === null) return 'fresh'
  if (readsAll(scope)) return 'shredded'
  const own = new Set(file.keys)
  return keysOf(scope).map((key) => own.has(key))
}

const keysOf = ({ keys = [] }: Scope) => keys
const readsAll = ({ wholeParams = false, anyTests = [] }: Scope) => wholeParams || anyTests.length > 0

/**
 * WHERE clause that excludes rows of the file that are out of scope; empty if the manifest guarantees that all rows are
 * in scope.
 */
export function filterFor(file: EventFile, { window, orgId }: Pick<Scope, 'window' | 'orgId'>): string {
  const filters: string[] = []
  if (orgId !== null && file.orgId !== orgId) filters.push(`orgId = ${quoteText(orgId)}`)
  if (file.minReceivedAt < window.from) filters.push(`receivedAt >= ${window.from}`)
  if (file.maxReceivedAt >= window.to) filters.push(`receivedAt < ${window.to}`)
  return filters.length > 0 ? ` WHERE ${filters.join(' AND ')}` : ''
}

function parquetBranch(folder: string, files: readonly EventFile[], scope: Scope): string {
  const [first] = files
  if (!first) return emptyBranch(scope)
  const filter = filterFor(first, scope)
  if (first.keys === null && asksTexts(scope)) return textBranch(readFiles(folder, files), filter, scope)
  if (first.keys === null) return branch(`${freshRelation(readFiles(folder, files))}${filter}`, [], scope)
  const shredded = [...new Set(readsAll(scope) ? files.flatMap((file) => file.keys ?? []) : first.keys)]
  const source = shreddedSource(folder, files, readsAll(scope) ? shredded : [])
  return branch(`${source}${filter}`, shredded, scope, RESTORED)
}

/**
 * SQL that reads compacted files. Uses `union_by_name` only if some files lack a requested column. With this option,
 * the engine opens every file during planning, each time the source occurs in a query, and a short query spends most of
 * its time there.
 */
function shreddedSource(folder: string, files: readonly EventFile[], keys: readonly string[]): string {
  const isEach = files.every((file) => {
    const own = new Set(file.keys)
    return keys.every((key) => own.has(key))
  })
  return readFiles(folder, files, isEach ? '' : ', union_by_name = true')
}

/** Like `shreddedSource`, with the columns that are computed from stored columns. */
export function derivedSource(folder: string, files: readonly EventFile[], keys: readonly string[]): string {
  return `(SELECT *, ${DERIVED} FROM ${shreddedSource(folder, files, keys)})`
}

/** The columns of `eventsRelation`, from a source of whole events that stores parameters as a map. */
export function wholeEventsBranch(source: string, scope: Scope): string {
  return branch(source, [], scope)
}

/** Selects the same columns from any source. Parameters in `shredded` have their own columns. */
function branch(source: string, shredded: readonly string[], scope: Scope, said = COLUMNS): string {
  const { keys = [], wholeParams = false, anyTests = [], where } = scope
  const own = new Set(shredded)
  const isMixed = readsAll(scope)
  const columns = keys.map((key) =>
    own.has(key) && !isMixed
      ? quoteName(columnName(key))
      : `${keyValue(key, own.has(key))} AS ${quoteName(columnName(key))}`,
  )
  const answers = anyTests.map((test) => `${anyOf(test, shredded)} AS ${quoteName(test.column)}`)
  const params = wholeParams ? [`${wholeMap(shredded)} AS params`] : []
  if (where === undefined) return `SELECT ${[said, ...columns, ...answers, ...params].join(', ')} FROM ${source}`
  // Maps are built only after filtering. Otherwise, the engine would build them first.
  const others = wholeParams ? ['params', ...shredded.filter((key) => !keys.includes(key)).map(columnOf)] : []
  const passed = [...keys.map(columnOf), ...anyTests.map(({ column }) => quoteName(column)), ...params]
  const within = `SELECT ${[said, ...columns, ...answers, ...others].join(', ')} FROM ${source}`
  return `SELECT ${[NAMES, ...passed].join(', ')} FROM (${within}) WHERE ${where}`
}

/** True if the events can be selected with only the JSON text of their parameters. */
const asksTexts = ({ keys = [], anyTests = [], either }: Scope) =>
  either !== undefined && keys.length === 0 && anyTests.length > 0 && anyTests.every(({ text }) => text !== undefined)

/**
 * Like `branch`, but for files that store parameters as JSON text. Maps are built only for events that pass one of the
 * tests.
 */
function textBranch(files: string, filter: string, scope: Scope): string {
  const { wholeParams = false, anyTests = [], either = [] } = scope
  const texts = new Map(
    anyTests.map(({ column, text = '' }) => [column, text.replaceAll('{value}', () => 'params::VARCHAR')]),
  )
  // The engine evaluates a test on a single column once per distinct value if there are few distinct values.
  const hits = either.map(
    (test) => `SELECT seq FROM (SELECT seq, ${texts.get(test) ?? test} AS hit FROM ${files}) WHERE hit`,
  )
  const columns = [...texts.keys()].map((column) => `true AS ${quoteName(column)}`)
  const params = wholeParams ? [`params::JSON::${PARAMS} AS params`] : []
  const rows = `(SELECT * FROM ${freshTexts(files)}${filter})`
  return `SELECT ${[COLUMNS, ...columns, ...params].join(', ')} FROM ${rows} WHERE seq IN (${hits.join(' UNION ALL ')})`
}

const columnOf = (key: string) => quoteName(columnName(key))

/** True if any parameter passes the test, whether it is in a column or in the map. Never NULL. */
function anyOf({ of }: AnyTest, shredded: readonly string[]): string {
  const test = (key: string | null, value: string) => of(key).replaceAll('{value}', () => value)
  // Most of these columns are NULL for thousands of rows, because events are sorted by vendor. The engine detects this
  // quickly.
  const columns = shredded.map(
    (key) => `CASE WHEN ${columnOf(key)} IS NULL THEN false ELSE ${test(key, columnOf(key))} END`,
  )
  const inMap = duckdbDialect.anyValue((value) => test(null, value))
  if (columns.length === 0) return `(${inMap})`
  return `(${columns.join(' OR ')} OR CASE WHEN cardinality(params) = 0 THEN false ELSE ${inMap} END)`
}

/** When several files are read together, a key may be in a column or in the map. */
function keyValue(key: string, mayBeColumn: boolean): string {
  if (!isStorable(key)) return 'NULL::VARCHAR'
  const inMap = `params[${quoteText(key)}]`
  return mayBeColumn ? `coalesce(${columnOf(key)}, ${inMap})` : inMap
}

function wholeMap(keys: readonly string[]): string {
  if (keys.length === 0) return 'params'
  const entries = keys.map((key) => `{key: ${quoteText(key)}, value: ${columnOf(key)}}`).join(', ')
  return `map_concat(params, map_from_entries(list_filter([${entries}], lambda e: e.value IS NOT NULL)))`
}

function spoolBranch(paths: readonly string[], scope: Scope): string {
  const window = `receivedAt >= ${scope.window.from} AND receivedAt < ${scope.window.to}`
  const org = scope.orgId === null ? '' : ` AND orgId = ${quoteText(scope.orgId)}`
  const withParams = readsAll(scope) || keysOf(scope).length > 0
  return branch(`${spoolRelation(paths, withParams)} WHERE ${window}${org}`, [], scope)
}

/** `read_parquet` rejects an empty list, and a new installation has no files. */
function emptyBranch(scope: Scope): string {
  const types = { ...EVENT_COLUMNS, [VIOLATED]: 'BOOLEAN', params: PARAMS }
  const columns = Object.entries(types).map(([name, type]) => `NULL::${type} AS ${name}`)
  return branch(`(SELECT ${columns.join(', ')}) WHERE false`, [], scope)
}

function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const name = nameOf(item)
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  return [...groups.values()]
}
