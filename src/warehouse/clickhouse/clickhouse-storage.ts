import { DAY_MS, type Instant } from '../../core/clock.ts'
import { MINUTES_MS } from '../relation-columns.ts'
import type { Piece, StoredPart } from '../warehouse.ts'
import type { ClickhouseClient } from './clickhouse-client.ts'
import { quoteText } from './clickhouse-dialect.ts'
import { localTable, TABLES, type Table } from './clickhouse-schema.ts'
import { serversOf } from './prepare-server.ts'

/** A partition of a table: a day, or a month of counts by quarter-hour. */
interface Partition {
  table: Table
  /** Its first day, such as `2026-01-31`. */
  day: string
  rows: number
  bytes: number
}

/** Events of an organization on a day (UTC). */
interface DailyEvents {
  orgId: string
  /** Start of the day. */
  day: Instant
  events: number
  /** Start of the quarter-hour with the first event. */
  firstAt: Instant
}

const KINDS: Readonly<Record<Table, StoredPart['kind']>> = {
  events: 'events',
  names: 'events',
  counts: 'counts',
  counts_quarter: 'counts',
  pages: 'pages',
}

/** The stored data on a ClickHouse server or cluster. All methods throw `ClickhouseError`. */
export class ClickhouseStorage {
  /** Tables by the name of the table that stores the rows. */
  private readonly tables: ReadonlyMap<string, Table>

  constructor(private readonly client: ClickhouseClient) {
    this.tables = new Map(TABLES.map((table) => [localTable(table, client.address), table]))
  }

  /** All partitions, oldest first, each with the rows of all shards. None belongs to a single organization. */
  async parts(): Promise<StoredPart[]> {
    return (await this.partitions()).map(partOf).sort((a, b) => a.firstAt - b.firstAt)
  }

  /**
   * Estimates how much of each partition belongs to each organization, by the numbers of their events on its days.
   * Partitions with only past data can be deleted.
   */
  async pieces(parts: readonly StoredPart[], now: Instant): Promise<Piece[]> {
    const days = Map.groupBy(await this.dailyEvents(), ({ day }) => day)
    return parts.flatMap((part) => {
      const own: DailyEvents[] = []
      for (let day = part.firstAt; day <= part.lastAt; day += DAY_MS) own.push(...(days.get(day) ?? []))
      return piecesOf(part, own, now)
    })
  }

  private dailyEvents(): Promise<DailyEvents[]> {
    return this.client.select<DailyEvents>(
      `SELECT orgId, intDiv(minute, ${DAY_MS}) * ${DAY_MS} AS day, sum(events) AS events, min(minute) AS firstAt
       FROM counts_quarter GROUP BY orgId, day`,
    )
  }

  /** Deletes partitions, and counts by minute that are also stored by quarter-hour and no longer needed. */
  async drop(isDropped: (part: StoredPart) => boolean, now: Instant): Promise<void> {
    const dropped = (await this.partitions()).filter((partition) => {
      const part = partOf(partition)
      const isReplaced = partition.table === 'counts' && part.lastAt < now - MINUTES_MS
      return isReplaced || isDropped(part)
    })
    if (dropped.length === 0) return
    for (const server of await serversOf(this.client))
      for (const { table, day } of dropped)
        await server.run(`ALTER TABLE ${localTable(table, server.address)} DROP PARTITION ${quoteText(day)}`)
  }

  /** Deletes all data of organizations. Cheap if there is none. */
  async deleteOrganizations(orgIds: readonly string[]): Promise<void> {
    if (orgIds.length === 0) return
    const own = `orgId IN (${orgIds.map(quoteText).join(', ')})`
    for (const server of await serversOf(this.client)) {
      for (const table of this.tables.keys()) {
        const found = await server.select(`SELECT 1 AS found FROM ${table} WHERE ${own} LIMIT 1`)
        if (found.length > 0) await server.run(`DELETE FROM ${table} WHERE ${own}`)
      }
    }
  }

  private async partitions(): Promise<Partition[]> {
    const { cluster, database } = this.client.address
    // One replica of each shard answers, so that replicas are not counted twice.
    const source = cluster === null ? 'system.parts' : `cluster(${quoteText(cluster)}, system.parts)`
    const rows = await this.client.select<Omit<Partition, 'table'> & { local: string }>(
      `SELECT table AS local, partition AS day, toInt64(sum(rows)) AS rows, toInt64(sum(bytes_on_disk)) AS bytes
       FROM ${source} WHERE database = ${quoteText(database)} AND active AND table IN (${[...this.tables.keys()].map(quoteText).join(', ')})
       GROUP BY local, day ORDER BY local, day`,
    )
    return rows.flatMap(({ local, ...rest }) => {
      const table = this.tables.get(local)
      return table ? [{ table, ...rest }] : []
    })
  }
}

function piecesOf({ kind, name, bytes, lastAt }: StoredPart, days: readonly DailyEvents[], now: Instant): Piece[] {
  const total = days.reduce((sum, { events }) => sum + events, 0)
  const part = lastAt < now ? name : null
  return [...Map.groupBy(days, ({ orgId }) => orgId)].map(([orgId, own]) => ({
    orgId,
    kind,
    from: own.reduce((first, { firstAt }) => Math.min(first, firstAt), Number.POSITIVE_INFINITY),
    bytes: (bytes * own.reduce((sum, { events }) => sum + events, 0)) / total,
    part,
    server: 'reachable' as const,
  }))
}

function partOf({ table, day, rows, bytes }: Partition): StoredPart {
  const firstAt = Date.parse(day)
  const first = new Date(firstAt)
  const end = table === 'counts_quarter' ? Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1) : firstAt + DAY_MS
  const name = `${table}/${day}`
  return { name, kind: KINDS[table], orgId: null, firstAt, lastAt: end - 1, rows, bytes, isDamaged: false }
}
