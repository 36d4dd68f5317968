import { randomBytes } from 'node:crypto'
import { type Instant, MINUTE_MS } from '../core/clock.ts'

/** A stream can go on from its last event for this long. */
export const CHANGE_RETENTION_MS = 5 * MINUTE_MS

/** The most changes that are kept: a few megabytes. */
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
 * The latest changes of one organization. All of its streams read the same log, each from its own place, so a stream
 * that nobody reads holds nothing.
 */
export class ChangeLog {
  /** Tells the ids of this log from those of another one, of before a restart for instance. */
  private readonly name = randomBytes(6).toString('hex')
  private kept: LoggedEvent[] = []
  private latest = 0

  /** The number of the last event; 0 before the first. */
  get last(): number {
    return this.latest
  }

  add(kind: string, data: string, at: Instant): void {
    this.kept.push({ seq: ++this.latest, kind, data, at })
    // Many at once, because the others have to be moved.
    if (this.kept.length >= 2 * MAX_RETAINED) this.kept.splice(0, this.kept.length - MAX_RETAINED)
  }

  /** Returns the id of the event with this number; of 0, that of the beginning. */
  idOf(seq: number): string {
    return `${this.name}.${seq}`
  }

  /** Returns the number of the event with this id; null when it is not of this log, or too old to go on from. */
  seqOf(id: string, now: Instant): number | null {
    const [, name, digits] = /^([0-9a-f]+)\.(\d{1,15})$/.exec(id) ?? []
    const seq = Number(digits)
    if (name !== this.name || seq > this.latest) return null
    this.forget(now)
    return this.after(seq, 0) === null ? null : seq
  }

  /** Returns the events behind a place, at most so many; null when some of them are kept no longer. */
  after(seq: number, most: number): LoggedEvent[] | null {
    const from = seq - (this.latest - this.kept.length)
    return from < 0 ? null : this.kept.slice(from, from + most)
  }

  private forget(now: Instant): void {
    const first = this.kept.findIndex(({ at }) => now - at <= CHANGE_RETENTION_MS)
    this.kept.splice(0, first < 0 ? this.kept.length : first)
  }
}
