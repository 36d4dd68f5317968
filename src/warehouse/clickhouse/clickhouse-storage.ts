import { DAY_MS, type Instant } from '../../core/clock.ts'
import { MINUTES_MS } from '../relation-columns.ts'
import type { Piece, StoredPart } from '../warehouse.ts'
import type { ClickhouseClient } from './clickhouse-client.ts'
import { quoteText } from './clickhouse-dialect.ts'
import { TABLES, type Table } from './clickhouse-schema.ts'

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

/** The stored data on a single ClickHouse server. All methods throw `ClickhouseError`. */
export class ClickhouseStorage {
  constructor(private readonly client: ClickhouseClient) {}

  /** All partitions, oldest first. None belongs to a single organization. */
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
    for (const partition of await this.partitions()) {
      const part = partOf(partition)
      const isReplaced = partition.table === 'counts' && part.lastAt < now - MINUTES_MS
      if (isReplaced || isDropped(part))
        await this.client.run(`ALTER TABLE ${partition.table} DROP PARTITION ${quoteText(partition.day)}`)
    }
  }

  /** Deletes all data of organizations. Cheap if there is none. */
  async deleteOrganizations(orgIds: readonly string[]): Promise<void> {
    if (orgIds.length === 0) return
    const own = `orgId IN (${orgIds.map(quoteText).join(', ')})`
    for (const table of TABLES) {
      const found = await this.client.select(`SELECT 1 AS found FROM ${table} WHERE ${own} LIMIT 1`)
      if (found.length > 0) await this.client.run(`DELETE FROM ${table} WHERE ${own}`)
    }
  }

  private partitions(): Promise<Partition[]> {
    return this.client.select<Partition>(
      `SELECT table, partition AS day, toInt64(sum(rows)) AS rows, toInt64(sum(bytes_on_disk)) AS bytes
       FROM system.parts WHERE database = currentDatabase() AND active AND table IN (${TABLES.map(quoteText).join(', ')})
       GROUP BY table, day ORDER BY table, day`,
    )
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
