import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { DuckDBInstance } from '@duckdb/node-api'
import { filtersSql } from '../../src/conditions/condition-sql.ts'
import { HOUR_MS } from '../../src/core/clock.ts'
import type { Dialect } from '../../src/warehouse/dialect.ts'
import { duckdbDialect, quoteText } from '../../src/warehouse/duckdb/duckdb-dialect.ts'
import { Binder } from '../../src/warehouse/query.ts'
import { loadClickhouse } from '../../test/engine/clickhouse.ts'
import { clickhouseDialect } from '../../test/engine/clickhouse-dialect.ts'
import { PAST_KEYS } from './past-events.ts'

/**
 * A query of the same events in any file layout. It is generated as in the program, in the SQL dialect of each engine.
 */
export interface EngineQuery {
  name: string
  /** The parameter that the query reads; null: none. */
  key: string | null
  sql(binder: Binder): string
}

const HOUR_SQL = ({ dialect }: Binder) => dialect.quotient('receivedAt', HOUR_MS)

export const ENGINE_QUERIES: readonly EngineQuery[] = [
  {
    name: 'top-20 of a key',
    key: 'item_id',
    sql: ({ dialect }) =>
      `SELECT ${dialect.key('item_id')} AS text, count(*) AS events FROM events WHERE ${dialect.key('item_id')} IS NOT NULL
       GROUP BY text ORDER BY events DESC, text LIMIT 20`,
  },
  {
    name: 'share of blank values',
    key: 'transaction_id',
    sql(binder) {
      const isBlank = filtersSql([{ parameter: 'transaction_id', op: 'is_blank' }], binder).sql
      return `SELECT count(*) AS events, countIf(${isBlank}) AS blank FROM events`
    },
  },
  {
    name: 'count by hour',
    key: null,
    sql: (binder) =>
      `SELECT ${HOUR_SQL(binder)} * ${HOUR_MS} AS hour, count(*) AS events FROM events GROUP BY ${HOUR_SQL(binder)} ORDER BY hour`,
  },
]

/** A database engine with the events of the month. */
export interface QueryEngine {
  ask(question: EngineQuery): Promise<Record<string, unknown>[]>
  /** Clears data cached by earlier queries. */
  cool?(): Promise<void>
  close(): void
}

/**
 * Returns the query and its values. It reads the relation `events`, which has columns of the source and the parameter
 * as `text`.
 */
function written({ key, sql }: EngineQuery, dialect: Dialect, source: string, text: string) {
  const binder = new Binder(dialect)
  const columns = ['receivedAt', ...(key === null ? [] : [`${text} AS ${dialect.key(key)}`])].join(', ')
  return { sql: `WITH events AS (SELECT ${columns} FROM ${source}) ${sql(binder)}`, params: binder.params }
}

/** Opens plain DuckDB over one file. */
export async function openPlain(path: string): Promise<QueryEngine> {
  const engine = await DuckDBInstance.create(':memory:', { threads: String(Math.min(4, availableParallelism())) })
  const connection = await engine.connect()
  return {
    async ask(question) {
      const source = `read_parquet(${quoteText(path)})`
      const { sql, params } = written(question, duckdbDialect, source, question.key ?? '')
      return (await connection.runAndReadAll(sql, params)).getRowObjects()
    },
    close() {
      connection.closeSync()
      engine.closeSync()
    },
  }
}

/**
 * Writes the events of the month into one columnar file, sorted like the warehouse's files. Returns its size in bytes.
 */
export async function writePlain(month: string, path: string): Promise<number> {
  const engine = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '4GB' })
  const connection = await engine.connect()
  const texts = `{${PAST_KEYS.map((key) => `"${key}": "VARCHAR"`).join(', ')}}`
  await connection.run(`COPY (
    SELECT * EXCLUDE (parts), unnest(parts) FROM (
      SELECT * EXCLUDE (params), from_json(params, ${quoteText(texts)}) AS parts FROM read_parquet(${quoteText(month)})
    )
    ORDER BY domainId, vendor, event, receivedAt) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd)`)
  connection.closeSync()
  engine.closeSync()
  return statSync(path).size
}

/** Opens ClickHouse in this process, with parameters in its JSON type. Returns null if ClickHouse can't be loaded. */
export async function openClickhouse(
  month: string,
  orgId: string,
): Promise<{ stand: QueryEngine; bytes: number; remove(): void } | null> {
  const loaded = await loadClickhouse()
  if (typeof loaded === 'string') {
    console.log(`  without ClickHouse: ${loaded}`)
    return null
  }
  const session = loaded.open()
  const rowsOf = (sql: string, params = {}) =>
    session
      .queryBind(sql, params, 'JSONEachRow')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  session.query(`CREATE TABLE stored (orgId LowCardinality(String), domainId LowCardinality(String), receivedAt Int64, ts Int64,
      vendor LowCardinality(String), event LowCardinality(String), account LowCardinality(String), kind LowCardinality(String),
      host LowCardinality(String), path String, title LowCardinality(String), sessionId String, status LowCardinality(String),
      execMs Float64, durMs Float64, version Int32, params JSON)
    ENGINE = MergeTree ORDER BY (orgId, domainId, vendor, event, receivedAt)`)
  session.query(`INSERT INTO stored SELECT ${quoteText(orgId)}, domainId, receivedAt, ts, vendor, event, account, kind, host, path,
      title, sessionId, status, execMs, durMs, version, params FROM file(${quoteText(month)}, Parquet)`)
  session.query('OPTIMIZE TABLE stored FINAL')
  const [parts] = rowsOf(`SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE table = 'stored' AND active`)
  return {
    bytes: Number(parts?.bytes),
    stand: {
      async ask(question) {
        const { sql, params } = written(question, clickhouseDialect, 'stored', `params.${question.key}.:String`)
        return rowsOf(sql, params)
      },
      cool: async () => {
        for (const cache of ['MARK', 'UNCOMPRESSED', 'QUERY CONDITION']) session.query(`SYSTEM DROP ${cache} CACHE`)
      },
      close() {},
    },
    remove: () => session.cleanup(),
  }
}
