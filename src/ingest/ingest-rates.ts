import { type Instant, SECOND_MS } from '../core/clock.ts'

/** A minute, by the second. */
const SECONDS = 60

interface Counts {
  lastStoredAt: Instant
  /** The second that each place counts, and its events; the place is the second modulo `SECONDS`. */
  seconds: number[]
  events: number[]
}

/** Counts the stored events of the last minute, for each organization that sent some since the start. */
export class IngestRates {
  private readonly counts = new Map<string, Counts>()

  /** @param lastBefore returns when an organization's last event was stored, as far as the database knows */
  constructor(private readonly lastBefore: (orgId: string) => Instant | null) {}

  /** Call it once the events are on disk. */
  add(orgId: string, receivedAt: Instant, events: number): void {
    if (events === 0) return
    const counts = this.counts.get(orgId) ?? this.begin(orgId)
    const second = Math.floor(receivedAt / SECOND_MS)
    const place = second % SECONDS
    const before = counts.seconds[place] === second ? (counts.events[place] ?? 0) : 0
    counts.seconds[place] = second
    counts.events[place] = before + events
    counts.lastStoredAt = receivedAt
  }

  /** When the last event was stored, null when there is none; and how many were in the 60 seconds before `now`. */
  of(orgId: string, now: Instant): { lastStoredAt: Instant | null; eventsPerMinute: number } {
    const counts = this.counts.get(orgId)
    if (!counts) return { lastStoredAt: this.lastBefore(orgId), eventsPerMinute: 0 }
    const second = Math.floor(now / SECOND_MS)
    const isRecent = (at: number) => at <= second && at > second - SECONDS
    const eventsPerMinute = counts.events.reduce(
      (sum, events, place) => (isRecent(counts.seconds[place] ?? 0) ? sum + events : sum),
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
