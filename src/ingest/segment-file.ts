import { readFileSync, truncateSync } from 'node:fs'
import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { StoredPage } from '../core/page.ts'
import type { BatchAnswer } from './batch.ts'
import { BatchLog } from './batch-log.ts'
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

const COMMIT_MARK = Buffer.from('{"batch":')

/** A batch as lines of JSON, without their ends: its events, and the line that commits them. */
export function linesOf(events: readonly StoredEvent[], batch: BatchRecord): string[] {
  const lines = eventLines(events)
  lines.push(JSON.stringify({ batch, lines: lines.length }))
  return lines
}

/** What a file holds for sure. */
export interface Kept {
  batches: BatchLog
  /** Of the last event; 0 when there is none. */
  lastSeq: number
}

/** Cuts the file behind its last commit mark and answers what stays. */
export function recoverSegment(path: string): Kept {
  const bytes = readFileSync(path)
  const batches = new BatchLog()
  let committed = 0
  let lastLine = ''
  let lines: number[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start)
    if (end < 0) break
    if (bytes.subarray(start, start + COMMIT_MARK.length).equals(COMMIT_MARK)) {
      const batch = readMark(bytes.toString('utf8', start, end), lines.length)
      if (batch && !bytes.subarray(committed, end).includes(0)) {
        batches.add(batch)
        lastLine = bytes.toString('utf8', lines.at(-1) ?? 0, lines.length > 0 ? start - 1 : 0) || lastLine
        committed = end + 1
        lines = []
      }
    } else lines.push(start)
    start = end + 1
  }
  if (committed < bytes.length) truncateSync(path, committed)
  return { batches, lastSeq: lastLine === '' ? 0 : lastSeqOf(lastLine) }
}

function lastSeqOf(line: string): number {
  const { seq, place, vendor } = JSON.parse(line) as { seq: number; place?: number[]; vendor: string[] }
  return seq + (place?.at(-1) ?? vendor.length - 1)
}

/**
 * The batch of a commit mark behind so many lines; null when it is none. After a power cut what was not synced may have
 * holes, and a mark may be there without its events.
 */
function readMark(line: string, lines: number): BatchRecord | null {
  try {
    const mark = JSON.parse(line) as { batch: BatchRecord | null; lines: number }
    return mark.lines === lines ? mark.batch : null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
