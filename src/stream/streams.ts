import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Principal } from '../http/principal.ts'
import type { RowChange } from '../store/watch-table-rows.ts'
import { CHANGE_RETENTION_MS, ChangeLog } from './change-stream-log.ts'
import { StreamReader } from './stream-reader.ts'

/** Maximum number of open streams per user. */
export const MAX_STREAMS = 20

/** Interval at which credentials are checked. Every second check also sends a pulse. */
const CHECK_MS = 5 * SECOND_MS

/** Status of an organization's event collection. */
interface Pulse {
  at: Instant
  /** Time when the last event was stored; null if there are no events. */
  lastStoredAt: Instant | null
  /** Events stored in the last minute. */
  eventsPerMinute: number
  /** Start of the current collection gap; null if events can be stored. */
  gapSince: Instant | null
}

export interface StreamsDeps {
  clock: Clock
  /** True while the caller's credential is valid. Calling this does not count as using the credential. */
  isInForce(principal: Principal): boolean
  pulseOf(orgId: string): Omit<Pulse, 'at'>
  checkMs?: number
}

/** An organization's log and its open streams. */
interface Topic {
  log: ChangeLog
  readers: Set<StreamReader>
  /** Timer that deletes the log if no client reconnects. */
  end: ReturnType<typeof setTimeout> | null
}

/** Streams of changes in organizations. */
export class Streams {
  /** Organizations that have an open stream, or had one in the last five minutes. */
  private readonly topics = new Map<string, Topic>()
  private readonly streamsOf = new Map<string, number>()
  private isClosed = false

  constructor(private readonly parts: StreamsDeps) {}

  /** Publishes committed changes, in order. */
  publish(changes: readonly RowChange[]): void {
    const at = this.parts.clock.now()
    const notified = new Set<Topic>()
    for (const { kind, orgId, id, isDeleted, values } of changes) {
      const topic = this.topics.get(orgId)
      if (!topic) continue
      const data = { id, ...values, updatedAt: at, ...(isDeleted ? { deleted: true } : {}) }
      topic.log.add(kind, JSON.stringify(data), at)
      notified.add(topic)
    }
    for (const { readers } of notified) for (const reader of readers) reader.wake()
  }

  /** Publishes a change in the state of a domain's signals, which are not stored in the database. */
  readonly signalsChanged = (orgId: string, domainId: string): void => {
    this.publish([{ kind: 'signal', orgId, id: domainId, isDeleted: false, values: {} }])
  }

  /**
   * Opens a stream of the caller's organization. The stream ends when the signal aborts, or soon after the credential
   * expires. Throws `rateLimited` if the user has too many streams, `unavailable` if the server is stopping.
   * @param lastEventId event after which the stream resumes; null to start at the current position
   */
  open(principal: Principal, lastEventId: string | null, signal: AbortSignal): ReadableStream<Uint8Array> {
    const { clock, isInForce, pulseOf, checkMs = CHECK_MS } = this.parts
    const { userId, orgId } = principal
    if (this.isClosed) throw new AppError('unavailable', 'the server is stopping', 1)
    this.count(userId, 1)
    const topic = this.topicOf(orgId)
    const { log, readers } = topic
    const position = lastEventId === null ? log.last : log.seqOf(lastEventId, clock.now())
    const pulse = () => JSON.stringify({ at: clock.now(), ...pulseOf(orgId) } satisfies Pulse)
    const reader = new StreamReader(log, position, pulse, () => {
      clearInterval(timer)
      readers.delete(reader)
      this.count(userId, -1)
      if (readers.size === 0) topic.end = this.endLater(orgId)
    })
    let checks = 0
    const timer = setInterval(() => {
      if (!isInForce(principal)) reader.end()
      else if (++checks % 2 === 0) reader.requestPulse()
    }, checkMs)
    readers.add(reader)
    signal.addEventListener('abort', () => reader.end(), { once: true })
    return reader.stream
  }

  /** Ends all streams and rejects any new ones. */
  close(): void {
    this.isClosed = true
    for (const { readers } of this.topics.values()) for (const reader of readers) reader.end()
    for (const { end } of this.topics.values()) if (end) clearTimeout(end)
    this.topics.clear()
  }

  private topicOf(orgId: string): Topic {
    const known = this.topics.get(orgId)
    if (known?.end) clearTimeout(known.end)
    const topic = known ?? { log: new ChangeLog(), readers: new Set(), end: null }
    topic.end = null
    this.topics.set(orgId, topic)
    return topic
  }

  private endLater(orgId: string): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.topics.delete(orgId), CHANGE_RETENTION_MS)
    timer.unref()
    return timer
  }

  private count(userId: string, change: 1 | -1): void {
    const count = (this.streamsOf.get(userId) ?? 0) + change
    if (count > MAX_STREAMS) {
      throw new AppError('rateLimited', `you already have ${MAX_STREAMS} open streams; close one first`, 10)
    }
    if (count > 0) this.streamsOf.set(userId, count)
    else this.streamsOf.delete(userId)
  }
}
