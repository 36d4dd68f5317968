import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fdatasync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../core/error.ts'
import type { StoredEvent } from '../core/event.ts'
import { syncFolder } from '../store/private-file.ts'
import type { BatchAnswer } from './batch.ts'
import { hashOf } from './batch-hash.ts'
import type { LedgerNote } from './batch-report.ts'
import type { BatchRecord } from './segment-file.ts'
import { storageError } from './storage-error.ts'

const fdatasyncAsync = promisify(fdatasync)

/** A decoded batch that is waiting for evaluation. */
export interface UnjudgedBatch {
  events: readonly StoredEvent[]
  record: BatchRecord
}

/** For each event, the ids of the alerts that it violates; null if evaluation exceeded the time limit. */
export type Verdicts = readonly (string[] | null)[]

export interface JudgingQueueDeps {
  folder: string
  /**
   * Evaluates events on the event loop. Returns the ids of the alerts that each event violates; null if evaluation
   * takes too long.
   */
  judgeHere(orgId: string, events: readonly StoredEvent[]): string[][] | null
  /** Evaluates events in another process. Throws if that process exits. */
  judge(orgId: string, events: readonly StoredEvent[]): Promise<Verdicts>
  /** Stores an evaluated batch. */
  admit(batch: UnjudgedBatch): Promise<void>
  /** True if a batch with this hash is already stored. */
  isKnown(hash: bigint): boolean
  report(error: unknown, where: string): void
}

/** Maximum size of an organization's queue, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024
const RETRY_AFTER_S = 30
/** Delay after a disk error or a failure of the evaluation process. */
const PAUSE_MS = 1000
/** Maximum time for which batches are evaluated on the event loop without a break. */
const RUN_MS = 5
/** After this many consecutive failures, the first batch in a queue is stored unevaluated. */
const MAX_FAILURES = 5
const FILE = /^(org_\w+)\.ndjson$/

/** The position of a batch in its organization's file. */
interface BatchPosition {
  start: number
  bytes: number
  hash: bigint
}

interface Queue {
  orgId: string
  path: string
  fd: number
  bytes: number
  /** Batches on disk, oldest first. */
  positions: BatchPosition[]
  /** Number of consecutive failures to evaluate the first batch. */
  failures: number
}

/**
 * A queue of acknowledged batches whose rules exceed their organization's limit of time on the event loop. The queue is
 * on disk, in one file per organization. Batches are evaluated in the background, in order within an organization, and
 * organizations take turns. If evaluation on the event loop takes too long, another process performs it. Evaluated
 * batches are stored as if they had just arrived. While an organization has a waiting batch, its later batches are
 * queued as well.
 */
export class JudgingQueue {
  private readonly queues = new Map<string, Queue>()
  private readonly answers = new Map<bigint, BatchAnswer>()
  private writing: Promise<void> = Promise.resolve()
  /** Number of appended batches per organization that have not been written to disk yet. */
  private readonly unwritten = new Map<string, number>()
  private waiting: { batch: UnjudgedBatch; done: PromiseWithResolvers<void> }[] = []
  private readonly draining = new Map<string, Promise<void>>()
  private readonly stopping = Promise.withResolvers<void>()
  private isClosed = false

  /** Reads the queues left by an earlier process; `start` resumes them. */
  constructor(
    private readonly parts: JudgingQueueDeps,
    private readonly pauseMs = PAUSE_MS,
  ) {
    mkdirSync(parts.folder, { recursive: true, mode: 0o700 })
    for (const file of readdirSync(parts.folder)) {
      const orgId = FILE.exec(file)?.[1]
      if (orgId !== undefined) this.recover(orgId)
    }
  }

  /** True if batches from the organization are waiting. */
  has(orgId: string): boolean {
    return this.queues.has(orgId) || this.unwritten.has(orgId)
  }

  /** Returns the response to a waiting batch; null if the batch is not in the queue. */
  answerOf(hash: bigint): BatchAnswer | null {
    return this.answers.get(hash) ?? null
  }

  /** Number of waiting batches. */
  get size(): number {
    return this.answers.size
  }

  /**
   * Resolves once the batch is on disk. Throws `rateLimited` if the queue is full, `unavailable` if the write fails.
   */
  append(batch: UnjudgedBatch): Promise<void> {
    if ((this.queues.get(batch.record.orgId)?.bytes ?? 0) > MAX_BYTES) {
      const error = `the organization's rules cannot keep up with its events, and its queue is full; try again in ${RETRY_AFTER_S} s`
      return Promise.reject(new AppError('rateLimited', error, RETRY_AFTER_S))
    }
    const done = Promise.withResolvers<void>()
    this.waiting.push({ batch, done })
    const { orgId } = batch.record
    this.unwritten.set(orgId, (this.unwritten.get(orgId) ?? 0) + 1)
    if (this.waiting.length === 1) this.writing = this.writing.then(() => this.writeWaiting())
    return done.promise
  }

  /** Starts evaluating all queues that are not being processed yet. */
  start(): void {
    if (this.isClosed) return
    for (const [orgId, queue] of this.queues) {
      if (this.draining.has(orgId)) continue
      const drained = this.drain(queue).finally(() => {
        this.draining.delete(orgId)
        this.start()
      })
      this.draining.set(orgId, drained)
    }
  }

  /** Resolves once all queues are empty. */
  async idle(): Promise<void> {
    for (;;) {
      await this.writing
      if (this.draining.size === 0) return
      await Promise.all(this.draining.values())
    }
  }

  /** Waits for pending writes and closes the files. Unevaluated batches stay on disk for the next start. */
  async close(): Promise<void> {
    this.isClosed = true
    this.stopping.resolve()
    await this.writing
    await Promise.all(this.draining.values())
    for (const { fd } of this.queues.values()) closeSync(fd)
    this.queues.clear()
  }

  private recover(orgId: string): void {
    const path = join(this.parts.folder, `${orgId}.ndjson`)
    const bytes = readFileSync(path)
    const queue: Queue = { orgId, path, fd: openSync(path, 'r+'), bytes: 0, positions: [], failures: 0 }
    let damaged = 0
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LINE_END, start)
      // A line without a line ending was never acknowledged.
      if (end < 0) break
      const batch = readLine(bytes.subarray(start, end))
      if (batch) this.enter(queue, batch.record, start, end + 1 - start)
      else damaged++
      start = end + 1
      queue.bytes = start
    }
    if (damaged > 0) this.reportDamage(orgId, damaged)
    ftruncateSync(queue.fd, queue.bytes)
    if (queue.positions.length > 0) this.queues.set(orgId, queue)
    else remove(queue)
  }

  private reportDamage(orgId: string, batches: number): void {
    this.parts.report(new Error(`${batches} damaged batches lost`), `spool/late/${orgId}.ndjson`)
  }

  private enter(queue: Queue, { key, answer }: BatchRecord, start: number, bytes: number): void {
    const hash = hashOf(key ?? '')
    if (this.parts.isKnown(hash)) return
    queue.positions.push({ start, bytes, hash })
    this.answers.set(hash, answer)
  }

  /** Writes all pending appends with one sync per organization. */
  private async writeWaiting(): Promise<void> {
    const waiting = this.waiting
    this.waiting = []
    for (const [orgId, some] of Map.groupBy(waiting, ({ batch }) => batch.record.orgId)) {
      try {
        await this.write(
          orgId,
          some.map(({ batch }) => withKey(batch)),
        )
        for (const { done } of some) done.resolve()
      } catch (error) {
        for (const { done } of some) done.reject(storageError(error))
      }
      const left = (this.unwritten.get(orgId) ?? 0) - some.length
      if (left > 0) this.unwritten.set(orgId, left)
      else this.unwritten.delete(orgId)
    }
    this.start()
  }

  private async write(orgId: string, batches: readonly UnjudgedBatch[]): Promise<void> {
    const queue = this.queues.get(orgId) ?? this.newQueue(orgId)
    this.queues.set(orgId, queue)
    const lines = batches.map(lineOf)
    try {
      let at = queue.bytes
      for (const line of lines) {
        for (let from = 0; from < line.length; ) from += writeSync(queue.fd, line, from, line.length - from, at + from)
        at += line.length
      }
      await fdatasyncAsync(queue.fd)
    } catch (error) {
      cutBack(queue)
      throw error
    }
    for (const [index, { record }] of batches.entries()) {
      const bytes = lines[index]?.length ?? 0
      this.enter(queue, record, queue.bytes, bytes)
      queue.bytes += bytes
    }
  }

  private newQueue(orgId: string): Queue {
    const path = join(this.parts.folder, `${orgId}.ndjson`)
    const fd = openSync(path, 'w+', 0o600)
    syncFolder(this.parts.folder)
    return { orgId, path, fd, bytes: 0, positions: [], failures: 0 }
  }

  /**
   * Evaluates the batches in one queue until the queue is empty or this object is closed. Queues don't wait for each
   * other.
   */
  private async drain(queue: Queue): Promise<void> {
    while (!this.isClosed && this.queues.get(queue.orgId) === queue) {
      try {
        await this.judgeSome(queue)
        queue.failures = 0
      } catch (error) {
        if (this.isClosed) return
        this.parts.report(error, 'evaluating late batches')
        queue.failures++
        await this.pause()
      }
    }
  }

  /**
   * Evaluates and stores the first batches: as many as `RUN_MS` allows on the event loop, or a single batch in the
   * other process.
   */
  private async judgeSome(queue: Queue): Promise<void> {
    const judged: UnjudgedBatch[] = []
    const until = performance.now() + RUN_MS
    let done = 0
    for (; done < queue.positions.length && (done === 0 || performance.now() < until); done++) {
      const batch = this.read(queue, queue.positions[done])
      if (!batch) continue
      const violations = this.parts.judgeHere(queue.orgId, batch.events)
      if (!violations && done > 0) break
      judged.push(judgedBy(violations ?? (await this.judgeElsewhere(queue, batch.events)), batch))
    }
    await Promise.all(judged.map((batch) => this.parts.admit(batch)))
    for (const { hash } of queue.positions.splice(0, done)) this.answers.delete(hash)
    while (queue.positions.length === 0 && this.unwritten.has(queue.orgId)) await this.writing
    if (queue.positions.length > 0) return
    this.queues.delete(queue.orgId)
    remove(queue)
  }

  /**
   * After `MAX_FAILURES`, returns null for each event. The batch is then stored unevaluated and does not block its
   * queue.
   */
  private judgeElsewhere({ orgId, failures }: Queue, events: readonly StoredEvent[]): Promise<Verdicts> {
    if (failures >= MAX_FAILURES) return Promise.resolve(events.map(() => null))
    return this.parts.judge(orgId, events)
  }

  /** Returns a batch; null if it is damaged, or was already stored before an earlier failure. */
  private read(queue: Queue, position: BatchPosition | undefined): UnjudgedBatch | null {
    if (!position || this.parts.isKnown(position.hash)) return null
    const batch = readLine(readPosition(queue, position))
    if (!batch) this.reportDamage(queue.orgId, 1)
    return batch
  }

  private async pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.pauseMs)
    await Promise.race([promise, this.stopping.promise])
    clearTimeout(timer)
  }
}

/** Truncates the file after its last acknowledged batch. If that fails, the next batch overwrites the rest. */
function cutBack({ fd, bytes }: Queue): void {
  try {
    ftruncateSync(fd, bytes)
  } catch {
    // The caller throws the write error, which is more specific.
  }
}

const LINE_END = 10

function judgedBy(verdicts: Verdicts, { events, record }: UnjudgedBatch): UnjudgedBatch {
  const unjudged = verdicts.filter((ids) => ids === null).length
  const note: LedgerNote = { reason: 'not evaluated: the rules take too long', count: unjudged, sample: '' }
  return {
    record: unjudged > 0 ? { ...record, ledger: [...record.ledger, note] } : record,
    events: events.map((event, index) => ({ ...event, violations: verdicts[index]?.length ? verdicts[index] : null })),
  }
}

/** Assigns an id to a batch that has none. After a restart, the id shows whether the batch was stored. */
function withKey({ events, record }: UnjudgedBatch): UnjudgedBatch {
  return { events, record: { ...record, key: record.key ?? `${record.domainId} late ${randomUUID()}` } }
}

/** Length of the hexadecimal checksum at the start of a line. A space and the JSON follow. */
const CHECKSUM_BYTES = 8

/** Returns a line that consists of the checksum and JSON. Avoids copies, because a batch can be 1 MiB. */
function lineOf(batch: UnjudgedBatch): Buffer {
  const line = Buffer.from(`${'0'.repeat(CHECKSUM_BYTES)} ${JSON.stringify(batch)}\n`)
  const sum = Bun.hash.crc32(line.subarray(CHECKSUM_BYTES + 1, -1))
  line.write(sum.toString(16).padStart(CHECKSUM_BYTES, '0'))
  return line
}

/** Parses a line with or without its line ending. Returns null if the line is damaged. */
function readLine(line: Buffer): UnjudgedBatch | null {
  const json = line.subarray(CHECKSUM_BYTES + 1, line.at(-1) === LINE_END ? -1 : undefined)
  if (Number.parseInt(line.toString('latin1', 0, CHECKSUM_BYTES), 16) !== Bun.hash.crc32(json)) return null
  return JSON.parse(json.toString()) as UnjudgedBatch
}

function readPosition({ fd }: Queue, { start, bytes }: BatchPosition): Buffer {
  const buffer = Buffer.allocUnsafe(bytes)
  return buffer.subarray(0, readSync(fd, buffer, 0, bytes, start))
}

function remove({ fd, path }: Queue): void {
  closeSync(fd)
  rmSync(path, { force: true })
}
