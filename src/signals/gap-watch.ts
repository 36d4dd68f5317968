import { CLOCK_STEP_MS, type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import { clockStepsBetween } from '../store/clock-step.ts'
import { type Db, tx } from '../store/database.ts'
import { agedAt, apart, type Gap, joined, outside, PAUSE_MS, type Span } from './gap.ts'
import { cutGaps, gapsBetween, jumps, keepGap, keepHeartbeat, keepJump, lastGap, lastHeartbeat } from './gap-store.ts'

/** Written so rarely; a start after a crash knows the end of the run before as exactly as that. */
const HEARTBEAT_MS = 30 * SECOND_MS

export interface GapWatchParts {
  db: Db
  clock: Clock
  /** Told of every gap once: when it is known. */
  began(gap: Gap): void
  /** Told of what could not be written; it is tried again. */
  report(error: unknown, where: string): void
}

/**
 * Knows when nothing could be collected, across restarts. What can't be written, because the disk is full, is kept in
 * memory until it can; should the process end before that, the start after it sees the missing heartbeats.
 */
export class GapWatch {
  /** The last gap there was. */
  private latest: Gap | null
  /** True from the first batch that could not be stored to the next that was. */
  private isRefusing = false
  private readonly unwritten = new Map<Instant, Gap>()
  private unwrittenJumps: Span[] = []
  private aliveAt: Instant
  private writtenAt = Number.NEGATIVE_INFINITY

  /** If the last run ended too long ago, that is a gap. */
  constructor(private readonly parts: GapWatchParts) {
    const { db, clock } = parts
    this.latest = lastGap(db, clock.now())
    this.aliveAt = lastHeartbeat(db) ?? clock.now()
    this.beat()
  }

  /**
   * A sign of life, expected about every second and written every 30 s. If there was none for two minutes, the process
   * stood still, and that is a gap too; but for what it had lived through before the clock was put back. What it lives
   * through once more counts twice, and is a gap as well.
   */
  beat(): void {
    const now = this.parts.clock.now()
    if (this.aliveAt - now > CLOCK_STEP_MS) this.putBack(now)
    const passed = { fromAt: this.aliveAt, toAt: now }
    const steps = clockStepsBetween(this.parts.db, this.aliveAt, now)
    const livedBefore = steps.map(({ fromAt, latestAt }) => ({ fromAt, toAt: latestAt }))
    if (now - this.aliveAt > PAUSE_MS) {
      this.unwrittenJumps.push(passed)
      const unlived = outside(passed, livedBefore).filter(({ fromAt, toAt }) => toAt - fromAt > PAUSE_MS)
      for (const piece of unlived) this.add({ ...piece, cause: 'down' })
    } else {
      for (const { fromAt, toAt } of livedBefore) {
        const again = { fromAt: Math.max(fromAt, passed.fromAt), toAt: Math.min(toAt, passed.toAt) }
        if (again.toAt > again.fromAt) this.add({ ...again, cause: 'clock' })
      }
    }
    this.aliveAt = now
    // A clock that was put back would keep this from being written for as long.
    if (Math.abs(now - this.writtenAt) >= HEARTBEAT_MS) this.write(now)
  }

  /** A batch that arrived then was stored. */
  stored(receivedAt: Instant): void {
    if (!this.isRefusing) return
    this.isRefusing = false
    this.extend(receivedAt)
    this.write(this.aliveAt)
  }

  /** A batch that arrived then could not be stored, and was refused. */
  refused(receivedAt: Instant): void {
    if (this.isRefusing) return
    this.isRefusing = true
    this.add({ fromAt: receivedAt, toAt: receivedAt + 1, cause: 'refused' })
    this.write(this.aliveAt)
  }

  /** True while nothing can be stored. */
  get refusing(): boolean {
    return this.isRefusing
  }

  /** Those that reach into `from <= t < to`, in order, without overlaps. One that goes on reaches to this moment. */
  gapsOf(from: Instant, to: Instant): Gap[] {
    if (this.isRefusing) this.extend(this.parts.clock.now())
    const { unwritten } = this
    const written = gapsBetween(this.parts.db, from, to).filter(({ fromAt }) => !unwritten.has(fromAt))
    const others = [...unwritten.values()].filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
    return apart([...written, ...others].sort((a, b) => a.fromAt - b.fromAt))
  }

  /** The time by which it is judged what is too old to be kept. */
  agedAt(): Instant {
    const now = this.parts.clock.now()
    return agedAt([...jumps(this.parts.db), ...this.unwrittenJumps], now)
  }

  /** The program ends now: the next start counts from here. */
  close(): void {
    this.write(this.parts.clock.now())
  }

  /** A gap that reaches beyond this moment was none: the clock had been wrong. */
  private putBack(now: Instant): void {
    this.isRefusing = false
    this.write(now)
    cutGaps(this.parts.db, now)
    this.latest = lastGap(this.parts.db, now)
    this.aliveAt = now
  }

  private add(gap: Gap): void {
    const whole = this.latest && joined(this.latest, gap)
    this.latest = whole ?? gap
    this.unwritten.set(this.latest.fromAt, this.latest)
    // Of a time that is shown again the operator was told when the clock was put back.
    if (!whole && gap.cause !== 'clock') this.parts.began(gap)
  }

  private extend(toAt: Instant): void {
    if (!this.latest || toAt <= this.latest.toAt) return
    this.latest = { ...this.latest, toAt }
    this.unwritten.set(this.latest.fromAt, this.latest)
  }

  private write(heartbeatAt: Instant): void {
    const { db, report } = this.parts
    if (this.isRefusing) this.extend(heartbeatAt)
    this.writtenAt = heartbeatAt
    try {
      tx(db, () => {
        keepHeartbeat(db, heartbeatAt)
        for (const gap of this.unwritten.values()) keepGap(db, gap)
        for (const jump of this.unwrittenJumps) keepJump(db, jump)
      })
      this.unwritten.clear()
      this.unwrittenJumps = []
    } catch (error) {
      report(error, 'heartbeat')
    }
  }
}
