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
import type { BatchAnswer } from './batch.ts'
import { hashOf } from './batch-hash.ts'
import type { BatchRecord } from './segment-file.ts'
import { syncFolder } from './segment-recovery.ts'
import { storageRefusal } from './storage-refusal.ts'
import type { LedgerNote } from './understand.ts'

const fdatasyncAsync = promisify(fdatasync)

/** What was understood of a batch. */
export interface LateBatch {
  events: readonly StoredEvent[]
  record: BatchRecord
}

/** For each event the ids of the alerts that it breaks; null: its rules take longer than anybody waits. */
export type Verdicts = readonly (string[] | null)[]

export interface LateParts {
  folder: string
  /** Judges events of one organization: the ids of the alerts that each breaks. Null when that takes too long. */
  judgeHere(orgId: string, events: readonly StoredEvent[]): string[][] | null
  /** The same off the event loop. Fails when the process that does it ended. */
  judge(orgId: string, events: readonly StoredEvent[]): Promise<Verdicts>
  /** Takes in a judged batch. */
  admit(batch: LateBatch): Promise<void>
  /** Whether the batch with this hash was taken in before. */
  isKnown(hash: bigint): boolean
  report(error: unknown, where: string): void
}

/** So much may wait of one organization. */
const MAX_BYTES = 64 * 1024 * 1024
const RETRY_AFTER_S = 30
/** After a failure, which is of the disk or of the process that judges. */
const PAUSE_MS = 1000
/** So long batches are judged here, one after the other, before others have their turn. */
const RUN_MS = 5
/** So often the first of the batches is given to the process that judges. */
const MAX_FAILURES = 5
const FILE = /^(org_\w+)\.ndjson$/

/** One batch of the file of its organization. */
interface Place {
  start: number
  bytes: number
  hash: bigint
}

interface Queue {
  orgId: string
  path: string
  fd: number
  bytes: number
  /** Oldest first, each on disk. */
  places: Place[]
  /** How often in turn its first batch could not be judged. */
  failures: number
}

/**
 * Acknowledged batches whose rules take longer than their organization's share of the event loop. They lie on disk, one
 * file an organization, are judged in the background, organization by organization in turn and each in its order, by
 * another process where this one has no time, and are then taken in as if they came at that moment. While one of an
 * organization waits, what comes after it waits behind it.
 */
export class LateBatches {
  private readonly queues = new Map<string, Queue>()
  private readonly answers = new Map<bigint, BatchAnswer>()
  private writing: Promise<void> = Promise.resolve()
  /** Batches that were given and are not on disk yet, by organization. */
  private readonly unwritten = new Map<string, number>()
  private waiting: { batch: LateBatch; done: PromiseWithResolvers<void> }[] = []
  private readonly draining = new Map<string, Promise<void>>()
  private readonly stopping = Promise.withResolvers<void>()
  private isClosed = false

  /** Takes over what an earlier process left; `start` goes on with it. */
  constructor(
    private readonly parts: LateParts,
    private readonly pauseMs = PAUSE_MS,
  ) {
    mkdirSync(parts.folder, { recursive: true, mode: 0o700 })
    for (const file of readdirSync(parts.folder)) {
      const orgId = FILE.exec(file)?.[1]
      if (orgId !== undefined) this.recover(orgId)
    }
  }

  /** Whether batches of the organization wait. */
  has(orgId: string): boolean {
    return this.queues.has(orgId) || this.unwritten.has(orgId)
  }

  /** What the sender of a batch that waits was told; null when it is not here. */
  answerOf(hash: bigint): BatchAnswer | null {
    return this.answers.get(hash) ?? null
  }

  /** How many batches wait. */
  get size(): number {
    return this.answers.size
  }

  /** Resolves when the batch is on disk. Fails with `rateLimited` when too much waits, `unavailable` when the disk takes nothing. */
  append(batch: LateBatch): Promise<void> {
    if ((this.queues.get(batch.record.orgId)?.bytes ?? 0) > MAX_BYTES) {
      const error = 'the rules of this organization take longer than its events come; too many wait to be judged'
      return Promise.reject(new AppError('rateLimited', error, RETRY_AFTER_S))
    }
    const done = Promise.withResolvers<void>()
    this.waiting.push({ batch, done })
    const { orgId } = batch.record
    this.unwritten.set(orgId, (this.unwritten.get(orgId) ?? 0) + 1)
    if (this.waiting.length === 1) this.writing = this.writing.then(() => this.writeWaiting())
    return done.promise
  }

  /** Begins to judge what waits. */
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

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    for (;;) {
      await this.writing
      if (this.draining.size === 0) return
      await Promise.all(this.draining.values())
    }
  }

  /** Writes what was given. What waits to be judged stays on disk for the next start. */
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
    const queue: Queue = { orgId, path, fd: openSync(path, 'r+'), bytes: 0, places: [], failures: 0 }
    let damaged = 0
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LINE_END, start)
      // Without its end, a line was not acknowledged.
      if (end < 0) break
      const batch = readLine(bytes.subarray(start, end))
      if (batch) this.enter(queue, batch.record, start, end + 1 - start)
      else damaged++
      start = end + 1
      queue.bytes = start
    }
    if (damaged > 0) this.tellDamage(orgId, damaged)
    ftruncateSync(queue.fd, queue.bytes)
    if (queue.places.length > 0) this.queues.set(orgId, queue)
    else remove(queue)
  }

  private tellDamage(orgId: string, batches: number): void {
    this.parts.report(new Error(`${batches} damaged batches were lost`), `spool/late/${orgId}.ndjson`)
  }

  private enter(queue: Queue, { key, answer }: BatchRecord, start: number, bytes: number): void {
    const hash = hashOf(key ?? '')
    if (this.parts.isKnown(hash)) return
    queue.places.push({ start, bytes, hash })
    this.answers.set(hash, answer)
  }

  /** All that wait, with one sync for each organization. */
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
        for (const { done } of some) done.reject(storageRefusal(error))
      }
      const left = (this.unwritten.get(orgId) ?? 0) - some.length
      if (left > 0) this.unwritten.set(orgId, left)
      else this.unwritten.delete(orgId)
    }
    this.start()
  }

  private async write(orgId: string, batches: readonly LateBatch[]): Promise<void> {
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
    return { orgId, path, fd, bytes: 0, places: [], failures: 0 }
  }

  /** Some batches after others, until none waits. Each organization by itself: none waits for another's. */
  private async drain(queue: Queue): Promise<void> {
    while (!this.isClosed && this.queues.get(queue.orgId) === queue) {
      try {
        await this.judgeSome(queue)
        queue.failures = 0
      } catch (error) {
        if (this.isClosed) return
        this.parts.report(error, 'judging late batches')
        queue.failures++
        await this.pause()
      }
    }
  }

  /** The first batches as far as they are quickly judged here, or else the first one elsewhere. */
  private async judgeSome(queue: Queue): Promise<void> {
    const judged: LateBatch[] = []
    const until = performance.now() + RUN_MS
    let done = 0
    for (; done < queue.places.length && (done === 0 || performance.now() < until); done++) {
      const batch = this.read(queue, queue.places[done])
      if (!batch) continue
      const violations = this.parts.judgeHere(queue.orgId, batch.events)
      if (!violations && done > 0) break
      judged.push(judgedBy(violations ?? (await this.judgeElsewhere(queue, batch.events)), batch))
    }
    await Promise.all(judged.map((batch) => this.parts.admit(batch)))
    for (const { hash } of queue.places.splice(0, done)) this.answers.delete(hash)
    while (queue.places.length === 0 && this.unwritten.has(queue.orgId)) await this.writing
    if (queue.places.length > 0) return
    this.queues.delete(queue.orgId)
    remove(queue)
  }

  /** What made the judging process end time and again is taken in unjudged, so that it holds up nothing for ever. */
  private judgeElsewhere({ orgId, failures }: Queue, events: readonly StoredEvent[]): Promise<Verdicts> {
    if (failures >= MAX_FAILURES) return Promise.resolve(events.map(() => null))
    return this.parts.judge(orgId, events)
  }

  /** Null: damaged meanwhile, or taken in before something failed. */
  private read(queue: Queue, place: Place | undefined): LateBatch | null {
    if (!place || this.parts.isKnown(place.hash)) return null
    const batch = readLine(readPlace(queue, place))
    if (!batch) this.tellDamage(queue.orgId, 1)
    return batch
  }

  private async pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.pauseMs)
    await Promise.race([promise, this.stopping.promise])
    clearTimeout(timer)
  }
}

/** What was written of a refused batch. Where it can't be cut off, the next batch is written over it. */
function cutBack({ fd, bytes }: Queue): void {
  try {
    ftruncateSync(fd, bytes)
  } catch {
    // The caller hears why the write failed, which says more.
  }
}

const LINE_END = 10

function judgedBy(verdicts: Verdicts, { events, record }: LateBatch): LateBatch {
  const unjudged = verdicts.filter((ids) => ids === null).length
  const note: LedgerNote = { reason: 'not judged: the rules take too long', count: unjudged, sample: '' }
  return {
    record: unjudged > 0 ? { ...record, ledger: [...record.ledger, note] } : record,
    events: events.map((event, index) => ({ ...event, violations: verdicts[index]?.length ? verdicts[index] : null })),
  }
}

/** A batch without an id gets one, by which a start knows whether it was taken in. */
function withKey({ events, record }: LateBatch): LateBatch {
  return { events, record: { ...record, key: record.key ?? `${record.domainId} late ${randomUUID()}` } }
}

/** Of a line: eight digits, in front of its JSON and a space. */
const CHECKSUM_BYTES = 8

/** Its JSON behind the checksum of that. A batch may be a megabyte, so it is not copied about. */
function lineOf(batch: LateBatch): Buffer {
  const line = Buffer.from(`${'0'.repeat(CHECKSUM_BYTES)} ${JSON.stringify(batch)}\n`)
  const sum = Bun.hash.crc32(line.subarray(CHECKSUM_BYTES + 1, -1))
  line.write(sum.toString(16).padStart(CHECKSUM_BYTES, '0'))
  return line
}

/** A line with its end or without. Null: damaged. */
function readLine(line: Buffer): LateBatch | null {
  const json = line.subarray(CHECKSUM_BYTES + 1, line.at(-1) === LINE_END ? -1 : undefined)
  if (Number.parseInt(line.toString('latin1', 0, CHECKSUM_BYTES), 16) !== Bun.hash.crc32(json)) return null
  return JSON.parse(json.toString()) as LateBatch
}

function readPlace({ fd }: Queue, { start, bytes }: Place): Buffer {
  const buffer = Buffer.allocUnsafe(bytes)
  return buffer.subarray(0, readSync(fd, buffer, 0, bytes, start))
}

function remove({ fd, path }: Queue): void {
  closeSync(fd)
  rmSync(path, { force: true })
}
