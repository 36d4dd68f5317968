import {
  closeSync,
  existsSync,
  fdatasync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Clock, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { fileChecksum } from '../core/file-checksum.ts'
import { syncFolder } from '../store/private-file.ts'
import type { BatchAnswer } from './batch.ts'
import { BatchLog } from './segment-batches.ts'
import { type BatchLines, type BatchRecord, linesOf, SegmentEncoder } from './segment-file.ts'
import { recoverSegment, type SegmentDamage } from './segment-recovery.ts'
import { storageError } from './storage-error.ts'

const fdatasyncAsync = promisify(fdatasync)

/** A closed spool file that is waiting to be loaded into the warehouse. */
export interface Segment {
  name: string
  path: string
  batches: BatchLog
  /** CRC-32 of the file as it was written. */
  sum: number
  /** Highest `seq` of its events; 0 without events. All events of later segments have a higher one. */
  lastSeq: number
  /** Time when the segment's file was first found missing; undefined while the file exists. */
  missingSince?: Instant | undefined
}

interface OpenSegment extends Segment {
  fd: number
  /** Number of bytes written and synced. */
  bytes: number
  hour: number
  openedAt: Instant
}

/** Batches from one hour that are written and synced together. */
interface Group {
  hour: number
  lines: BatchLines[]
  batches: BatchRecord[]
  oldestAt: Instant
  /** Lowest `seq` of the group's events; infinite if there are none. */
  firstSeq: number
  /** Highest `seq` of the group's events; 0 if there are none. */
  lastSeq: number
  done: PromiseWithResolvers<void>
}

export interface SpoolOptions {
  maxSegmentBytes?: number
  /** Folder for copies of damaged files. Default: the folder `damaged` next to the spool. */
  damagedFolder?: string
  /** Default: consecutive numbers, for a server whose events no other process numbers. */
  numbering?: Numbering
  /** Returns false while batches must be rejected as on a full disk, although some space is left. Default: never. */
  hasSpace?(): boolean
  /** Called for each file that has unreadable acknowledged batches. */
  damaged?(damage: SegmentDamage): void
}

/** Event numbers of one of several processes that share an event history. */
export interface Numbering {
  /** Numbers start at the time in milliseconds multiplied by this. */
  perMs: number
  /** Its numbers are congruent to `slot` modulo `slots`, so that no other process uses them. */
  slot: number
  slots: number
}

const CONSECUTIVE: Numbering = { perMs: 1000, slot: 0, slots: 1 }

/**
 * The write-ahead log of acknowledged batches until the warehouse has loaded them. In each file, lines with the events
 * of a batch are followed by a line `{"batch": …}` that commits the batch. Concurrent appends share one `fdatasync`.
 */
export class Spool {
  private open: OpenSegment | null = null
  /**
   * Groups to write, ordered by hour. There is usually only one; there are more if an hour ends while the disk is busy.
   */
  private readonly waiting: Group[] = []
  /**
   * The group that is being written. Writing several groups concurrently would not be faster (measured). In addition,
   * Linux reports a failed write only once per descriptor: a concurrent sync could receive the error, and the failed
   * group would be acknowledged.
   */
  private writing: Group | null = null
  private isScheduled = false
  private readonly sealed: Segment[] = []
  private readonly encoder = new SegmentEncoder()
  private readonly maxSegmentBytes: number
  private readonly damagedFolder: string
  private readonly numbering: Numbering
  private nextNumber: number
  private lastReceivedAt = 0
  private lastSeq = 0

  /**
   * Recovers the files of an earlier process: truncates uncommitted data, reports damage and seals the remaining files.
   * Removes segments that `loaded` already contains. `lastSeq` of `loaded` is the highest of any event.
   */
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    loaded: { has(name: string): boolean; last: string | null; lastReceivedAt: Instant; lastSeq: number },
    private readonly options: SpoolOptions = {},
  ) {
    this.maxSegmentBytes = options.maxSegmentBytes ?? 32 * 1024 * 1024
    this.numbering = options.numbering ?? CONSECUTIVE
    this.damagedFolder = options.damagedFolder ?? join(dirname(folder), 'damaged')
    this.nextNumber = loaded.last === null ? 1 : Number.parseInt(loaded.last, 10) + 1
    this.lastReceivedAt = loaded.lastReceivedAt
    this.lastSeq = loaded.lastSeq
    const names = readdirSync(folder).flatMap((file) => SEGMENT_FILE.exec(file)?.[1] ?? [])
    for (const name of names.sort()) {
      const path = join(folder, `${name}.ndjson`)
      this.nextNumber = Math.max(this.nextNumber, Number.parseInt(name, 10) + 1)
      const kept = loaded.has(name) ? null : recoverSegment(path, this.damagedFolder, name !== names.at(-1))
      if (kept?.damage) options.damaged?.(kept.damage)
      if (!kept || kept.batches.size === 0) {
        unlinkSync(path)
        continue
      }
      this.sealed.push({ name, path, batches: kept.batches, sum: kept.sum, lastSeq: kept.lastSeq })
      this.lastReceivedAt = Math.max(this.lastReceivedAt, kept.batches.lastReceivedAt)
      this.lastSeq = Math.max(this.lastSeq, kept.lastSeq)
    }
  }

  /**
   * Returns the `receivedAt` for a batch that is appended in the same event loop iteration. Decreases only after
   * `setBack`.
   */
  arrivalAt(): Instant {
    this.lastReceivedAt = Math.max(this.lastReceivedAt, this.clock.now())
    return this.lastReceivedAt
  }

  /**
   * Returns the next event number. It increases with time and with each call, and stays below 2^53 until the year 2255;
   * with 4,000 numbers per millisecond, until 2041.
   */
  nextSeq(): number {
    const { perMs, slot, slots } = this.numbering
    const least = Math.max(this.lastSeq + 1, this.lastReceivedAt * perMs)
    this.lastSeq = least + ((slot - (least % slots) + slots) % slots)
    return this.lastSeq
  }

  /** Latest `receivedAt` and highest sequence number. */
  get latest(): { receivedAt: Instant; seq: number } {
    return { receivedAt: this.lastReceivedAt, seq: this.lastSeq }
  }

  /**
   * Adjusts to a clock that was set back: later batches have a `receivedAt` of at least `to`. Sequence numbers continue
   * to increase.
   */
  setBack(to: Instant): void {
    this.lastReceivedAt = to
    if (this.open) this.open.openedAt = to
  }

  /** True if no event up to this number is waiting to be written, because each is on disk or was rejected. */
  isWritten(seq: number): boolean {
    return [this.writing, ...this.waiting].every((group) => group === null || group.firstSeq > seq)
  }

  /** Resolves once the batch is on disk. If it can't be written, throws `unavailable` and stores no part of it. */
  append(events: readonly StoredEvent[], batch: BatchRecord): Promise<void> {
    if (this.options.hasSpace?.() === false) return Promise.reject(storageError({ code: 'ENOSPC' }))
    const group = this.groupFor(batch.receivedAt)
    group.lines.push(linesOf(events, batch))
    group.batches.push(batch)
    group.firstSeq = Math.min(group.firstSeq, events[0]?.seq ?? Number.POSITIVE_INFINITY)
    group.lastSeq = Math.max(group.lastSeq, events.at(-1)?.seq ?? 0)
    this.schedule()
    return group.done.promise
  }

  /** The watermark: everything received earlier is on disk and visible. Alerts are evaluated up to this time. */
  watermark(): Instant {
    const oldestAt = this.writing?.oldestAt ?? this.waiting[0]?.oldestAt
    // A batch that was received before the clock was set back may still be waiting to be written.
    return oldestAt === undefined ? this.arrivalAt() : Math.min(oldestAt, this.arrivalAt())
  }

  /**
   * Paths of existing files whose events have not been loaded yet.
   * @param window restricts the result to files that may have events with `from <= receivedAt < to`
   */
  files({ from, to } = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }): string[] {
    const open = this.open && this.open.bytes > 0 ? [this.open] : []
    return [...this.sealed, ...open].flatMap(({ path, batches }) =>
      batches.lastReceivedAt >= from && batches.firstReceivedAt < to && existsSync(path) ? [path] : [],
    )
  }

  /** Time at which the oldest batch that is not loaded yet was received; null without such batches. */
  oldestAt(): Instant | null {
    const firsts = [...this.sealed, ...(this.open ? [this.open] : [])].map(({ batches }) => batches.firstReceivedAt)
    const oldest = Math.min(...firsts)
    return Number.isFinite(oldest) ? oldest : null
  }

  /** Sealed segments that are waiting to be loaded, oldest first. */
  segments(): readonly Segment[] {
    return this.sealed
  }

  /** Returns the response to a batch; null if the batch is not in the spool. */
  answerOf(hash: bigint): BatchAnswer | null {
    const latest = this.open?.batches.answerOf(hash)
    if (latest) return latest
    for (const { batches } of this.sealed) {
      const answer = batches.answerOf(hash)
      if (answer) return answer
    }
    return null
  }

  /** Seals the open segment if it is at least `minAgeMs` old. It can then be loaded. */
  async seal(minAgeMs = 0): Promise<void> {
    await this.groupEnd()
    if (this.open && this.clock.now() - this.open.openedAt >= minAgeMs) this.endSegment()
  }

  /**
   * Must be called before a sealed segment is loaded. If the checksum doesn't match, lost batches are reported and
   * removed, so that repeats of them are accepted. Returns false if no batches remain. Throws if the file has been
   * missing for less than a minute, because it may reappear.
   */
  async repair(segment: Segment): Promise<boolean> {
    const sum = await fileChecksum(segment.path)
    segment.missingSince = sum === null ? (segment.missingSince ?? this.clock.now()) : undefined
    if (sum === segment.sum) return true
    if (segment.missingSince !== undefined && this.clock.now() - segment.missingSince < MISSING_MS)
      throw new Error('the segment file is missing')
    return this.repairDamaged(segment)
  }

  private repairDamaged(segment: Segment): boolean {
    const known = segment.batches.size
    const { batches, sum, lastSeq, damage } = recoverSegment(segment.path, this.damagedFolder, true)
    Object.assign(segment, { batches, sum, lastSeq })
    if (damage) this.options.damaged?.({ ...damage, batches: known - batches.size })
    if (batches.size > 0) return true
    this.release(segment)
    rmSync(segment.path, { force: true })
    return false
  }

  /**
   * Removes a loaded segment from the list. The caller deletes its file later, because running queries may still be
   * reading it.
   */
  release(segment: Segment): void {
    const index = this.sealed.indexOf(segment)
    if (index >= 0) this.sealed.splice(index, 1)
  }

  /** Writes pending batches and closes the files. The spool must not be used afterwards. */
  async close(): Promise<void> {
    while (this.waiting.length > 0 || this.writing) {
      this.startWriting()
      await this.groupEnd()
    }
    this.endSegment()
  }

  /** Returns the group for a batch. A segment contains one hour, so a batch from another hour starts a new group. */
  private groupFor(receivedAt: Instant): Group {
    const hour = Math.floor(receivedAt / HOUR_MS)
    const latest = this.waiting.at(-1)
    if (latest?.hour === hour) {
      latest.oldestAt = Math.min(latest.oldestAt, receivedAt)
      return latest
    }
    const group: Group = {
      hour,
      lines: [],
      batches: [],
      oldestAt: receivedAt,
      firstSeq: Number.POSITIVE_INFINITY,
      lastSeq: 0,
      done: Promise.withResolvers(),
    }
    this.waiting.push(group)
    return group
  }

  /**
   * Starts writing at the end of this event loop iteration, so that all requests read in the iteration share one write
   * and one sync.
   */
  private schedule(): void {
    if (this.isScheduled || this.writing) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.startWriting()
    })
  }

  private startWriting(): void {
    if (this.writing) return
    const group = this.waiting.shift()
    if (!group) return
    this.writing = group
    const ended = () => {
      this.writing = null
      if (this.waiting.length > 0) this.schedule()
    }
    this.writeGroup(group).then(
      () => {
        ended()
        group.done.resolve()
      },
      (error) => {
        ended()
        group.done.reject(storageError(error))
      },
    )
  }

  /** Resolves when no group is being written, regardless of whether the last write succeeded. */
  private async groupEnd(): Promise<void> {
    await this.writing?.done.promise.catch(() => {})
  }

  private async writeGroup(group: Group): Promise<void> {
    const segment = this.segmentFor(group.hour)
    const bytes = this.encoder.encode(group.lines)
    try {
      // Writing to the page cache takes microseconds. Only the sync is slow enough to use another thread.
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(segment.fd, bytes, written, bytes.length - written, segment.bytes + written)
      }
      const synced = fdatasyncAsync(segment.fd)
      if (group.batches.length >= BUSY_BATCHES) busyPoll(synced)
      await synced
    } catch (error) {
      // The group was not acknowledged and its senders will repeat it, so no part of it may remain.
      cut(segment.path, segment.bytes)
      // The next group gets a new file, in case the error affects only this file.
      this.endSegment()
      throw error
    }
    segment.bytes += bytes.length
    segment.sum = Bun.hash.crc32(bytes, segment.sum)
    segment.lastSeq = Math.max(segment.lastSeq, group.lastSeq)
    for (const batch of group.batches) segment.batches.add(batch)
  }

  private segmentFor(hour: number): OpenSegment {
    if (this.open && (this.open.hour !== hour || this.open.bytes >= this.maxSegmentBytes)) this.endSegment()
    this.open ??= this.openSegment(hour)
    return this.open
  }

  private openSegment(hour: number): OpenSegment {
    const name = String(this.nextNumber++).padStart(12, '0')
    const path = join(this.folder, `${name}.ndjson`)
    const fd = openSync(path, 'wx')
    syncFolder(this.folder)
    return { name, path, fd, bytes: 0, sum: 0, lastSeq: 0, hour, openedAt: this.clock.now(), batches: new BatchLog() }
  }

  private endSegment(): void {
    const segment = this.open
    if (!segment) return
    this.open = null
    closeQuietly(segment.fd)
    const { name, path, batches, sum, lastSeq } = segment
    if (batches.size === 0) rmSync(path, { force: true })
    else this.sealed.push({ name, path, batches, sum, lastSeq })
  }
}

/** A file that has been missing for this long is treated as lost. */
const MISSING_MS = MINUTE_MS
const SEGMENT_FILE = /^(\d{12})\.ndjson$/

/** If a group has at least this many batches, more are expected to arrive while the group is being written. */
const BUSY_BATCHES = 4

/** Truncates a file. If that fails, the next start truncates uncommitted data. */
function cut(path: string, bytes: number): void {
  try {
    truncateSync(path, bytes)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

/** Closes a file and ignores disk errors, because all acknowledged data is already synced. */
function closeQuietly(fd: number): void {
  try {
    closeSync(fd)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

function isSystemError(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === 'string'
}

// Optimisation: see docs/develop/tuning.md
const POLL_MS = 1

/**
 * Keeps the event loop awake for at most 1 ms until the promise resolves or rejects. A sync is often faster than that,
 * and waking up from sleep costs a busy server 5 to 10 % of its requests.
 */
function busyPoll(until: Promise<unknown>): void {
  const end = performance.now() + POLL_MS
  let isDone = false
  const stop = () => {
    isDone = true
  }
  until.then(stop, stop)
  const turn = () => {
    if (!isDone && performance.now() < end) setImmediate(turn)
  }
  setImmediate(turn)
}
