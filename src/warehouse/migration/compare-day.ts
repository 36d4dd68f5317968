import { join } from 'node:path'
import { DAY_MS, HOUR_MS, type Instant } from '../../core/clock.ts'
import { INTERNAL_ORG_ID } from '../../org/internal-org.ts'
import type { ClickhouseClient } from '../clickhouse/clickhouse-client.ts'
import type { Table } from '../clickhouse/clickhouse-schema.ts'
import { countsRelation } from '../duckdb/counts-rollup.ts'
import { quoteText } from '../duckdb/duckdb-dialect.ts'
import { eventsRelation } from '../duckdb/events-relation.ts'
import { isInScope } from '../duckdb/manifest.ts'
import { pagesRelation } from '../duckdb/pages-relation.ts'
import type { ParquetFiles } from '../duckdb/parquet-files.ts'
import { MINUTES_MS } from '../relation-columns.ts'
import type { WrittenDay } from './migration-progress.ts'

/** Rows of one hour whose number is not the same in both engines. */
export interface DayDifference {
  kind: 'events' | 'counts' | 'pages'
  orgId: string
  domainId: string
  vendor: string
  /** Empty for `pages`. */
  event: string
  hour: Instant
  /** Number of events, counted events or pages; null without any. Equal numbers mean that the events differ. */
  inFolder: number | null
  inClickhouse: number | null
}

/** Time limit for a query that reads a whole day. */
export const DAY_TIMEOUT_MS = 3_600_000

/** Selects the rows of a day, except the server's own canary events. */
export function ofDay(day: Instant, time: 'receivedAt' | 'minute'): string {
  return `${time} >= ${day} AND ${time} < ${day + DAY_MS} AND orgId <> ${quoteText(INTERNAL_ORG_ID)}`
}

/** True if ClickHouse has the counts of a day by minute, not only by quarter-hour. */
export const hasMinutes = (day: Instant, now: Instant) => day >= now - MINUTES_MS

/** Returns the days that ClickHouse has data of, with their number of events. */
export async function storedDays(client: ClickhouseClient): Promise<Map<Instant, number>> {
  const daysIn = (table: Table, time: 'receivedAt' | 'minute', events: string) =>
    `SELECT day, ${events} AS events FROM (
       SELECT intDiv(${time}, ${DAY_MS}) * ${DAY_MS} AS day FROM ${table} WHERE orgId <> ${quoteText(INTERNAL_ORG_ID)}
     ) GROUP BY day`
  const parts = [
    daysIn('events', 'receivedAt', 'toInt64(count(*))'),
    daysIn('pages', 'receivedAt', 'toInt64(0)'),
    daysIn('counts_quarter', 'minute', 'toInt64(0)'),
  ]
  const rows = await client.select<{ day: Instant; n: number }>(
    `SELECT day, sum(events) AS n FROM (${parts.join(' UNION ALL ')}) GROUP BY day`,
    { timeoutMs: DAY_TIMEOUT_MS },
  )
  return new Map(rows.map(({ day, n }) => [day, n]))
}

/** One comparison: SQL that selects `orgId, domainId, vendor, event, hour, rows, sum` in each engine. */
interface Comparison {
  kind: DayDifference['kind']
  folder: string
  clickhouse: string
}

/** Compares a day of these files with ClickHouse, by organization, domain, vendor, event and hour. */
export async function compareDay(
  { parquet, client, now }: { parquet: ParquetFiles; client: ClickhouseClient; now: Instant },
  day: Instant,
  { folder, written }: { folder: string; written: WrittenDay },
): Promise<DayDifference[]> {
  const draft = join(parquet.folder, 'tmp', 'compared.parquet')
  const differences: DayDifference[] = []
  for (const { kind, folder: own, clickhouse } of comparisonsOf(day, folder, written, hasMinutes(day, now))) {
    await client.saveParquet(clickhouse, draft, DAY_TIMEOUT_MS)
    const found = await parquet.runWide<Omit<DayDifference, 'kind'>>(
      `SELECT ${KEY}, a.rows AS inFolder, b.rows AS inClickhouse
       FROM (${own}) a FULL JOIN read_parquet(${quoteText(draft)}) b USING (${KEY})
       WHERE a.rows IS DISTINCT FROM b.rows OR a.sum IS DISTINCT FROM b.sum ORDER BY ${KEY} LIMIT ${MAX_NAMED}`,
    )
    differences.push(...found.map((one) => ({ kind, ...one })))
  }
  await parquet.remove([draft])
  return differences
}

const KEY = 'orgId, domainId, vendor, event, hour'
/** Maximum number of differences of one kind in a day that are returned. */
const MAX_NAMED = 20

function comparisonsOf(day: Instant, folder: string, written: WrittenDay, withMinutes: boolean): Comparison[] {
  const scope = { orgId: null, window: { from: day, to: day + DAY_MS } }
  const { rollups, pages } = written
  const files = written.files.filter((file) => isInScope(file, scope))
  const events = eventsRelation({ files, folder, spool: [] }, scope)
  const own = (columns: string, relation: string, time: 'receivedAt' | 'minute') =>
    `SELECT ${columns} FROM (${relation}) WHERE ${ofDay(day, time)} GROUP BY ALL`
  const counts = `orgId, domainId, vendor, event, minute // ${HOUR_MS} * ${HOUR_MS} AS hour, sum(events)::BIGINT AS rows, 0::BIGINT AS sum`
  const comparisons: Comparison[] = [
    {
      kind: 'events',
      folder: own(
        `orgId, domainId, vendor, event, receivedAt // ${HOUR_MS} * ${HOUR_MS} AS hour, count(*) AS rows, bit_xor(seq) AS sum`,
        events,
        'receivedAt',
      ),
      clickhouse: stored('events', 'event', 'receivedAt', 'count(*)', 'groupBitXor(toUInt64(seq))', day),
    },
    {
      kind: 'pages',
      folder: own(
        `orgId, domainId, vendor, '' AS event, receivedAt // ${HOUR_MS} * ${HOUR_MS} AS hour, count(*) AS rows, bit_xor(page) AS sum`,
        pagesRelation({ pages, folder }, scope),
        'receivedAt',
      ),
      clickhouse: stored('pages', `''`, 'receivedAt', 'count(*)', 'groupBitXor(toUInt64(page))', day),
    },
  ]
  const tables: Table[] = withMinutes ? ['counts', 'counts_quarter'] : ['counts_quarter']
  for (const table of tables)
    comparisons.push({
      kind: 'counts',
      folder: own(counts, countsRelation({ rollups, folder, spool: [] }, scope), 'minute'),
      clickhouse: stored(table, 'event', 'minute', 'sum(events)', '0', day),
    })
  return comparisons
}

function stored(
  table: Table,
  event: string,
  time: 'receivedAt' | 'minute',
  rows: string,
  sum: string,
  day: Instant,
): string {
  return `SELECT orgId, domainId, vendor, name AS event, hour, toInt64(${rows}) AS rows, toInt64(${sum}) AS sum
    FROM (SELECT *, ${event} AS name, intDiv(${time}, ${HOUR_MS}) * ${HOUR_MS} AS hour FROM ${table} WHERE ${ofDay(day, time)})
    GROUP BY orgId, domainId, vendor, name, hour`
}
