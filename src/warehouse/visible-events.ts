import type { Instant } from '../core/clock.ts'
import type { Spool } from '../ingest/spool.ts'
import type { Warehouse } from './warehouse.ts'

/** Which of the acknowledged events queries find. */
export interface VisibleEvents {
  /** Queries find everything received earlier. Alerts are evaluated up to this time. */
  watermark(): Instant
  /** True if queries find all events up to this number. */
  isVisible(seq: number): boolean
}

type SpoolState = Pick<Spool, 'watermark' | 'isWritten' | 'oldestAt'>

/** Returns which events queries find in this warehouse and spool. */
export function visibleEvents(spool: SpoolState, warehouse: Pick<Warehouse, 'readsSpool' | 'pending'>): VisibleEvents {
  if (warehouse.readsSpool) return { watermark: () => spool.watermark(), isVisible: (seq) => spool.isWritten(seq) }
  return {
    watermark: () =>
      Math.min(spool.watermark(), spool.oldestAt() ?? spool.watermark(), warehouse.pending.since ?? spool.watermark()),
    isVisible(seq) {
      const { since, visibleSeq } = warehouse.pending
      return seq <= visibleSeq || (since === null && spool.oldestAt() === null && spool.isWritten(seq))
    },
  }
}
