import { columnName, quoteName, quoteText } from './duckdb-dialect.ts'
import { eventsRelation } from './events-relation.ts'
import type { EventFile } from './manifest.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { freshTexts, PARAMS, readFiles, STORED_COLUMNS, VIOLATED } from './spool-relation.ts'

/**
 * Minimum fraction of a file's events that must have a parameter for it to get its own column. At most `MAX_KEYS`
 * parameters get a column.
 */
const MIN_SHARE = 0.01
export const MAX_KEYS = 256

/** Number of events that have a parameter. */
export interface KeyCount {
  key: string
  events: number
}

/** Parameters that get their own column. `isAll` is true if there are no other parameters. */
export interface Shredding {
  keys: string[]
  isAll: boolean
}

const ORDER = `ORDER BY NOT ${VIOLATED}, domainId, vendor, event, receivedAt`
const EMPTY_MAP = 'MAP([]::VARCHAR[], []::VARCHAR[])'
const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER }
const columnOf = (key: string) => quoteName(columnName(key))
const listOf = (keys: readonly string[]) => `[${keys.map(quoteText).join(', ')}]::VARCHAR[]`

/** Returns the parameters that are frequent enough for a column, most frequent first; at most `MAX_KEYS`. */
export function keysWorthIt(found: readonly KeyCount[], rows: number): Shredding {
  const worthIt = found.slice(0, MAX_KEYS).filter(({ events }) => events >= rows * MIN_SHARE)
  return { keys: worthIt.map(({ key }) => key), isAll: worthIt.length === found.length }
}

/**
 * Selects the events in `source` (sorted, with parameters as maps) in the form in which a compacted file stores them.
 */
export function shredded(source: string, { keys, isAll }: Shredding): string {
  const columns = keys.map((key) => `params[${quoteText(key)}] AS ${columnOf(key)}`)
  const rest = isAll ? EMPTY_MAP : keys.length === 0 ? 'params' : restOfMap(keys)
  return `SELECT ${[...STORED_COLUMNS, ...columns, `${rest} AS params`].join(', ')} FROM ${source}`
}

/** Filtering the map of every event costs more than everything else, and the map is usually empty afterwards. */
const restOfMap = (keys: readonly string[]) =>
  `map_from_entries(list_filter(map_entries(params), lambda e: NOT list_contains(${listOf(keys)}, e.key)))`

/** Sorts the events in `source` in the order of a compacted file. */
export const inOrder = (source: string) => `(SELECT * FROM ${source} ${ORDER})`

/**
 * Selects the events in files of any level, in the order of a compacted file, with all parameters in one map. `orgId`
 * limits them to one organization; null means all. Sorting keeps rows in memory, so events are sorted while their
 * parameters are still JSON text, where possible.
 */
export function sortedEvents(folder: string, files: readonly EventFile[], orgId: string | null): string {
  const own = orgId === null ? '' : ` WHERE orgId = ${quoteText(orgId)}`
  if (files.some(({ keys }) => keys !== null)) return inOrder(`(${wholeEvents(folder, files)})${own}`)
  const texts = inOrder(`${freshTexts(readFiles(folder, files))}${own}`)
  return `(SELECT * REPLACE (params::JSON::${PARAMS} AS params) FROM ${texts})`
}

/** Selects all events, with whole maps, from files of any level. */
export function wholeEvents(folder: string, files: readonly EventFile[]): string {
  return eventsRelation({ files, folder, spool: [] }, { keys: [], wholeParams: true, orgId: null, window: EVER })
}

/** Determines which parameters of `source` (which has them as maps) get their own column. */
export async function shreddingOf(parquet: ParquetFiles, source: string, rows: number): Promise<Shredding> {
  const found = await parquet.run<KeyCount>(
    `SELECT key, count(*) AS events FROM (SELECT unnest(map_keys(params)) AS key FROM ${source}) GROUP BY key
     ORDER BY events DESC, key LIMIT ${MAX_KEYS + 1}`,
  )
  return keysWorthIt(found, rows)
}

/**
 * Selects the events in an organization's compacted files for a joined file. Columns are not converted to maps, and the
 * events are not sorted. Concatenated sorted files are just as fast to read, and sorting would double the cost.
 */
export async function joined(
  parquet: ParquetFiles,
  files: readonly EventFile[],
): Promise<{ select: string; keys: string[] }> {
  const own = [...new Set(files.flatMap(({ keys }) => keys ?? []))]
  const source = compactedFiles(parquet.folder, files, own)
  const { found, inMaps } = await keyCounts(parquet, source, own)
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const { keys, isAll } = keysWorthIt(found, rows)
  const columns = keys.map((key) => `${valueIn(key, own, inMaps)} AS ${columnOf(key)}`)
  const occurring = new Set(found.map(({ key }) => key))
  const left = own.filter((key) => occurring.has(key) && !keys.includes(key))
  const rest = isAll ? EMPTY_MAP : restOf(keys, left)
  return { select: `SELECT ${[...STORED_COLUMNS, ...columns, `${rest} AS params`].join(', ')} FROM ${source}`, keys }
}

function compactedFiles(folder: string, files: readonly EventFile[], keys: readonly string[]): string {
  const differ = files.some((file) => file.keys?.length !== keys.length)
  return readFiles(folder, files, differ ? ', union_by_name = true' : '')
}

/**
 * Number of events with each parameter, most frequent first. `own`: columns that exist in at least one of the files.
 */
async function keyCounts(
  parquet: ParquetFiles,
  source: string,
  own: readonly string[],
): Promise<{ found: KeyCount[]; inMaps: ReadonlySet<string> }> {
  const columns = own.map((key, at) => `count(${columnOf(key)}) AS k${at}`)
  const mapped = 'count(*) FILTER (WHERE cardinality(params) > 0) AS mapped'
  const [row] = await parquet.run<Record<string, number>>(`SELECT ${[mapped, ...columns].join(', ')} FROM ${source}`)
  const each = `SELECT unnest(map_keys(params)) AS key FROM ${source} WHERE cardinality(params) > 0`
  const inMaps = row?.mapped
    ? await parquet.run<KeyCount>(`SELECT key, count(*) AS events FROM (${each}) GROUP BY key`)
    : []
  const counts = new Map(inMaps.map(({ key, events }) => [key, events]))
  for (const [at, key] of own.entries()) {
    const events = row?.[`k${at}`] ?? 0
    if (events > 0) counts.set(key, (counts.get(key) ?? 0) + events)
  }
  const found = [...counts].map(([key, events]) => ({ key, events }))
  found.sort((a, b) => b.events - a.events || (a.key < b.key ? -1 : 1))
  return { found, inMaps: new Set(inMaps.map(({ key }) => key)) }
}

function valueIn(key: string, own: readonly string[], inMaps: ReadonlySet<string>): string {
  if (!own.includes(key)) return `params[${quoteText(key)}]`
  return inMaps.has(key) ? `coalesce(${columnOf(key)}, params[${quoteText(key)}])` : columnOf(key)
}

/** Parameters that remain in the map, plus those that lose their column because they are now too rare. */
function restOf(keys: readonly string[], left: readonly string[]): string {
  const rest = keys.length === 0 ? 'params' : restOfMap(keys)
  if (left.length === 0) return rest
  const entries = left.map((key) => `{key: ${quoteText(key)}, value: ${columnOf(key)}}`).join(', ')
  return `map_concat(${rest}, map_from_entries(list_filter([${entries}], lambda e: e.value IS NOT NULL)))`
}
