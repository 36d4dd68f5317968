import { columnName, quoteName, quoteText } from './dialect.ts'
import type { EventFile } from './manifest.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { eventsRelation } from './relation.ts'
import { STORED_COLUMNS, VIOLATED } from './spooled.ts'

/** Parameters in at least this share of a file's events get a column of their own, and so many at most. */
const MIN_SHARE = 0.01
export const MAX_KEYS = 256

/** How many events have a parameter. */
export interface KeyCount {
  key: string
  events: number
}

/** Parameters that get a column; `isAll` when there are no others. */
export interface Shredding {
  keys: string[]
  isAll: boolean
}

const ORDER = `ORDER BY NOT ${VIOLATED}, domainId, vendor, event, receivedAt`
const EMPTY_MAP = 'MAP([]::VARCHAR[], []::VARCHAR[])'
const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER }
const columnOf = (key: string) => quoteName(columnName(key))
const listOf = (keys: readonly string[]) => `[${keys.map(quoteText).join(', ')}]::VARCHAR[]`

/** Of so many events these parameters, most frequent first, of which one more than `MAX_KEYS` is given where there are more. */
export function keysWorthIt(found: readonly KeyCount[], rows: number): Shredding {
  const worthIt = found.slice(0, MAX_KEYS).filter(({ events }) => events >= rows * MIN_SHARE)
  return { keys: worthIt.map(({ key }) => key), isAll: worthIt.length === found.length }
}

/** Selects the events of `source`, whose parameters are maps, as a compacted file has them. */
export function shredded(source: string, { keys, isAll }: Shredding): string {
  const columns = keys.map((key) => `params[${quoteText(key)}] AS ${columnOf(key)}`)
  const rest = isAll ? EMPTY_MAP : keys.length === 0 ? 'params' : restOfMap(keys)
  return `SELECT ${[...STORED_COLUMNS, ...columns, `${rest} AS params`].join(', ')} FROM ${source} ${ORDER}`
}

/** Going through every event's map costs more than all the rest, and mostly nothing stays in it. */
const restOfMap = (keys: readonly string[]) =>
  `map_from_entries(list_filter(map_entries(params), lambda e: NOT list_contains(${listOf(keys)}, e.key)))`

/** Selects every event of files of any level with its whole map. */
export function wholeEvents(folder: string, files: readonly EventFile[]): string {
  return eventsRelation({ files, folder, spool: [] }, { keys: [], wholeParams: true, orgId: null, window: EVER })
}

/** The parameters of `source`, whose parameters are maps, that get a column. */
export async function shreddingOf(parquet: ParquetFiles, source: string, rows: number): Promise<Shredding> {
  const found = await parquet.run<KeyCount>(
    `SELECT key, count(*) AS events FROM (SELECT unnest(map_keys(params)) AS key FROM ${source}) GROUP BY key
     ORDER BY events DESC, key LIMIT ${MAX_KEYS + 1}`,
  )
  return keysWorthIt(found, rows)
}

/** Selects the events of compacted files of one organization as one file has them, without making maps of what are columns. */
export async function rejoined(
  parquet: ParquetFiles,
  files: readonly EventFile[],
): Promise<{ select: string; keys: string[] }> {
  const source = compactedFiles(parquet.folder, files)
  const own = [...new Set(files.flatMap(({ keys }) => keys ?? []))]
  const inMaps = await parquet.run<KeyCount>(
    `SELECT key, count(*) AS events FROM (SELECT unnest(map_keys(params)) AS key FROM ${source} WHERE cardinality(params) > 0)
     GROUP BY key`,
  )
  const counts = new Map(inMaps.map(({ key, events }) => [key, events]))
  const others = new Set(counts.keys())
  for (const { key, events } of await columnCounts(parquet, source, own)) {
    if (events > 0) counts.set(key, (counts.get(key) ?? 0) + events)
  }
  const found = [...counts].map(([key, events]) => ({ key, events }))
  found.sort((a, b) => b.events - a.events || (a.key < b.key ? -1 : 1))
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const { keys, isAll } = keysWorthIt(found, rows)
  const columns = keys.map((key) => `${valueIn(key, own, others)} AS ${columnOf(key)}`)
  const left = own.filter((key) => counts.has(key) && !keys.includes(key))
  const rest = isAll ? EMPTY_MAP : restOf(keys, left)
  const select = `SELECT ${[...STORED_COLUMNS, ...columns, `${rest} AS params`].join(', ')} FROM ${source} ${ORDER}`
  return { select, keys }
}

function compactedFiles(folder: string, files: readonly EventFile[]): string {
  const paths = files.map(({ path }) => quoteText(`${folder}/${path}`)).join(', ')
  return `(SELECT * FROM read_parquet([${paths}], union_by_name = true))`
}

/** How many events have these parameters, all of which are columns of some of the files. */
async function columnCounts(parquet: ParquetFiles, source: string, keys: readonly string[]): Promise<KeyCount[]> {
  if (keys.length === 0) return []
  const counts = keys.map((key, at) => `count(${columnOf(key)}) AS k${at}`).join(', ')
  const [row] = await parquet.run<Record<string, number>>(`SELECT ${counts} FROM ${source}`)
  return keys.map((key, at) => ({ key, events: row?.[`k${at}`] ?? 0 }))
}

function valueIn(key: string, own: readonly string[], inMaps: ReadonlySet<string>): string {
  if (!own.includes(key)) return `params[${quoteText(key)}]`
  return inMaps.has(key) ? `coalesce(${columnOf(key)}, params[${quoteText(key)}])` : columnOf(key)
}

/** What stays in the map, and what comes into it from columns of theirs that are not worth one any more. */
function restOf(keys: readonly string[], left: readonly string[]): string {
  const rest = keys.length === 0 ? 'params' : restOfMap(keys)
  if (left.length === 0) return rest
  const entries = left.map((key) => `{key: ${quoteText(key)}, value: ${columnOf(key)}}`).join(', ')
  return `map_concat(${rest}, map_from_entries(list_filter([${entries}], lambda e: e.value IS NOT NULL)))`
}
