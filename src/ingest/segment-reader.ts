import { existsSync, readdirSync } from 'node:fs'
import type { BatchRecord } from './segment-file.ts'
import { CHECK_MARK, LINE_END } from './segment-file.ts'

/** A segment's batch whose checksum matches. */
export interface IntactBatch {
  record: BatchRecord
  /** Byte offsets of the start of its first line and the end of its last line (after `}`, before the line ending). */
  start: number
  end: number
  /** `seq` of its last event; null if it has no events. */
  lastSeq: number | null
}

/** A damaged section of a segment, either between intact batches or after the last one. */
export interface BrokenPiece {
  start: number
  end: number
  /** Number of lost batches, and number of their events where known. */
  batches: number
  events: number
}

export interface SegmentContents {
  intact: IntactBatch[]
  /** In file order. No section is empty. */
  broken: BrokenPiece[]
  /**
   * True if the bytes after the last intact batch were never committed. A kill can leave the beginning of a batch, and
   * a power cut can leave zeros in place of data that was not synced.
   */
  isTorn: boolean
}

/**
 * Reads a segment batch by batch. Each batch ends with a checksum, so a damaged byte affects only the batch that
 * contains it. Segments written by versions without checksums are read line by line.
 */
export function readSegment(bytes: Buffer): SegmentContents {
  const batches = bytes.includes(CHECK_MARK) ? checkedBatches(bytes) : uncheckedBatches(bytes)
  const intact: IntactBatch[] = []
  const broken: BrokenPiece[] = []
  let from = 0
  let hasLineEnd = true
  let failed: FailedCheck[] = []
  const endPiece = (end: number) => {
    // A damaged line ending does not damage a batch.
    const isLoss = failed.length > 0 || end - from > (hasLineEnd ? 0 : 1)
    const events = failed.reduce((sum, check) => sum + check.events, 0)
    if (end > from) broken.push({ start: from, end, batches: isLoss ? Math.max(1, failed.length) : 0, events })
    failed = []
  }
  for (const batch of batches) {
    if ('events' in batch) {
      failed.push(batch)
      continue
    }
    endPiece(batch.start)
    intact.push(batch)
    hasLineEnd = bytes[batch.end] === LINE_END
    from = batch.end + (hasLineEnd ? 1 : 0)
  }
  const tail = bytes.subarray(from)
  const isTorn = hasLineEnd && (tail.includes(0) || (failed.length === 0 && isBeginning(tail)))
  endPiece(bytes.length)
  return { intact, broken, isTorn }
}

/** A batch whose bytes do not match its checksum. */
interface FailedCheck {
  events: number
}

/** Can't occur within a JSON string, because quotes are escaped there. */
const CHECK = /^,"check":\[(\d{1,9}),(\d{1,12}),(\d{1,10})\]\}/
const MAX_CHECK_BYTES = 50

function* checkedBatches(bytes: Buffer): Generator<IntactBatch | FailedCheck> {
  let from = 0
  for (let at = bytes.indexOf(CHECK_MARK); at >= 0; at = bytes.indexOf(CHECK_MARK, at + 1)) {
    const found = CHECK.exec(bytes.toString('latin1', at, at + MAX_CHECK_BYTES))
    if (!found) {
      if (bytes.indexOf(LINE_END, at) < 0) return
      yield { events: 0 }
      continue
    }
    const [events = 0, length = 0, sum = 0] = found.slice(1).map(Number)
    const start = at - length
    const end = at + found[0].length
    // A batch without its line ending is not committed. A damaged line ending causes no loss.
    if (end === bytes.length) return
    if (bytes[end] === 0 || start < from || Bun.hash.crc32(bytes.subarray(start, at)) !== sum) {
      yield { events }
      continue
    }
    const commit = bytes.lastIndexOf(LINE_END, at) + 1
    yield batchOf(bytes, { start, commit: Math.max(start, commit), end }, `${bytes.toString('utf8', commit, at)}}`)
    from = end
  }
}

const COMMIT_MARK = Buffer.from('{"batch":')

function* uncheckedBatches(bytes: Buffer): Generator<IntactBatch | FailedCheck> {
  let start = 0
  let lines = 0
  for (let commit = 0; commit < bytes.length; ) {
    const end = bytes.indexOf(LINE_END, commit)
    if (end < 0) return
    if (bytes.subarray(commit, commit + COMMIT_MARK.length).equals(COMMIT_MARK)) {
      const text = bytes.toString('utf8', commit, end)
      const counted = parsed<{ batch: BatchRecord | null; lines: number }>(text)
      const isWhole = counted?.batch && counted.lines === lines && !bytes.subarray(start, end).includes(0)
      if (isWhole) yield batchOf(bytes, { start, commit, end }, text)
      else yield { events: 0 }
      start = end + 1
      lines = 0
    } else lines++
    commit = end + 1
  }
}

function batchOf(
  bytes: Buffer,
  { start, commit, end }: { start: number; commit: number; end: number },
  mark: string,
): IntactBatch {
  const { batch: record } = JSON.parse(mark) as { batch: BatchRecord }
  if (commit === start) return { record, start, end, lastSeq: null }
  const lastLine = bytes.toString('utf8', Math.max(start, bytes.lastIndexOf(LINE_END, commit - 2) + 1), commit - 1)
  return { record, start, end, lastSeq: lastSeqOf(lastLine) }
}

/** Returns the last `seq` in a line written by a version without checksums; null if the line can't be parsed. */
function lastSeqOf(line: string): number | null {
  const event = parsed<{ seq: number; place?: number[]; vendor: string[] }>(line)
  return event && event.seq + (event.place?.at(-1) ?? event.vendor.length - 1)
}

/**
 * True if the bytes may be the beginning of a batch that was being written: complete lines are JSON, and none of them
 * commits a batch.
 */
function isBeginning(tail: Buffer): boolean {
  const lines = tail.toString('utf8').split('\n').slice(0, -1)
  return lines.every((line) => !line.startsWith(COMMIT_MARK.toString()) && parsed(line) !== null)
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}

/** Returns the names of the segments in the spool folder; empty if the folder does not exist. */
export function spooledSegments(spoolFolder: string): string[] {
  if (!existsSync(spoolFolder)) return []
  return readdirSync(spoolFolder).flatMap((name) => /^(\d+)\.ndjson$/.exec(name)?.[1] ?? [])
}
