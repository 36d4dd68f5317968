import { absences } from '../collectors/store.ts'
import { CLOCK_STEP_MS, type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import { clockStepsBetween } from '../store/clock-step.ts'
import { type Db, tx } from '../store/database.ts'
import { type Gap, joinGaps, MIN_GAP_MS, mergeGaps, retentionNow, subtractSpans, type TimeSpan } from './gap.ts'
import {
  clockJumps,
  gapsBetween,
  lastGap,
  lastHeartbeat,
  saveClockJump,
  saveGap,
  saveHeartbeat,
  truncateGaps,
} from './gap-store.ts'

/** Interval at which heartbeats are stored. After a crash, the end of the previous run is known with this precision. */
const HEARTBEAT_MS = 30 * SECOND_MS

export interface GapDetectorDeps {
  db: Db
  clock: Clock
  /**
   * Called once for every gap when the gap is detected.
   * @param collector name of the collector on another machine that rejected events; absent for this server
   */
  onGap(gap: Gap, collector?: string): void
  /** Called with write errors. Failed writes are retried. */
  reportError(error: unknown, where: string): void
}

/**
 * Detects collection gaps, including across restarts. Gaps that can't be written because the disk is full are kept in
 * memory until they can be written. If the process ends first, the next start detects the missing heartbeats.
 */
export class GapDetector {
  /** The most recent gap. */
  private latest: Gap | null
  /** True from the first batch that could not be stored until the next batch that was stored. */
  private isRefusing = false
  private readonly unwritten = new Map<Instant, Gap>()
  private unwrittenJumps: TimeSpan[] = []
  private aliveAt: Instant
  private writtenAt = Number.NEGATIVE_INFINITY

  /** Detects a gap when the previous run ended too long ago. */
  constructor(private readonly parts: GapDetectorDeps) {
    const { db, clock } = parts
    this.latest = lastGap(db, clock.now())
    this.aliveAt = lastHeartbeat(db) ?? clock.now()
    this.heartbeat()
  }

  /**
   * Call about every second; a heartbeat is stored every 30 s. After two minutes without a call, the process is
   * considered suspended, and a gap is recorded, excluding any time before the clock was set back. A period that the
   * clock shows twice is also a gap, because its counts include the events of both times.
   */
  heartbeat(): void {
    const now = this.parts.clock.now()
    if (this.aliveAt - now > CLOCK_STEP_MS) this.onClockSetBack(now)
    const passed = { fromAt: this.aliveAt, toAt: now }
    const steps = clockStepsBetween(this.parts.db, this.aliveAt, now)
    const livedBefore = steps.map(({ fromAt, latestAt }) => ({ fromAt, toAt: latestAt }))
    if (now - this.aliveAt > MIN_GAP_MS) {
      this.unwrittenJumps.push(passed)
      const unlived = subtractSpans(passed, livedBefore).filter(({ fromAt, toAt }) => toAt - fromAt > MIN_GAP_MS)
      for (const piece of unlived) this.add({ ...piece, cause: 'down' })
    } else {
      for (const { fromAt, toAt } of livedBefore) {
        const again = { fromAt: Math.max(fromAt, passed.fromAt), toAt: Math.min(toAt, passed.toAt) }
        if (again.toAt > again.fromAt) this.add({ ...again, cause: 'clock' })
      }
    }
    this.aliveAt = now
    // After the clock was set back, `now` is earlier than the last write for some time.
    if (Math.abs(now - this.writtenAt) >= HEARTBEAT_MS) this.write(now)
  }

  /** To be called when a batch received at `receivedAt` has been stored. */
  stored(receivedAt: Instant): void {
    if (!this.isRefusing) return
    this.isRefusing = false
    this.extend(receivedAt)
    this.write(this.aliveAt)
  }

  /** To be called when a batch received at `receivedAt` could not be stored and has been rejected. */
  refused(receivedAt: Instant): void {
    if (this.isRefusing) return
    this.isRefusing = true
    this.add({ fromAt: receivedAt, toAt: receivedAt + 1, cause: 'refused' })
    this.write(this.aliveAt)
  }

  /**
   * Records a period in which a collector on another machine rejected events. Idempotent. To be called again with a later
   * end while the period lasts.
   */
  refusedElsewhere(span: TimeSpan, collector: string): void {
    const { db, onGap } = this.parts
    const gap = { ...span, cause: 'refused' as const }
    const known = gapsBetween(db, span.fromAt, span.fromAt + 1).find(({ fromAt }) => fromAt === span.fromAt)
    if (known && known.toAt >= span.toAt) return
    saveGap(db, gap)
    if (!known) onGap(gap, collector)
  }

  /** True while batches can't be stored. */
  get refusing(): boolean {
    return this.isRefusing
  }

  /** Time since which batches can't be stored; null when they can be stored. */
  get refusingSince(): Instant | null {
    return this.isRefusing ? (this.latest?.fromAt ?? null) : null
  }

  /**
   * Returns the gaps that overlap `from <= t < to`, in order and without overlaps. A gap in progress is cut off at the
   * current time. The absence of a collector is a gap until its events have arrived.
   */
  gapsOf(from: Instant, to: Instant): Gap[] {
    if (this.isRefusing) this.extend(this.parts.clock.now())
    const { unwritten } = this
    const written = gapsBetween(this.parts.db, from, to).filter(({ fromAt }) => !unwritten.has(fromAt))
    const others = [...unwritten.values()].filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
    const away = absences(this.parts.db, this.parts.clock.now())
      .filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
      .map((span) => ({ ...span, cause: 'down' as const }))
    return mergeGaps([...written, ...others, ...away].sort((a, b) => a.fromAt - b.fromAt))
  }

  /** Returns the reference time for the age of data. */
  retentionNow(): Instant {
    const now = this.parts.clock.now()
    return retentionNow([...clockJumps(this.parts.db), ...this.unwrittenJumps], now)
  }

  /** To be called when the program stops. Stores a final heartbeat. */
  close(): void {
    this.write(this.parts.clock.now())
  }

  /** Removes gaps after `now`, which were recorded while the clock was wrong. */
  private onClockSetBack(now: Instant): void {
    this.isRefusing = false
    this.write(now)
    truncateGaps(this.parts.db, now)
    this.latest = lastGap(this.parts.db, now)
    this.aliveAt = now
  }

  private add(gap: Gap): void {
    const whole = this.latest && joinGaps(this.latest, gap)
    this.latest = whole ?? gap
    this.unwritten.set(this.latest.fromAt, this.latest)
    // No notification, because the operator was notified when the clock was set back.
    if (!whole && gap.cause !== 'clock') this.parts.onGap(gap)
  }

  private extend(toAt: Instant): void {
    if (!this.latest || toAt <= this.latest.toAt) return
    this.latest = { ...this.latest, toAt }
    this.unwritten.set(this.latest.fromAt, this.latest)
  }

  private write(heartbeatAt: Instant): void {
    const { db, reportError } = this.parts
    if (this.isRefusing) this.extend(heartbeatAt)
    this.writtenAt = heartbeatAt
    try {
      tx(db, () => {
        saveHeartbeat(db, heartbeatAt)
        for (const gap of this.unwritten.values()) saveGap(db, gap)
        for (const jump of this.unwrittenJumps) saveClockJump(db, jump)
      })
      this.unwritten.clear()
      this.unwrittenJumps = []
    } catch (error) {
      reportError(error, 'heartbeat')
    }
  }
}
