import type { Instant } from '../core/clock.ts'
import { type Db, prepared } from '../store/database.ts'

/**
 * The time up to which the events of all processes are in the event history. Alerts are evaluated up to it. It waits for
 * collectors that are in contact, and continues without those that are away.
 */
export class ClusterWatermark {
  private latest: Instant = 0

  /** @param own watermark of the events that this server has received itself */
  constructor(
    private readonly db: Db,
    private readonly own: () => Instant,
  ) {}

  /** Decreases only after the clock was set back, although a collector may return with older events. */
  now(): Instant {
    const own = this.own()
    const all = Math.min(own, this.slowest() ?? own)
    this.latest = own < this.latest ? all : Math.max(this.latest, all)
    return this.latest
  }

  private slowest(): Instant | null {
    const sql = 'SELECT min(storedThrough) AS at FROM collector WHERE seenAt IS NOT NULL AND isAway = 0'
    return prepared<[], { at: Instant | null }>(this.db, sql).get()?.at ?? null
  }
}
