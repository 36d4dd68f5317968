import { attemptEach } from '../core/attempt-each.ts'
import { messageOf } from '../core/error.ts'
import type { Collector } from '../ingest/collector.ts'
import { recordSegment } from '../ingest/record-segment.ts'
import type { SeenBatches } from '../ingest/seen-batches.ts'
import type { Segment, Spool } from '../ingest/spool.ts'
import type { Db } from '../store/database.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

/** Approximate time until received events are in Parquet files and usage counters. */
export const SEGMENT_AGE_MS = 4000

export interface FlushDeps {
  db: Db
  batches: SeenBatches
  spool: Spool
  warehouse: Pick<Warehouse, 'load' | 'discard' | 'interrupt' | 'readsSpool'>
  collector: Pick<Collector, 'recordRefusals'>
}

/**
 * Seals the spool if it is at least `minAgeMs` old, and loads all sealed segments into the warehouse, oldest first. The
 * server's own canary events are dropped if queries have found them in the spool, because by then they have been
 * evaluated. A segment that fails does not affect other segments and is retried in the next round. In this case, the
 * promise rejects after the last segment.
 */
export async function flush(parts: FlushDeps, minAgeMs = 0): Promise<void> {
  await round(parts, () => parts.spool.seal(minAgeMs))
}

/** Time limit for the final flush. The next start reads the remaining data from the spool. */
const FINAL_FLUSH_MS = 1000

/**
 * The flush at shutdown: writes pending batches, closes the spool, and loads segments for up to one second. Never
 * fails. Unloaded segments stay in the spool and are reported to `log`.
 */
export async function finalFlush(
  parts: FlushDeps,
  log: { info(message: string): void; error(error: unknown, message: string): void },
): Promise<void> {
  let isLate = false
  const abort = () => {
    isLate = true
    parts.warehouse.interrupt()
  }
  const timer = setInterval(abort, FINAL_FLUSH_MS)
  try {
    await round(parts, () => parts.spool.close())
  } catch (error) {
    if (isLate) log.info('the rest of the spool will be loaded at the next startup')
    else log.error(error, `final flush: ${messageOf(error)}`)
  } finally {
    clearInterval(timer)
  }
}

async function round(parts: FlushDeps, seal: () => Promise<void>): Promise<void> {
  const steps = [
    () => parts.collector.recordRefusals(),
    seal,
    () => attemptEach('segments', [...parts.spool.segments()], (segment) => load(parts, segment)),
  ]
  await attemptEach('parts of a flush', steps, (step) => step())
}

async function load({ db, batches, spool, warehouse }: FlushDeps, segment: Segment): Promise<void> {
  try {
    if (!(await spool.repair(segment))) return
    if (segment.batches.isInternal && warehouse.readsSpool) {
      spool.release(segment)
      return await warehouse.discard(segment)
    }
    const pages = segment.batches.notable.flatMap((batch) => batch.pages ?? [])
    await warehouse.load(
      { ...segment, pages },
      (content) => recordSegment(db, batches, segment.batches, content),
      () => spool.release(segment),
    )
    await warehouse.discard(segment)
  } catch (error) {
    throw new Error(`segment ${segment.name}: ${messageOf(error)}`, { cause: error })
  }
}
