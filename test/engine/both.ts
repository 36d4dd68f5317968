import type { Query } from '../../src/warehouse/query.ts'
import { inSql, type WarehouseStand } from '../../src/warehouse/warehouse.fixture.ts'
import type { History } from '../../src/warehouse/warehouse.ts'
import type { ClickhouseHistory } from './clickhouse.ts'

type Row = Record<string, unknown>

/** Lists of an answer whose items belong together, in any order. */
const COLUMNWISE: Record<string, readonly string[]> = {
  'signals.row-counts': ['rows', 'weights', 'counts', 'early', 'late'],
  'signals.daily-events': ['days', 'counts'],
}

/**
 * The history as two engines tell it: puts each query to both, fails unless their answers are the same, and answers it. What
 * a query makes of its rows is done once, because it may count them.
 */
export class BothEngines implements History {
  /** How many rows were compared, by the name of the query. */
  readonly compared = new Map<string, number>()
  /** Where SQL may let too much through: what is left of whole events. */
  confirm: ((row: never) => boolean) | null = null

  constructor(
    private readonly stand: WarehouseStand,
    readonly clickhouse: ClickhouseHistory,
  ) {}

  async query<T>(query: Query): Promise<T[]> {
    const { read, ...plain } = query
    const [rows, others] = await Promise.all([this.stand.warehouse.query<Row>(plain as Query), this.other(query)])
    const [ours, theirs] = [this.comparable(query, rows), this.comparable(query, others)]
    const fault = differenceOf(ours, theirs)
    if (fault) {
      const { sql, where, params } = inSql(query)
      throw new Error(`${query.name}: ${fault}\n${JSON.stringify({ sql, where, params }).slice(0, 4000)}`)
    }
    this.compared.set(query.name, (this.compared.get(query.name) ?? 0) + rows.length)
    return (read ? rows.map((row) => read(row as never)).filter((row) => row !== null) : rows) as T[]
  }

  private async other(query: Query): Promise<Row[]> {
    try {
      return await this.clickhouse.query(query)
    } catch (error) {
      throw new Error(
        `${query.name} in ClickHouse: ${String(error).slice(0, 1500)}\n${inSql(query).sql.slice(0, 3000)}`,
      )
    }
  }

  private comparable(query: Query, rows: readonly Row[]): string[] {
    const { confirm } = this
    const sure = confirm ? rows.filter((row) => !('params' in row) || confirm(withoutMarks(row) as never)) : rows
    const plain = sure.map((row) => canonical(columnwise(query.name, row)))
    // The outermost SELECT has the last ORDER BY, behind which no parenthesis is closed.
    return /\bORDER BY [^)]*$/.test(inSql(query).sql) ? plain : plain.sort()
  }
}

function columnwise(name: string, row: Row): Row {
  const columns = COLUMNWISE[name]
  if (!columns) return row
  const [first = ''] = columns
  const items = (row[first] as unknown[]).map((_, at) => columns.map((column) => (row[column] as unknown[])[at]))
  const rest = Object.entries(row).filter(([column]) => !columns.includes(column))
  return { ...Object.fromEntries(rest), items: items.map((item) => JSON.stringify(item)).sort() }
}

/** What only one of them says, a row of each; null when they say the same in the same order. */
function differenceOf(ours: readonly string[], theirs: readonly string[]): string | null {
  if (ours.length === theirs.length && ours.every((row, at) => row === theirs[at])) return null
  const [own, other] = [new Set(ours), new Set(theirs)]
  const only = (rows: readonly string[], others: ReadonlySet<string>) => rows.filter((row) => !others.has(row))
  const shown = (rows: readonly string[]) => `${rows.length} rows, such as ${rows[0]?.slice(0, 1500)}`
  return `of ${ours.length} and ${theirs.length} rows only DuckDB has ${shown(only(ours, other))}\nonly ClickHouse ${shown(only(theirs, own))}`
}

/** What reads the answers of DuckDB takes U+FEFF at the beginning of a text for a mark, and leaves it out. */
const withoutMark = (part: unknown) => (typeof part === 'string' ? part.replace(/^\ufeff/, '') : part)
const withoutMarks = (row: Row): Row => JSON.parse(JSON.stringify(row, (_, part) => withoutMark(part)))

/** The same text for the same row, whatever the order of its columns and parameters. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (typeof part === 'number' && Object.is(part, -0)) return 0
    if (typeof part === 'string') return withoutMark(part)
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
