import { type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'

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
  private lastOwnAt: Instant = Number.NEGATIVE_INFINITY

  /** @param lastBefore returns the time when an organization's last event was stored, according to the database */
  constructor(private readonly lastBefore: (orgId: string) => Instant | null) {}

  /** Must be called once the events are on disk. */
  add(orgId: string, receivedAt: Instant, events: number): void {
    if (events === 0) return
    if (orgId !== INTERNAL_ORG_ID) this.lastOwnAt = receivedAt
    const counts = this.counts.get(orgId) ?? this.begin(orgId)
    const second = Math.floor(receivedAt / SECOND_MS)
    const slot = second % SECONDS
    const before = counts.seconds[slot] === second ? (counts.events[slot] ?? 0) : 0
    counts.seconds[slot] = second
    counts.events[slot] = before + events
    counts.lastStoredAt = receivedAt
  }

  /** Adds events that another process has received. They may arrive late and in any order. */
  addOther(orgId: string, receivedAt: Instant, events: number): void {
    const { lastOwnAt } = this
    const counts = this.counts.get(orgId)
    const lastStoredAt = counts?.lastStoredAt ?? 0
    const second = Math.floor(receivedAt / SECOND_MS)
    // A slot may already have a later second.
    if ((counts?.seconds[second % SECONDS] ?? 0) <= second) this.add(orgId, receivedAt, events)
    if (counts) counts.lastStoredAt = Math.max(lastStoredAt, receivedAt)
    this.lastOwnAt = lastOwnAt
  }

  /** True if this process has received events of an organization in the minute before `now`. */
  isReceiving(now: Instant): boolean {
    return now - this.lastOwnAt < MINUTE_MS
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
