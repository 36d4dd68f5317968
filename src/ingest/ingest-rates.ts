import { type Instant, SECOND_MS } from '../core/clock.ts'

/** Number of one-second slots. */
const SECONDS = 60

interface Counts {
  lastStoredAt: Instant
  /** Time in seconds and number of events for each slot. The slot number is the time modulo `SECONDS`. */
  seconds: number[]
  events: number[]
}

/** Counts the events stored in the last minute, for each organization that has sent events since startup. */
export class IngestRates {
  private readonly counts = new Map<string, Counts>()

  /** @param lastBefore returns the time when an organization's last event was stored, according to the database */
  constructor(private readonly lastBefore: (orgId: string) => Instant | null) {}

  /** Must be called once the events are on disk. */
  add(orgId: string, receivedAt: Instant, events: number): void {
    if (events === 0) return
    const counts = this.counts.get(orgId) ?? this.begin(orgId)
    const second = Math.floor(receivedAt / SECOND_MS)
    const slot = second % SECONDS
    const before = counts.seconds[slot] === second ? (counts.events[slot] ?? 0) : 0
    counts.seconds[slot] = second
    counts.events[slot] = before + events
    counts.lastStoredAt = receivedAt
  }

  /** Returns when the last event was stored (null if none), and the number of events in the 60 s before `now`. */
  of(orgId: string, now: Instant): { lastStoredAt: Instant | null; eventsPerMinute: number } {
    const counts = this.counts.get(orgId)
    if (!counts) return { lastStoredAt: this.lastBefore(orgId), eventsPerMinute: 0 }
    const second = Math.floor(now / SECOND_MS)
    const isRecent = (at: number) => at <= second && at > second - SECONDS
    const eventsPerMinute = counts.events.reduce(
      (sum, events, slot) => (isRecent(counts.seconds[slot] ?? 0) ? sum + events : sum),
      0,
    )
    return { lastStoredAt: counts.lastStoredAt, eventsPerMinute }
  }

  private begin(orgId: string): Counts {
    const zeros = () => new Array<number>(SECONDS).fill(0)
    const counts = { lastStoredAt: 0, seconds: zeros(), events: zeros() }
    this.counts.set(orgId, counts)
    return counts
  }
}
