import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { StoredPage } from '../core/stored-page-view.ts'
import type { BatchAnswer } from './batch.ts'
import type { LedgerNote } from './batch-report.ts'
import { eventLines } from './event-line.ts'

/** The record of a batch, excluding its events. Its line in the spool commits the batch. */
export interface BatchRecord {
  /** Domain and batchId; null for a batch without an id, whose repeats are not recognized. */
  key: string | null
  orgId: string
  domainId: string
  receivedAt: Instant
  answer: BatchAnswer
  ledger: LedgerNote[]
  /** Timings of vendors' code; absent if there are none. */
  pages?: StoredPage[]
  /** Ids of the alerts that its events violate; absent if there are none. */
  violated?: string[]
}

/** A batch to append to the spool. */
export interface BatchLines {
  /** Lines of JSON without line endings: the batch's events, followed by the line `{"batch": …}` that commits them. */
  lines: string[]
  /** Number of events. */
  events: number
}

export function linesOf(events: readonly StoredEvent[], batch: BatchRecord): BatchLines {
  const lines = eventLines(events)
  lines.push(JSON.stringify({ batch }))
  return { lines, events: events.length }
}

export const LINE_END = 10

/**
 * Start of the checksum at the end of a commit line. The checksum consists of the number of events, the number of bytes
 * in the batch before it, and their CRC-32.
 */
export const CHECK_MARK = ',"check":['
const MAX_CHECK_BYTES = 64

/**
 * Encodes batches as the bytes of a segment. Reuses its buffer, because allocating new buffers costs more than copying.
 */
export class SegmentEncoder {
  private scratch = Buffer.allocUnsafe(1024 * 1024)

  /** Returns a view of the reused buffer. The view is valid until the next call. */
  encode(batches: readonly BatchLines[]): Buffer {
    let mostBytes = 0
    for (const { lines } of batches) {
      mostBytes += MAX_CHECK_BYTES
      for (const { length } of lines) mostBytes += length * 3 + 1
    }
    if (mostBytes > this.scratch.length) this.scratch = Buffer.allocUnsafe(mostBytes)
    let end = 0
    for (const batch of batches) end = this.add(batch, end)
    return this.scratch.subarray(0, end)
  }

  private add({ lines, events }: BatchLines, start: number): number {
    const { scratch } = this
    let end = start
    for (const line of lines) {
      // The line ending is written separately, because appending it to the line would copy the whole line.
      end += scratch.write(line, end)
      scratch[end++] = LINE_END
    }
    // The checksum is part of the last object, so that every line is valid JSON.
    end -= 2
    const sum = Bun.hash.crc32(scratch.subarray(start, end))
    end += scratch.write(`${CHECK_MARK}${events},${end - start},${sum}]}`, end)
    scratch[end++] = LINE_END
    return end
  }
}
