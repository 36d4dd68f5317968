import { randomBytes } from 'node:crypto'
import { type Instant, MINUTE_MS } from '../core/clock.ts'

/** Period during which a client can resume a stream from its last event. */
export const CHANGE_RETENTION_MS = 5 * MINUTE_MS

/** Maximum number of retained changes. They use a few megabytes. */
export const MAX_RETAINED = 10_000

/** An event in the form in which it is sent. */
export interface LoggedEvent {
  /** Starts at 1 and has no gaps. */
  seq: number
  kind: string
  /** JSON. */
  data: string
  at: Instant
}

/**
 * The latest changes in one organization. All of its streams read this log, each from its own position, so a stream
 * that is not being read uses no memory.
 */
export class ChangeLog {
  /** Distinguishes ids in this log from ids in other logs, such as one from before a restart. */
  private readonly name = randomBytes(6).toString('hex')
  private events: LoggedEvent[] = []
  private latest = 0

  /** Sequence number of the last event; 0 if there are no events yet. */
  get last(): number {
    return this.latest
  }

  add(kind: string, data: string, at: Instant): void {
    this.events.push({ seq: ++this.latest, kind, data, at })
    // Old events are removed in bulk, because splicing moves all remaining elements.
    if (this.events.length >= 2 * MAX_RETAINED) this.events.splice(0, this.events.length - MAX_RETAINED)
  }

  /** Returns the id of the event with this sequence number; 0 is the start of the log. */
  idOf(seq: number): string {
    return `${this.name}.${seq}`
  }

  /**
   * Returns the sequence number of the event with this id; null if the id belongs to another log or is too old to
   * resume from.
   */
  seqOf(id: string, now: Instant): number | null {
    const [, name, digits] = /^([0-9a-f]+)\.(\d{1,15})$/.exec(id) ?? []
    const seq = Number(digits)
    if (name !== this.name || seq > this.latest) return null
    this.removeExpired(now)
    return this.after(seq, 0) === null ? null : seq
  }

  /** Returns up to `max` events after `seq`; null if some of them are no longer retained. */
  after(seq: number, max: number): LoggedEvent[] | null {
    const from = seq - (this.latest - this.events.length)
    return from < 0 ? null : this.events.slice(from, from + max)
  }

  private removeExpired(now: Instant): void {
    const first = this.events.findIndex(({ at }) => now - at <= CHANGE_RETENTION_MS)
    this.events.splice(0, first < 0 ? this.events.length : first)
  }
}
