import { availableParallelism } from 'node:os'
import { DuckDBInstance } from '@duckdb/node-api'
import { HOUR_MS, MINUTE_MS, systemClock } from '../../src/core/clock.ts'
import { quoteText } from '../../src/warehouse/duckdb/duckdb-dialect.ts'
import { PAST_KEYS } from './past-events.ts'

const SESSION_GAP_MS = 30 * MINUTE_MS

/** The same events in plain DuckDB: one file in chronological order, with one column per parameter. */
export interface PlainMonth {
  /** Returns whether the insight at this path is supported. */
  knows(path: string): boolean
  /** Runs the query of the insight at `path` for the last `hours`. Rejects if the insight is not supported. */
  ask(path: string, hours: number): Promise<void>
  close(): void
}

/**
 * Writes the events in the Parquet file at `source` to `path`, with one column per parameter, and opens the new file.
 */
export async function openPlainMonth(source: string, path: string): Promise<PlainMonth> {
  const engine = await DuckDBInstance.create(':memory:', {
    threads: String(availableParallelism()),
    memory_limit: '2GB',
  })
  const connection = await engine.connect()
  const columns = PAST_KEYS.map((key) => `params[${quoteText(key)}] AS ${key}`)
  await connection.run(`COPY (SELECT * EXCLUDE (params), ${columns.join(', ')} FROM read_parquet(${quoteText(source)})
    ORDER BY receivedAt) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd)`)
  return {
    knows: (insight) => insight in QUESTIONS,
    async ask(insight, hours) {
      const question = QUESTIONS[insight]
      if (!question) throw new Error(`unknown insight: ${insight}`)
      const from = systemClock.now() - hours * HOUR_MS
      for (const sql of question(`(FROM read_parquet(${quoteText(path)}) WHERE receivedAt >= ${from})`)) {
        await connection.runAndReadAll(sql)
      }
    },
    close() {
      connection.closeSync()
      engine.closeSync()
    },
  }
}

/**
 * Returns SQL that counts every value of every parameter for each combination of `by`. Each parameter requires a
 * separate pass.
 */
const valuesSql = (events: string, by: string) =>
  PAST_KEYS.map(
    (key) => `SELECT ${by}, '${key}' AS key, ${key} AS value, count(*) AS weight, max(receivedAt) AS lastAt
      FROM ${events} WHERE trim(${key}) <> '' GROUP BY ALL`,
  ).join(' UNION ALL ')

const totalsSql = (events: string, by: string) => `SELECT ${by}, count(*) FROM ${events} GROUP BY ALL`

/** Queries for each insight, written by hand for this purpose only. */
const QUESTIONS: Record<string, (events: string) => string[]> = {
  '/v1/events/dictionary': (events) => [
    totalsSql(events, 'vendor'),
    `SELECT vendor, key, sum(weight) AS weight, max(lastAt), count(*) AS different, max_by(value, weight, 5) AS examples,
       sum(weight) FILTER (WHERE try_cast(value AS DOUBLE) IS NOT NULL) AS numbers,
       sum(weight) FILTER (WHERE value IN ('true', 'false')) AS booleans
     FROM (${valuesSql(events, 'vendor')}) GROUP BY ALL ORDER BY vendor, weight DESC`,
  ],
  '/v1/events/dictionary/flat': (events) => [
    `SELECT count(*) FROM ${events}`,
    `SELECT domainId, vendor, event, key, sum(weight) AS weight, max(lastAt), max_by(value, weight, 10) AS shown,
       max_by(weight, weight, 10) AS weights
     FROM (${valuesSql(events, 'domainId, vendor, event')}) GROUP BY ALL ORDER BY weight DESC LIMIT 5000`,
  ],
  '/v1/journeys/flows': (events) => [flowsSql(events)],
}

/**
 * Returns SQL for the page visits of each session, the transitions between them, and the events sent during each visit.
 */
function flowsSql(events: string): string {
  const segment = `'/([0-9]+|[0-9a-fA-F]{16,})(/|$)'`
  return `WITH told AS (
      SELECT *, regexp_replace(path, ${segment}, '/*\\2', 'g') AS name,
        coalesce(receivedAt - lag(receivedAt) OVER (PARTITION BY domainId, sessionId ORDER BY receivedAt), 0) >= ${SESSION_GAP_MS} AS begins
      FROM ${events}
    ), sessions AS (
      SELECT *, sum(begins::INTEGER) OVER (PARTITION BY domainId, sessionId ORDER BY receivedAt) AS part FROM told
    ), moves AS (
      SELECT *, name IS DISTINCT FROM lag(name) OVER (PARTITION BY domainId, sessionId, part ORDER BY ts) AS moved FROM sessions
    ), stays AS MATERIALIZED (
      SELECT *, sum(moved::INTEGER) OVER (PARTITION BY domainId, sessionId, part ORDER BY ts) - 1 AS step FROM moves
    ), visits AS MATERIALIZED (
      SELECT domainId, sessionId, part, step, any_value(name) AS name FROM stays WHERE step < 4 GROUP BY ALL
    )
    SELECT 'node' AS kind, step, name, NULL AS toName, NULL AS vendor, NULL AS event, count(*) FROM visits GROUP BY ALL
    UNION ALL
    SELECT 'link', one.step, one.name, next.name, NULL, NULL, count(*) FROM visits AS one
      JOIN visits AS next ON next.domainId = one.domainId AND next.sessionId = one.sessionId AND next.part = one.part AND next.step = one.step + 1
      GROUP BY ALL
    UNION ALL
    SELECT 'fired', step, name, NULL, vendor, event, count(*) FROM stays WHERE step < 4 GROUP BY ALL`
}
