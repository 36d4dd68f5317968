import { DOUBLE, type DuckDBResultReader, DuckDBTypeId } from '@duckdb/node-api'
import type { Query } from './query.ts'

/** What the engine answers, as objects with columns as named in the SQL. */
export function rowsOf<T>(reader: DuckDBResultReader): T[] {
  const names = reader.columnNames()
  const isMap = reader.columnTypes().map((type) => type.typeId === DuckDBTypeId.MAP)
  // Column by column, which is four times as quick as row by row.
  const columns = reader.getColumnsJS().map((values, at) => values.map((value) => plain(value, isMap[at])))
  const rows: Record<string, unknown>[] = Array.from({ length: columns[0]?.length ?? 0 }, () => ({}))
  for (const [at, values] of columns.entries()) {
    const name = names[at] ?? ''
    for (const [index, row] of rows.entries()) row[name] = values[index]
  }
  return rows as T[]
}

/** Numbers that are no safe integers are doubles; left to itself, the engine takes 1e300 for a 64-bit integer. */
export function typesOf(params: Query['params']): Record<string, typeof DOUBLE> {
  const isDouble = (value: unknown) => typeof value === 'number' && !Number.isSafeInteger(value)
  const names = Object.keys(params).filter((name) => isDouble(params[name]))
  return Object.fromEntries(names.map((name) => [name, DOUBLE]))
}

/** 64-bit integers become numbers (all of ours stay below 2^53), the pairs of a map an object. */
function plain(value: unknown, isMap = false): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (!Array.isArray(value)) return value
  if (isMap) return Object.fromEntries(value.map((entry) => [entry.key, plain(entry.value)]))
  return value.map((item) => plain(item))
}
