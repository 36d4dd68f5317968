import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { StoredPage } from '../core/page.ts'
import type { BatchAnswer } from './batch.ts'
import { eventLines } from './event-line.ts'
import type { LedgerNote } from './understand.ts'

/** What a batch leaves beside its events. Its line in the spool is the batch's commit mark. */
export interface BatchRecord {
  /** Domain and batchId; null for a batch without one, which is never recognised again. */
  key: string | null
  orgId: string
  domainId: string
  receivedAt: Instant
  answer: BatchAnswer
  ledger: LedgerNote[]
  /** What the batch said of the speed of vendors' code; absent: nothing. */
  pages?: StoredPage[]
}

/** A batch on its way into the spool. */
export interface BatchLines {
  /** Lines of JSON without their ends: its events, and the line `{"batch": …}` that commits them. */
  lines: string[]
  /** How many events it has. */
  events: number
}

export function linesOf(events: readonly StoredEvent[], batch: BatchRecord): BatchLines {
  const lines = eventLines(events)
  lines.push(JSON.stringify({ batch }))
  return { lines, events: events.length }
}

export const LINE_END = 10

/** What the line that commits a batch ends with: how many events it has, its bytes up to here, and their CRC-32. */
export const CHECK_MARK = ',"check":['
const MOST_CHECK_BYTES = 64

/** Turns batches into the bytes of a segment, in memory that is used again and again: fresh buffers cost more than the copying. */
export class SegmentEncoder {
  private scratch = Buffer.allocUnsafe(1024 * 1024)

  /** Good until the next call. */
  encode(batches: readonly BatchLines[]): Buffer {
    let mostBytes = 0
    for (const { lines } of batches) {
      mostBytes += MOST_CHECK_BYTES
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
      // Joined with its end, a line would be copied once more.
      end += scratch.write(line, end)
      scratch[end++] = LINE_END
    }
    // The check stands inside the last object, so that every line is JSON.
    end -= 2
    const sum = Bun.hash.crc32(scratch.subarray(start, end))
    end += scratch.write(`${CHECK_MARK}${events},${end - start},${sum}]}`, end)
    scratch[end++] = LINE_END
    return end
  }
}
