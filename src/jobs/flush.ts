import { attemptEach } from '../core/attempt.ts'
import { messageOf } from '../core/error.ts'
import type { BatchMemory } from '../ingest/batch-memory.ts'
import type { Collector } from '../ingest/collector.ts'
import type { Segment, Spool } from '../ingest/spool.ts'
import { recordSegment } from '../ingest/store.ts'
import type { Db } from '../store/database.ts'
import type { DuckdbWarehouse } from '../warehouse/duckdb.ts'

/** Events reach Parquet, and usage its counters, about this long after they came in. */
export const SEGMENT_AGE_MS = 4000

export interface FlushParts {
  db: Db
  batches: BatchMemory
  spool: Spool
  warehouse: DuckdbWarehouse
  collector: Pick<Collector, 'recordRefusals'>
}

/**
 * Seals the spool when it is that old, and loads every sealed segment into the warehouse, oldest first. A part that fails
 * costs the others nothing and is tried again in the next round; the round fails at its end.
 */
export async function flush(parts: FlushParts, minAgeMs = 0): Promise<void> {
  await round(parts, () => parts.spool.seal(minAgeMs))
}

/** The flush at the end of the program: writes what waits, closes the spool and loads all of it. Fails as `flush` does. */
export async function lastFlush(parts: FlushParts): Promise<void> {
  await round(parts, () => parts.spool.close())
}

async function round(parts: FlushParts, seal: () => Promise<void>): Promise<void> {
  const steps = [
    () => parts.collector.recordRefusals(),
    seal,
    () => attemptEach('segments', [...parts.spool.segments()], (segment) => load(parts, segment)),
  ]
  await attemptEach('parts of a flush', steps, (step) => step())
}

async function load({ db, batches, spool, warehouse }: FlushParts, segment: Segment): Promise<void> {
  try {
    if (!(await spool.mend(segment))) return
    const pages = segment.batches.notable.flatMap((batch) => batch.pages ?? [])
    await warehouse.load(
      { ...segment, pages },
      (content) => recordSegment(db, batches, segment.batches, content),
      () => spool.release(segment),
    )
    await warehouse.remove([segment.path])
  } catch (error) {
    throw new Error(`segment ${segment.name}: ${messageOf(error)}`, { cause: error })
  }
}
