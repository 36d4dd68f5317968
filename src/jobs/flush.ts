import type { BatchMemory } from '../ingest/batch-memory.ts'
import type { Collector } from '../ingest/collector.ts'
import type { Spool } from '../ingest/spool.ts'
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

/** Seals the spool when it is that old, and loads every sealed segment into the warehouse, oldest first. */
export async function flush({ db, batches, spool, warehouse, collector }: FlushParts, minAgeMs = 0): Promise<void> {
  await collector.recordRefusals()
  await spool.seal(minAgeMs)
  for (const segment of [...spool.segments()]) {
    const pages = segment.batches.notable.flatMap((batch) => batch.pages ?? [])
    await warehouse.load(
      { ...segment, pages },
      (content) => recordSegment(db, batches, segment.batches, content),
      () => spool.release(segment),
    )
    await warehouse.remove([segment.path])
  }
}
