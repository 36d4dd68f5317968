import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'

/** How long a look at a domain's events keeps their capture on. */
export const ARMED_MS = 60 * SECOND_MS
/** Of each domain the latest events, as long as what they hold is no longer than this; one batch may bring a megabyte. */
const RING_LENGTH = 1000
const RING_LETTERS = 8 * 1024 * 1024

/** What a look at the live events of a domain shows. */
export interface LiveView {
  /** In the order of `seq`. */
  events: StoredEvent[]
  /** Of the last event shown: what follows it is asked for with this as `since`. Of none, the caller's `since`, or 0. */
  latestSeq: number
  armedUntil: Instant
}

interface Capture {
  armedUntil: Instant
  captured: { event: StoredEvent; letters: number }[]
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
    const { captured } = capture
    for (const event of events) {
      const letters = lettersOf(event)
      captured.push({ event: event.id === '' ? { ...event, id: `evt_${event.seq}` } : event, letters })
    }
    // Batches that were written together may arrive in any order.
    captured.sort((a, b) => a.event.seq - b.event.seq)
    let [first, letters] = [captured.length, 0]
    while (first > 0 && captured.length - first < RING_LENGTH) {
      letters += captured[first - 1]?.letters ?? 0
      if (letters > RING_LETTERS) break
      first--
    }
    captured.splice(0, first)
  }

  /**
   * Turns capture on for a minute and answers events with `seq` above `since`, the first `limit` of them; without
   * `since` the latest ones. After a pause of more than a minute it begins anew, empty.
   */
  look(domainId: string, since: number | null, limit: number): LiveView {
    const now = this.clock.now()
    for (const [id, { armedUntil }] of this.captures) if (armedUntil < now) this.captures.delete(id)
    const capture = this.captures.get(domainId) ?? { armedUntil: 0, captured: [] }
    capture.armedUntil = now + ARMED_MS
    this.captures.set(domainId, capture)
    const all = capture.captured.map(({ event }) => event)
    const events = since === null ? all.slice(-limit) : all.filter(({ seq }) => seq > since).slice(0, limit)
    return { events, latestSeq: events.at(-1)?.seq ?? since ?? 0, armedUntil: capture.armedUntil }
  }
}

/** What its parameters, page and title take, about. */
function lettersOf({ params, path, title }: StoredEvent): number {
  let letters = (path?.length ?? 0) + (title?.length ?? 0)
  for (const key in params) letters += key.length + (params[key]?.length ?? 0)
  return letters
}
