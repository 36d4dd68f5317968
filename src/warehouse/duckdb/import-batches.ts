import { DAY_MS, HOUR_MS, type Instant } from '../../core/clock.ts'
import { eventsRelation } from './events-relation.ts'
import type { ParquetFiles } from './parquet-files.ts'

/** SQL that returns the hour of an event. */
export const HOUR = `receivedAt // ${HOUR_MS} * ${HOUR_MS}`

/** Staged events from one hour and organization. */
export interface StagedHour {
  orgId: string
  hour: Instant
  rows: number
  last: Instant
}

/** Staged events from consecutive hours. */
export interface Batch {
  /** In chronological order. An hour occurs once for each organization. */
  hours: readonly StagedHour[]
  from: Instant
  to: Instant
  rows: number
  last: Instant
  /** All sequence numbers in the batch are above this number. */
  floor: number
}

const SEQ_PER_MS = 1000
/** Range of sequence numbers for one hour. Far larger than the number of events in any hour. */
const ROOM = HOUR_MS * SEQ_PER_MS
/** Maximum number of events in the engine's memory, unless a single hour has more. */
const MAX_BATCH_ROWS = 100_000
/** Maximum span of a batch. ClickHouse stores each day separately, and accepts only 100 days in one insert. */
const MAX_BATCH_MS = 60 * DAY_MS

/**
 * Splits staged hours into batches, in order. Sequence numbers of later batches are higher than those of earlier
 * batches.
 */
export function batchesOf(staged: readonly StagedHour[]): Batch[] {
  const hours = [...Map.groupBy(staged, ({ hour }) => hour)].sort(([a], [b]) => a - b)
  const batches: Batch[] = []
  for (const [hour, own] of hours) {
    const rows = own.reduce((sum, one) => sum + one.rows, 0)
    const last = own.reduce((latest, one) => Math.max(latest, one.last), 0)
    const open = batches.at(-1)
    if (open && open.rows + rows <= MAX_BATCH_ROWS && hour - open.from < MAX_BATCH_MS) {
      Object.assign(open, { hours: [...open.hours, ...own], to: hour + HOUR_MS, rows: open.rows + rows, last })
    } else {
      // If a great many events have the same time, their sequence numbers extend beyond their hour.
      const floor = open ? Math.max(open.floor, open.last * SEQ_PER_MS) + open.rows : 0
      batches.push({ hours: own, from: hour, to: hour + HOUR_MS, rows, last, floor })
    }
  }
  return batches
}

/** Least and highest sequence numbers near a batch that may be in use. */
export function numbersNear({ from, last, rows, floor }: Batch): { least: number; most: number } {
  return { least: from * SEQ_PER_MS, most: Math.max(floor, last * SEQ_PER_MS) + rows + ROOM }
}

/**
 * Selects the events of a batch with `seq`, and with their position `place` in the order of `seq`, starting at 1.
 * Sequence numbers are unique and at least `receivedAt` × `SEQ_PER_MS`, like those of events that arrive live. They are
 * ordered by time, then by position in the file.
 * @param elsewhere SQL that selects the sequence numbers near the batch that are used outside of the folder
 */
export function numbered(parquet: ParquetFiles, events: string, batch: Batch, elsewhere: string | null = null): string {
  const ofBatch = `${events} WHERE receivedAt >= ${batch.from} AND receivedAt < ${batch.to}`
  // Sorting a few columns and joining the rest halves the cost.
  const taken = [takenRowsIn(parquet, batch), elsewhere].filter((sql) => sql !== null).join(' UNION ')
  return `SELECT * FROM (SELECT * FROM ${ofBatch}) JOIN (${numbersOf(taken || null, ofBatch, batch)}) USING (row)`
}

function numbersOf(taken: string | null, ofBatch: string, { floor }: Batch): string {
  const placed = `SELECT row, receivedAt * ${SEQ_PER_MS} AS least, row_number() OVER (ORDER BY receivedAt, row) AS place
    FROM ${ofBatch}`
  const above = (least: string, floor: string) =>
    `place + greatest(max(${least} - place) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING), ${floor})`
  if (taken === null) return `SELECT row, place, ${above('least', String(floor))} AS seq FROM (${placed})`
  // Events are first numbered as if only unused numbers existed. These positions are then mapped to sequence numbers.
  const isBefore = `(SELECT count(*) FROM taken WHERE seq < ${floor})`
  return `WITH taken AS MATERIALIZED (SELECT seq, row_number() OVER (ORDER BY seq) AS rank FROM (${taken})),
    free AS (
      SELECT row, place, ${above('least - coalesce(rank, 0)', `${floor} - ${isBefore}`)} AS number
      FROM (${placed}) ASOF LEFT JOIN taken ON least > taken.seq
    )
    SELECT row, place, free.number + coalesce(rank, 0) AS seq
    FROM free ASOF LEFT JOIN (SELECT seq - (rank - 1) AS before, max(rank) AS rank FROM taken GROUP BY before) AS gaps ON free.number >= gaps.before`
}

/** Selects the sequence numbers near the batch that are already used; null if there are none. */
function takenRowsIn(parquet: ParquetFiles, batch: Batch): string | null {
  const { least, most } = numbersNear(batch)
  const { files, folder, spool } = parquet.sources()
  const close = files.filter((file) => file.maxSeq >= least && file.minReceivedAt * SEQ_PER_MS <= most)
  if (close.length === 0 && spool.length === 0) return null
  const window = { from: 0, to: Number.MAX_SAFE_INTEGER }
  const relation = eventsRelation({ files: close, folder, spool }, { orgId: null, window, keys: [] })
  return `SELECT seq FROM (${relation}) WHERE seq >= ${least} AND seq <= ${most}`
}
