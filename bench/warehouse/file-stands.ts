import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { DuckDBInstance } from '@duckdb/node-api'
import { HOUR_MS } from '../../src/core/clock.ts'
import { quoteText } from '../../src/warehouse/duckdb/dialect.ts'
import { loadClickhouse } from '../../test/engine/clickhouse.ts'
import { PAST_KEYS } from './past-events.ts'

/** What is asked of the same events, wherever they are. */
export interface FileQuestion {
  name: string
  /** The parameter that it reads; null: none. */
  key: string | null
  /** In SQL that all engines understand; `value` is the parameter. */
  sql(events: string, value: string): string
}

export const FILE_QUESTIONS: readonly FileQuestion[] = [
  {
    name: 'top-20 of a key',
    key: 'item_id',
    sql: (events, value) =>
      `SELECT ${value} AS text, count(*) AS events FROM ${events} WHERE ${value} IS NOT NULL
       GROUP BY text ORDER BY events DESC, text LIMIT 20`,
  },
  {
    name: 'share of blanks',
    key: 'transaction_id',
    sql: (events, value) =>
      `SELECT count(*) AS events, count(*) - count(nullif(trim(${value}), '')) AS blank FROM ${events}`,
  },
  {
    name: 'count by hour',
    key: null,
    sql: (events) =>
      `SELECT receivedAt - receivedAt % ${HOUR_MS} AS hour, count(*) AS events FROM ${events} GROUP BY hour ORDER BY hour`,
  },
]

/** An engine over the events of the month. */
export interface FileStand {
  ask(question: FileQuestion): Promise<Record<string, unknown>[]>
  /** Forgets what it keeps of earlier questions. */
  cool?(): Promise<void>
  close(): void
}

/** Plain DuckDB over one file. */
export async function openPlain(path: string): Promise<FileStand> {
  const engine = await DuckDBInstance.create(':memory:', { threads: String(Math.min(4, availableParallelism())) })
  const connection = await engine.connect()
  return {
    async ask({ sql, key }) {
      const answer = await connection.runAndReadAll(sql(`read_parquet(${quoteText(path)})`, key ?? ''))
      return answer.getRowObjects()
    },
    close() {
      connection.closeSync()
      engine.closeSync()
    },
  }
}

/** Writes the events of the month into one file of columns, sorted as ours. Returns its bytes. */
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

/** ClickHouse in this process, parameters as its JSON type; null where it can't be loaded. */
export async function openClickhouse(
  month: string,
  orgId: string,
): Promise<{ stand: FileStand; bytes: number; remove(): void } | null> {
  const loaded = await loadClickhouse()
  if (typeof loaded === 'string') {
    console.log(`  without ClickHouse: ${loaded}`)
    return null
  }
  const session = loaded.open()
  const rowsOf = (sql: string) =>
    session
      .query(sql, 'JSONEachRow')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  session.query(`CREATE TABLE events (orgId LowCardinality(String), domainId LowCardinality(String), receivedAt Int64, ts Int64,
      vendor LowCardinality(String), event LowCardinality(String), account LowCardinality(String), kind LowCardinality(String),
      host LowCardinality(String), path String, title LowCardinality(String), sessionId String, status LowCardinality(String),
      execMs Float64, durMs Float64, version Int32, params JSON)
    ENGINE = MergeTree ORDER BY (orgId, domainId, vendor, event, receivedAt)`)
  session.query(`INSERT INTO events SELECT ${quoteText(orgId)}, domainId, receivedAt, ts, vendor, event, account, kind, host, path,
      title, sessionId, status, execMs, durMs, version, params FROM file(${quoteText(month)}, Parquet)`)
  session.query('OPTIMIZE TABLE events FINAL')
  const [parts] = rowsOf(`SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE table = 'events' AND active`)
  return {
    bytes: Number(parts?.bytes),
    stand: {
      ask: async ({ sql, key }) => rowsOf(sql('events', key === null ? '' : `params.${key}.:String`)),
      cool: async () => {
        for (const cache of ['MARK', 'UNCOMPRESSED']) session.query(`SYSTEM DROP ${cache} CACHE`)
      },
      close() {},
    },
    remove: () => session.cleanup(),
  }
}
