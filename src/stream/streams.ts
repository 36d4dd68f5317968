import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Principal } from '../http/principal.ts'
import type { RowChange } from '../store/row-changes.ts'
import { CHANGE_RETENTION_MS, ChangeLog } from './change-log.ts'
import { StreamReader } from './stream-reader.ts'

/** The most streams of one user. */
export const MAX_STREAMS = 20

/** Interval at which credentials are looked at; every second time a pulse is sent. */
const BEAT_MS = 5 * SECOND_MS

/** How the collection of an organization's events is going. */
export interface Pulse {
  at: Instant
  /** When its last event was stored; null when there is none. */
  lastStoredAt: Instant | null
  /** Events stored in the last minute. */
  eventsPerMinute: number
  /** Since when nothing can be stored; null while all is well. */
  gapSince: Instant | null
}

export interface StreamsDeps {
  clock: Clock
  /** True while the caller's credential is in force. Looking is no use of it. */
  isInForce(principal: Principal): boolean
  pulseOf(orgId: string): Omit<Pulse, 'at'>
  beatMs?: number
}

/** The log of an organization with its streams. */
interface Topic {
  log: ChangeLog
  readers: Set<StreamReader>
  /** Ends the log when nobody came back. */
  end: ReturnType<typeof setTimeout> | null
}

/** Tells callers what changes in their organizations. */
export class Streams {
  /** Of organizations that are listened to, or were in the last five minutes. */
  private readonly topics = new Map<string, Topic>()
  private readonly streamsOf = new Map<string, number>()
  private isClosed = false

  constructor(private readonly parts: StreamsDeps) {}

  /** Changes that were committed, in their order. */
  publish(changes: readonly RowChange[]): void {
    const at = this.parts.clock.now()
    const told = new Set<Topic>()
    for (const { kind, orgId, id, isDeleted, values } of changes) {
      const topic = this.topics.get(orgId)
      if (!topic) continue
      const data = { id, ...values, updatedAt: at, ...(isDeleted ? { deleted: true } : {}) }
      topic.log.add(kind, JSON.stringify(data), at)
      told.add(topic)
    }
    for (const { readers } of told) for (const reader of readers) reader.wake()
  }

  /** Signals of a domain have another state. They are not in the database. */
  readonly signalsChanged = (orgId: string, domainId: string): void => {
    this.publish([{ kind: 'signal', orgId, id: domainId, isDeleted: false, values: {} }])
  }

  /**
   * Opens a stream of the caller's organization, which ends with the signal, and soon after the credential.
   * `lastEventId`: where it goes on; null: from now. Fails with `rateLimited` when the user has too many,
   * `unavailable` when the server stops.
   */
  open(principal: Principal, lastEventId: string | null, signal: AbortSignal): ReadableStream<Uint8Array> {
    const { clock, isInForce, pulseOf, beatMs = BEAT_MS } = this.parts
    const { userId, orgId } = principal
    if (this.isClosed) throw new AppError('unavailable', 'the server is stopping', 1)
    this.count(userId, 1)
    const topic = this.topicOf(orgId)
    const { log, readers } = topic
    const place = lastEventId === null ? log.last : log.seqOf(lastEventId, clock.now())
    const pulse = () => JSON.stringify({ at: clock.now(), ...pulseOf(orgId) } satisfies Pulse)
    const reader = new StreamReader(log, place, pulse, () => {
      clearInterval(timer)
      readers.delete(reader)
      this.count(userId, -1)
      if (readers.size === 0) topic.end = this.endLater(orgId)
    })
    let beats = 0
    const timer = setInterval(() => {
      if (!isInForce(principal)) reader.end()
      else if (++beats % 2 === 0) reader.beat()
    }, beatMs)
    readers.add(reader)
    signal.addEventListener('abort', () => reader.end(), { once: true })
    return reader.stream
  }

  /** Ends all streams, and opens no more. */
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
