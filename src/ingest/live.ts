import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'

/** How long a look at a domain's events keeps their capture on. */
export const ARMED_MS = 60 * SECOND_MS
/** Of each domain the latest events. */
const RING_LENGTH = 1000

/** What a look at the live events of a domain shows. */
export interface LiveView {
  /** In the order of `seq`. */
  events: StoredEvent[]
  /** Of the last event shown: what follows it is asked for with this as `since`. Of none, the asker's `since`, or 0. */
  latestSeq: number
  armedUntil: Instant
}

interface Capture {
  armedUntil: Instant
  events: StoredEvent[]
}

/**
 * The latest events of the domains that somebody looks at. Capture is on for a minute from each look, so that nobody
 * pays for domains that nobody watches; when it ends, what was captured is forgotten.
 */
export class Live {
  private readonly captures = new Map<string, Capture>()

  constructor(private readonly clock: Clock) {}

  /** To be called once events are on disk. Costs nothing while nobody watches. */
  add(domainId: string, events: readonly StoredEvent[]): void {
    if (this.captures.size === 0) return
    const capture = this.captures.get(domainId)
    if (!capture) return
    if (capture.armedUntil < this.clock.now()) {
      this.captures.delete(domainId)
      return
    }
    for (const event of events) capture.events.push(event.id === '' ? { ...event, id: `evt_${event.seq}` } : event)
    // Batches that were written together may arrive in any order.
    capture.events.sort((a, b) => a.seq - b.seq)
    capture.events.splice(0, Math.max(0, capture.events.length - RING_LENGTH))
  }

  /**
   * Turns capture on for a minute and answers events with `seq` above `since`, the first `limit` of them; without
   * `since` the latest ones. After a pause of more than a minute it begins anew, empty.
   */
  look(domainId: string, since: number | null, limit: number): LiveView {
    const now = this.clock.now()
    for (const [id, { armedUntil }] of this.captures) if (armedUntil < now) this.captures.delete(id)
    const capture = this.captures.get(domainId) ?? { armedUntil: 0, events: [] }
    capture.armedUntil = now + ARMED_MS
    this.captures.set(domainId, capture)
    const events =
      since === null ? capture.events.slice(-limit) : capture.events.filter(({ seq }) => seq > since).slice(0, limit)
    return { events, latestSeq: events.at(-1)?.seq ?? since ?? 0, armedUntil: capture.armedUntil }
  }
}
