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
import { sumOf } from '../core/file-sum.ts'
import type { BatchAnswer } from './batch.ts'
import { BatchLog } from './batch-log.ts'
import { busyPoll } from './busy-poll.ts'
import { type BatchLines, type BatchRecord, linesOf, SegmentEncoder } from './segment-file.ts'
import { recoverSegment, type SegmentDamage, syncFolder } from './segment-recovery.ts'
import { storageRefusal } from './storage-refusal.ts'

const fdatasyncAsync = promisify(fdatasync)

/** A closed spool file that waits for the warehouse. */
export interface Segment {
  name: string
  path: string
  batches: BatchLog
  /** CRC-32 of what was written. */
  sum: number
  /** Since when its file has been missing. */
  goneAt?: Instant | undefined
}

interface OpenSegment extends Segment {
  fd: number
  /** Of what is written and synced. */
  bytes: number
  hour: number
  openedAt: Instant
}

/** Batches of one hour that share a write and a sync. */
interface Group {
  hour: number
  lines: BatchLines[]
  batches: BatchRecord[]
  oldestAt: Instant
  /** Lowest of its events; infinite without events. */
  firstSeq: number
  done: PromiseWithResolvers<void>
}

export interface SpoolOptions {
  maxSegmentBytes?: number
  /** Where copies of damaged files go; by default beside the spool. */
  aside?: string
  /** Told of everything that was acknowledged and can't be read any more. */
  damaged?(damage: SegmentDamage): void
}

/** The collector says 503 and asks to come back when the disk takes nothing. */

/**
 * Where acknowledged batches lie until the warehouse has them: files of lines, each with events of one batch, and behind
 * those of each batch one line `{"batch": …}` that commits it. Appends that wait together share one `fdatasync`.
 */
export class Spool {
  private open: OpenSegment | null = null
  /** In the order of their hours: one group, or more when an hour ends while the disk is busy. */
  private readonly waiting: Group[] = []
  /**
   * One group at a time: more would be no faster (measured), and Linux tells of a failed write once for a descriptor, so
   * a second sync under way could take the news and let the first group be acknowledged.
   */
  private writing: Group | null = null
  private isScheduled = false
  private readonly sealed: Segment[] = []
  private readonly encoder = new SegmentEncoder()
  private readonly maxSegmentBytes: number
  private readonly aside: string
  private nextNumber: number
  private lastReceivedAt = 0
  private lastSeq = 0

  /**
   * Takes over what an earlier process left: cuts off what was never committed, tells what is damaged, and seals the rest.
   * `loaded` names segments that the warehouse has; their files are removed. Its `lastSeq` is the highest of any event.
   */
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    loaded: { has(name: string): boolean; last: string | null; lastReceivedAt: Instant; lastSeq: number },
    private readonly options: SpoolOptions = {},
  ) {
    this.maxSegmentBytes = options.maxSegmentBytes ?? 32 * 1024 * 1024
    this.aside = options.aside ?? join(dirname(folder), 'damaged')
    this.nextNumber = loaded.last === null ? 1 : Number.parseInt(loaded.last, 10) + 1
    this.lastReceivedAt = loaded.lastReceivedAt
    this.lastSeq = loaded.lastSeq
    const names = readdirSync(folder).flatMap((file) => SEGMENT_FILE.exec(file)?.[1] ?? [])
    for (const name of names.sort()) {
      const path = join(folder, `${name}.ndjson`)
      this.nextNumber = Math.max(this.nextNumber, Number.parseInt(name, 10) + 1)
      const kept = loaded.has(name) ? null : recoverSegment(path, this.aside, name !== names.at(-1))
      if (kept?.damage) options.damaged?.(kept.damage)
      if (!kept || kept.batches.size === 0) {
        unlinkSync(path)
        continue
      }
      this.sealed.push({ name, path, batches: kept.batches, sum: kept.sum })
      this.lastReceivedAt = Math.max(this.lastReceivedAt, kept.batches.lastReceivedAt)
      this.lastSeq = Math.max(this.lastSeq, kept.lastSeq)
    }
  }

  /** The time to stamp on a batch that is appended in the same turn of the event loop. Goes back by `putBack` only. */
  arrivalAt(): Instant {
    this.lastReceivedAt = Math.max(this.lastReceivedAt, this.clock.now())
    return this.lastReceivedAt
  }

  /** Grows with time and from one call to the next; stays below 2^53 until the year 2255. */
  nextSeq(): number {
    this.lastSeq = Math.max(this.lastSeq + 1, this.lastReceivedAt * SEQ_PER_MS)
    return this.lastSeq
  }

  /** The latest time that a batch had, and the highest number of an event. */
  get latest(): { receivedAt: Instant; seq: number } {
    return { receivedAt: this.lastReceivedAt, seq: this.lastSeq }
  }

  /** The clock was put back: what comes in has this time or a later one. Numbers of events go on growing. */
  putBack(to: Instant): void {
    this.lastReceivedAt = to
    if (this.open) this.open.openedAt = to
  }

  /** True when all events up to this number are on disk, or were refused. */
  isWritten(seq: number): boolean {
    return [this.writing, ...this.waiting].every((group) => group === null || group.firstSeq > seq)
  }

  /** Resolves when the batch is on disk. Fails with `unavailable` when the disk takes nothing; then nothing was kept. */
  append(events: readonly StoredEvent[], batch: BatchRecord): Promise<void> {
    const group = this.groupFor(batch.receivedAt)
    group.lines.push(linesOf(events, batch))
    group.batches.push(batch)
    group.firstSeq = Math.min(group.firstSeq, events[0]?.seq ?? Number.POSITIVE_INFINITY)
    this.schedule()
    return group.done.promise
  }

  /** Everything received before this is on disk and visible; alerts are judged up to here. */
  watermark(): Instant {
    const oldestAt = this.writing?.oldestAt ?? this.waiting[0]?.oldestAt
    // A batch may still wait to be written that came before the clock was put back.
    return oldestAt === undefined ? this.arrivalAt() : Math.min(oldestAt, this.arrivalAt())
  }

  /** Paths of all files that hold events the warehouse does not have yet, but for those that somebody removed. */
  files(): string[] {
    const open = this.open && this.open.bytes > 0 ? [this.open] : []
    return [...this.sealed, ...open].map(({ path }) => path).filter((path) => existsSync(path))
  }

  /** Segments that wait to be loaded, oldest first. */
  segments(): readonly Segment[] {
    return this.sealed
  }

  /** What the sender of a batch was told that the warehouse does not have yet; null when it is not here. */
  answerOf(hash: bigint): BatchAnswer | null {
    const latest = this.open?.batches.answerOf(hash)
    if (latest) return latest
    for (const { batches } of this.sealed) {
      const answer = batches.answerOf(hash)
      if (answer) return answer
    }
    return null
  }

  /** Closes the open file, if it is at least that old, so that it can be loaded. */
  async seal(minAgeMs = 0): Promise<void> {
    await this.groupEnd()
    if (this.open && this.clock.now() - this.open.openedAt >= minAgeMs) this.endSegment()
  }

  /**
   * To be called before a sealed segment is loaded: if its file is not as it was written, what it lost is told and
   * forgotten, so that a repeat is taken in. False when nothing of it is left. Fails while a file that is gone may still
   * come back, which is for a minute.
   */
  async mend(segment: Segment): Promise<boolean> {
    const sum = await sumOf(segment.path)
    segment.goneAt = sum === null ? (segment.goneAt ?? this.clock.now()) : undefined
    if (sum === segment.sum) return true
    if (segment.goneAt !== undefined && this.clock.now() - segment.goneAt < GONE_MS) throw new Error('its file is gone')
    return this.mendDamaged(segment)
  }

  private mendDamaged(segment: Segment): boolean {
    const known = segment.batches.size
    const { batches, sum, damage } = recoverSegment(segment.path, this.aside, true)
    Object.assign(segment, { batches, sum })
    if (damage) this.options.damaged?.({ ...damage, batches: known - batches.size })
    if (batches.size > 0) return true
    this.release(segment)
    rmSync(segment.path, { force: true })
    return false
  }

  /** Forgets a loaded segment. The file stays until `remove`, because a running query may still read it. */
  release(segment: Segment): void {
    const index = this.sealed.indexOf(segment)
    if (index >= 0) this.sealed.splice(index, 1)
  }

  /** Writes what waits, then closes. The object is not usable afterwards. */
  async close(): Promise<void> {
    while (this.waiting.length > 0 || this.writing) {
      this.startWriting()
      await this.groupEnd()
    }
    this.endSegment()
  }

  /** The group that a batch joins. A segment holds one hour, so a batch of another hour begins another group. */
  private groupFor(receivedAt: Instant): Group {
    const hour = Math.floor(receivedAt / HOUR_MS)
    const latest = this.waiting.at(-1)
    if (latest?.hour === hour) {
      latest.oldestAt = Math.min(latest.oldestAt, receivedAt)
      return latest
    }
    const group: Group = {
      ...{ hour, lines: [], batches: [], oldestAt: receivedAt, firstSeq: Number.POSITIVE_INFINITY },
      done: Promise.withResolvers(),
    }
    this.waiting.push(group)
    return group
  }

  /** At the end of this turn of the event loop, so that all requests that are read in it share one write and sync. */
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
        group.done.reject(storageRefusal(error))
      },
    )
  }

  /** Resolves when no group is being written, however the last one ended. */
  private async groupEnd(): Promise<void> {
    await this.writing?.done.promise.catch(() => {})
  }

  private async writeGroup(group: Group): Promise<void> {
    const segment = this.segmentFor(group.hour)
    const bytes = this.encoder.encode(group.lines)
    try {
      // Into the page cache this takes microseconds; only the sync is worth a trip to another thread.
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(segment.fd, bytes, written, bytes.length - written, segment.bytes + written)
      }
      const synced = fdatasyncAsync(segment.fd)
      if (group.batches.length >= BUSY_BATCHES) busyPoll(synced)
      await synced
    } catch (error) {
      // Nothing of the group was acknowledged, so nothing of it may stay: its senders will repeat it.
      cut(segment.path, segment.bytes)
      // The next group gets a file of its own, in case it is this one that takes no more.
      this.endSegment()
      throw error
    }
    segment.bytes += bytes.length
    segment.sum = Bun.hash.crc32(bytes, segment.sum)
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
    return { name, path, fd, bytes: 0, sum: 0, hour, openedAt: this.clock.now(), batches: new BatchLog() }
  }

  private endSegment(): void {
    const segment = this.open
    if (!segment) return
    this.open = null
    closeQuietly(segment.fd)
    const { name, path, batches, sum } = segment
    if (batches.size === 0) rmSync(path, { force: true })
    else this.sealed.push({ name, path, batches, sum })
  }
}

const SEQ_PER_MS = 1000
/** A file that is missing for so long does not come back. */
const GONE_MS = MINUTE_MS
const SEGMENT_FILE = /^(\d{12})\.ndjson$/

/** A group of so many batches means that more are coming while it is written. */
const BUSY_BATCHES = 4

/** On a disk that fails so badly that this does too, the next start cuts what was never committed. */
function cut(path: string, bytes: number): void {
  try {
    truncateSync(path, bytes)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

/** Everything worth keeping was synced before. */
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
