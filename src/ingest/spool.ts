import {
  closeSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import type { StoredEvent } from '../core/event.ts'
import type { BatchAnswer } from './batch.ts'
import type { LedgerNote } from './understand.ts'

const fdatasyncAsync = promisify(fdatasync)

/** What a batch leaves beside its events. Its line in the spool is the batch's commit mark. */
export interface BatchRecord {
  /** Domain and batchId; null for a batch without one, which is never recognised again. */
  key: string | null
  orgId: string
  domainId: string
  receivedAt: Instant
  answer: BatchAnswer
  ledger: LedgerNote[]
}

/** A closed spool file that waits for the warehouse. */
export interface Segment {
  name: string
  path: string
  batches: BatchRecord[]
}

interface OpenSegment extends Segment {
  fd: number
  bytes: number
  hour: number
  openedAt: Instant
}

interface Group {
  text: string[]
  batches: BatchRecord[]
  oldestAt: Instant
  done: PromiseWithResolvers<void>
}

/** The collector says 503 and asks to come back when the disk takes nothing. */
const RETRY_AFTER_S = 5

/**
 * Where acknowledged batches lie until the warehouse has them: files of lines, one event a line, and behind the
 * events of each batch one line `{"batch": …}` that commits it. Appends that wait together share one `fdatasync`.
 */
export class Spool {
  private open: OpenSegment | null = null
  private waiting: Group | null = null
  private writing: Group | null = null
  private turn: Promise<void> = Promise.resolve()
  private readonly sealed: Segment[] = []
  private nextNumber: number
  private lastReceivedAt = 0
  private lastSeq = 0

  /**
   * Takes over what an earlier process left: cuts off what was never committed and seals the rest.
   * `loaded` names segments that the warehouse has; their files are removed.
   */
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    loaded: { has(name: string): boolean; last: string | null; lastReceivedAt: Instant },
    private readonly maxSegmentBytes = 32 * 1024 * 1024,
  ) {
    this.nextNumber = loaded.last === null ? 1 : Number.parseInt(loaded.last, 10) + 1
    this.lastReceivedAt = loaded.lastReceivedAt
    for (const file of readdirSync(folder)
      .filter((name) => name.endsWith('.ndjson'))
      .sort()) {
      const name = file.slice(0, -'.ndjson'.length)
      const path = join(folder, file)
      this.nextNumber = Math.max(this.nextNumber, Number.parseInt(name, 10) + 1)
      const batches = loaded.has(name) ? [] : recoverSegment(path)
      if (batches.length === 0) unlinkSync(path)
      else this.sealed.push({ name, path, batches })
      for (const batch of batches) this.lastReceivedAt = Math.max(this.lastReceivedAt, batch.receivedAt)
    }
    this.lastSeq = (this.lastReceivedAt + 1) * SEQ_PER_MS
  }

  /** The time to stamp on a batch that is appended in the same turn of the event loop. Never goes back. */
  arrivalAt(): Instant {
    this.lastReceivedAt = Math.max(this.lastReceivedAt, this.clock.now())
    return this.lastReceivedAt
  }

  /** Grows with time and from one call to the next; stays below 2^53 until the year 2255. */
  nextSeq(): number {
    this.lastSeq = Math.max(this.lastSeq + 1, this.lastReceivedAt * SEQ_PER_MS)
    return this.lastSeq
  }

  /** Resolves when the batch is on disk. Fails with `unavailable` when the disk takes nothing; then nothing was kept. */
  append(events: readonly StoredEvent[], batch: BatchRecord): Promise<void> {
    this.waiting ??= { text: [], batches: [], oldestAt: batch.receivedAt, done: Promise.withResolvers() }
    const { text, batches, done } = this.waiting
    text.push(linesOf(events, batch))
    batches.push(batch)
    if (!this.writing) this.startWriting()
    return done.promise
  }

  /** Everything received before this is on disk and visible; alerts are judged up to here. */
  settledAt(): Instant {
    return this.writing?.oldestAt ?? this.waiting?.oldestAt ?? this.arrivalAt()
  }

  /** Paths of all files that hold events the warehouse does not have yet. */
  files(): string[] {
    return [
      ...this.sealed.map((segment) => segment.path),
      ...(this.open && this.open.bytes > 0 ? [this.open.path] : []),
    ]
  }

  /** Segments that wait to be loaded, oldest first. */
  segments(): readonly Segment[] {
    return this.sealed
  }

  /** Closes the open file, if anything is in it and it is at least that old, so that it can be loaded. */
  seal(minAgeMs = 0): Promise<void> {
    return this.inTurn(() => {
      if (this.open && this.clock.now() - this.open.openedAt >= minAgeMs) this.sealNow()
    })
  }

  /** Forgets a loaded segment. The file stays until `remove`, because a running query may still read it. */
  release(segment: Segment): void {
    const index = this.sealed.indexOf(segment)
    if (index >= 0) this.sealed.splice(index, 1)
  }

  /** Writes what waits, then closes. The object is not usable afterwards. */
  async close(): Promise<void> {
    while (this.writing) await this.writing.done.promise.catch(() => {})
    await this.seal()
  }

  private startWriting(): void {
    const group = this.waiting
    if (!group) return
    this.waiting = null
    this.writing = group
    void this.inTurn(() => this.writeGroup(group))
      .then(
        () => group.done.resolve(),
        (error) =>
          group.done.reject(
            new AppError('unavailable', `the collector can't store: ${reasonOf(error)}`, RETRY_AFTER_S),
          ),
      )
      .finally(() => {
        this.writing = null
        this.startWriting()
      })
  }

  private async writeGroup(group: Group): Promise<void> {
    const hour = Math.floor(group.oldestAt / HOUR_MS)
    if (this.open && (this.open.hour !== hour || this.open.bytes >= this.maxSegmentBytes)) this.sealNow()
    this.open ??= this.openSegment(hour)
    const segment = this.open
    const bytes = Buffer.from(group.text.join(''))
    try {
      // Into the page cache this takes microseconds; only the sync is worth a trip to another thread.
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(segment.fd, bytes, written, bytes.length - written, segment.bytes + written)
      }
      await fdatasyncAsync(segment.fd)
    } catch (error) {
      // Nothing of the group was acknowledged, so nothing of it may stay: its senders will repeat it.
      ftruncateSync(segment.fd, segment.bytes)
      throw error
    }
    segment.bytes += bytes.length
    for (const batch of group.batches) segment.batches.push(batch)
  }

  private openSegment(hour: number): OpenSegment {
    const name = String(this.nextNumber++).padStart(12, '0')
    const path = join(this.folder, `${name}.ndjson`)
    const fd = openSync(path, 'wx')
    syncFolder(this.folder)
    return { name, path, fd, bytes: 0, hour, openedAt: this.clock.now(), batches: [] }
  }

  private sealNow(): void {
    if (!this.open || this.open.bytes === 0) return
    closeSync(this.open.fd)
    const { name, path, batches } = this.open
    this.sealed.push({ name, path, batches })
    this.open = null
  }

  private inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.turn.then(work)
    this.turn = result.then(
      () => {},
      () => {},
    )
    return result
  }
}

const SEQ_PER_MS = 1000

/**
 * The events, one JSON object a line without what is null, and the line that commits them. What all events of a batch
 * share is written to text once, because this is where a server under load spends its time.
 */
function linesOf(events: readonly StoredEvent[], batch: BatchRecord): string {
  const [first] = events
  let lines = ''
  if (first) {
    const shared = JSON.stringify({
      receivedAt: first.receivedAt,
      orgId: first.orgId,
      domainId: first.domainId,
      env: first.env,
      host: first.host ?? undefined,
      path: first.path ?? undefined,
      title: first.title ?? undefined,
      sessionId: first.sessionId ?? undefined,
      customerId: first.customerId ?? undefined,
      version: first.version ?? undefined,
      weight: first.weight,
    }).slice(0, -1)
    for (const event of events) lines += `${shared},${ownFields(event)}\n`
  }
  return `${lines}${JSON.stringify({ batch })}\n`
}

function ownFields(event: StoredEvent): string {
  return JSON.stringify({
    seq: event.seq,
    id: event.id,
    ts: event.ts,
    vendor: event.vendor,
    event: event.event,
    account: event.account ?? undefined,
    kind: event.kind,
    status: event.status ?? undefined,
    execMs: event.execMs ?? undefined,
    durMs: event.durMs ?? undefined,
    bytes: event.bytes ?? undefined,
    violations: event.violations ?? undefined,
    params: event.params,
  }).slice(1)
}

/** Cuts the file behind its last commit mark and answers the records of the batches that stay. */
function recoverSegment(path: string): BatchRecord[] {
  const bytes = readFileSync(path)
  const batches: BatchRecord[] = []
  let committed = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start)
    if (end < 0) break
    if (bytes.subarray(start, start + COMMIT_MARK.length).equals(COMMIT_MARK)) {
      batches.push((JSON.parse(bytes.toString('utf8', start, end)) as { batch: BatchRecord }).batch)
      committed = end + 1
    }
    start = end + 1
  }
  if (committed < bytes.length) truncateSync(path, committed)
  return batches
}

const COMMIT_MARK = Buffer.from('{"batch":')

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  fsyncSync(fd)
  closeSync(fd)
}

function reasonOf(error: unknown): string {
  const code = (error as { code?: string }).code
  return code === 'ENOSPC' || code === 'EFBIG' || code === 'EDQUOT' ? 'the disk is full' : (code ?? messageOf(error))
}
