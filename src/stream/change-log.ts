import { randomBytes } from 'node:crypto'
import { type Instant, MINUTE_MS } from '../core/clock.ts'

/** A client can resume a stream from its last event for this long. */
export const CHANGE_RETENTION_MS = 5 * MINUTE_MS

/** Maximum number of retained changes: a few megabytes. */
export const MAX_RETAINED = 10_000

/** One event as it is sent. */
export interface LoggedEvent {
  /** Counted from 1, without gaps. */
  seq: number
  kind: string
  /** JSON. */
  data: string
  at: Instant
}

/**
 * The latest changes of one organization. Its streams read the same log, each from its own position, so a stream that
 * nobody reads uses no memory.
 */
export class ChangeLog {
  /** Distinguishes the ids of this log from those of other logs, for example from before a restart. */
  private readonly name = randomBytes(6).toString('hex')
  private events: LoggedEvent[] = []
  private latest = 0

  /** Sequence number of the last event; 0 before the first. */
  get last(): number {
    return this.latest
  }

  add(kind: string, data: string, at: Instant): void {
    this.events.push({ seq: ++this.latest, kind, data, at })
    // Removed in bulk, because splicing moves the remaining elements.
    if (this.events.length >= 2 * MAX_RETAINED) this.events.splice(0, this.events.length - MAX_RETAINED)
  }

  /** Returns the id of the event with this sequence number; 0 stands for the start of the log. */
  idOf(seq: number): string {
    return `${this.name}.${seq}`
  }

  /** Returns the sequence number of the event with this id; null when it belongs to another log or is too old to resume. */
  seqOf(id: string, now: Instant): number | null {
    const [, name, digits] = /^([0-9a-f]+)\.(\d{1,15})$/.exec(id) ?? []
    const seq = Number(digits)
    if (name !== this.name || seq > this.latest) return null
    this.removeExpired(now)
    return this.after(seq, 0) === null ? null : seq
  }

  /** Returns up to `max` events after `seq`; null when some of them are no longer retained. */
  after(seq: number, max: number): LoggedEvent[] | null {
    const from = seq - (this.latest - this.events.length)
    return from < 0 ? null : this.events.slice(from, from + max)
  }

  private removeExpired(now: Instant): void {
    const first = this.events.findIndex(({ at }) => now - at <= CHANGE_RETENTION_MS)
    this.events.splice(0, first < 0 ? this.events.length : first)
  }
}
