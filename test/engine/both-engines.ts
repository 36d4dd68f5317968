import { estimateOf } from '../../src/insights/distinct-values.ts'
import type { Query } from '../../src/warehouse/query.ts'
import { inSql, type WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import type { History } from '../../src/warehouse/warehouse.ts'

type Row = Record<string, unknown>

/**
 * List columns by query. The lists of a row have the same length, and items at the same index belong together. Their
 * order is arbitrary.
 */
const COLUMNWISE: Record<string, readonly string[]> = {
  'signals.row-counts': ['rows', 'weights', 'counts', 'early', 'late'],
  'signals.daily-events': ['days', 'counts'],
  ...Object.fromEntries(
    ['insights.crowded-parameters', 'insights.parameter-values', 'insights.frequent-values'].map((name) => [
      name,
      ['values', 'weights', 'areSuspect'],
    ]),
  ),
}

/**
 * Queries whose rows contain hashes, which differ between engines. Returns the values that must be equal and those that
 * must be approximately equal.
 */
const HASHED: Record<string, (rows: readonly Row[]) => { same: string; about: number }[]> = {
  'insights.value-ranks': (rows) =>
    [...Map.groupBy(rows, ({ vendor, key }) => JSON.stringify([vendor, key]))].map(([name, ranks]) => {
      const weight = ranks.reduce((sum, row) => sum + Number(row.weight), 0)
      const lastAt = Math.max(...ranks.map((row) => Number(row.lastAt)))
      return { same: JSON.stringify([name, weight, lastAt]), about: estimateOf(ranks as never) }
    }),
}

/**
 * Runs each query on two engines. Throws unless the results are the same, and returns them. The `read` function of a
 * query runs only once, because it may keep a count of its rows.
 */
export class BothEngines implements History {
  /** Number of compared rows by query name. */
  readonly compared = new Map<string, number>()
  /** Filters whole events for conditions that SQL only approximates; null when SQL is exact. */
  confirm: ((row: never) => boolean) | null = null

  constructor(
    private readonly fixture: WarehouseFixture,
    readonly clickhouse: History,
  ) {}

  async query<T>(query: Query): Promise<T[]> {
    const { read, ...plain } = query
    const [rows, others] = await Promise.all([this.fixture.warehouse.query<Row>(plain as Query), this.other(query)])
    const fault = HASHED[query.name]
      ? aboutDifferent(query.name, rows, others)
      : differenceOf(this.comparable(query, rows), this.comparable(query, others))
    if (fault) {
      const { sql, where, params } = inSql(query)
      throw new Error(`${query.name}: ${fault}\n${JSON.stringify({ sql, where, params }).slice(0, 4000)}`)
    }
    this.compared.set(query.name, (this.compared.get(query.name) ?? 0) + rows.length)
    return (read ? rows.map((row) => read(row as never)).filter((row) => row !== null) : rows) as T[]
  }

  private async other(query: Query): Promise<Row[]> {
    const { read: _, ...plain } = query
    try {
      return await this.clickhouse.query<Row>(plain as Query)
    } catch (error) {
      throw new Error(
        `${query.name} in ClickHouse: ${String(error).slice(0, 1500)}\n${inSql(query).sql.slice(0, 3000)}`,
      )
    }
  }

  private comparable(query: Query, rows: readonly Row[]): string[] {
    const { confirm } = this
    const sure = confirm ? rows.filter((row) => !('params' in row) || confirm(withoutMarks(row) as never)) : rows
    // An engine may query the keys in several parts. The limit then applies to each part.
    if (query.over === 'parameters') {
      const first = firstByWeight(sure, inSql(query).sql)
      return first.map((row) => canonical(columnwise(query.name, row))).sort()
    }
    const plain = sure.map((row) => canonical(columnwise(query.name, row)))
    // The last ORDER BY belongs to the outermost SELECT if no parenthesis is closed after it.
    return /\bORDER BY [^)]*$/.test(inSql(query).sql) ? plain : plain.sort()
  }
}

/**
 * Returns the rows that a query ending with `ORDER BY weight DESC, … LIMIT …` must return. For other queries, returns
 * all rows.
 */
function firstByWeight(rows: readonly Row[], sql: string): readonly Row[] {
  const [, columns = '', limit] = /\bORDER BY weight DESC, ([\w, ]+) LIMIT (\d+)$/.exec(sql) ?? []
  if (limit === undefined) return rows
  const texts = (row: Row) =>
    Buffer.from(
      columns
        .split(', ')
        .map((column) => row[column])
        .join('\0'),
    )
  const sorted = rows.toSorted((a, b) => Number(b.weight) - Number(a.weight) || Buffer.compare(texts(a), texts(b)))
  return sorted.slice(0, Number(limit))
}

/**
 * Compares rows of hashed queries. Each estimate may be off by 5 %, so the two may differ by 10 %. Returns a
 * description of the difference; null for none.
 */
function aboutDifferent(name: string, ours: readonly Row[], theirs: readonly Row[]): string | null {
  const [own, other] = [ours, theirs].map((rows) => HASHED[name]?.(rows) ?? [])
  const fault = differenceOf(
    ...([own, other].map((all) => (all ?? []).map(({ same }) => same).sort()) as [string[], string[]]),
  )
  if (fault) return fault
  const estimates = new Map(other?.map(({ same, about }) => [same, about]))
  const far = own?.find(({ same, about }) => Math.abs(about / (estimates.get(same) ?? 0) - 1) > 0.1)
  return far ? `DuckDB estimates ${far.about}, ClickHouse ${estimates.get(far.same)}: ${far.same}` : null
}

function columnwise(name: string, row: Row): Row {
  const columns = COLUMNWISE[name]
  if (!columns) return row
  const [first = ''] = columns
  const items = (row[first] as unknown[]).map((_, at) => columns.map((column) => (row[column] as unknown[])[at]))
  const rest = Object.entries(row).filter(([column]) => !columns.includes(column))
  return { ...Object.fromEntries(rest), items: items.map(canonical).sort() }
}

/**
 * Describes the rows that only one of the engines returned; null when both returned the same rows in the same order.
 */
function differenceOf(ours: readonly string[], theirs: readonly string[]): string | null {
  if (ours.length === theirs.length && ours.every((row, at) => row === theirs[at])) return null
  const [own, other] = [new Set(ours), new Set(theirs)]
  const only = (rows: readonly string[], others: ReadonlySet<string>) => rows.filter((row) => !others.has(row))
  const shown = (rows: readonly string[]) => `${rows.length} rows, such as ${rows[0]?.slice(0, 1500)}`
  return `${ours.length} rows from DuckDB, ${theirs.length} from ClickHouse; only in DuckDB: ${shown(only(ours, other))}\nonly in ClickHouse: ${shown(only(theirs, own))}`
}

/** Removes U+FEFF at the beginning of a string, as DuckDB's reader does. */
const withoutMark = (text: string) => (text.startsWith('\ufeff') ? text.slice(1) : text)

function withoutMarks<T>(value: T): T
function withoutMarks(value: unknown): unknown {
  if (typeof value === 'string') return withoutMark(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutMarks)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutMarks(part)]))
}

/** Returns a string that is the same for equal rows, regardless of the order of columns and parameters. */
function canonical(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(withoutMark(value))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const parts = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`)
  return `{${parts.sort().join()}}`
}
