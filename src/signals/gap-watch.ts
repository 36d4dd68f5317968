import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import { type Db, tx } from '../store/database.ts'
import { type Gap, joined, PAUSE_MS } from './gap.ts'
import { gapsBetween, keepGap, keepHeartbeat, lastGap, lastHeartbeat } from './gap-store.ts'

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
  private aliveAt: Instant
  private writtenAt = Number.NEGATIVE_INFINITY

  /** If the last run ended too long ago, that is a gap. */
  constructor(private readonly parts: GapWatchParts) {
    const { db, clock } = parts
    this.latest = lastGap(db)
    this.aliveAt = lastHeartbeat(db) ?? clock.now()
    this.beat()
  }

  /**
   * A sign of life, expected about every second and written every 30 s. If there was none for two minutes, the process
   * stood still, and that is a gap too.
   */
  beat(): void {
    const now = this.parts.clock.now()
    if (now - this.aliveAt > PAUSE_MS) this.add({ fromAt: this.aliveAt, toAt: now, cause: 'down' })
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
    if (unwritten.size === 0) return gapsBetween(this.parts.db, from, to)
    const written = gapsBetween(this.parts.db, from, to).filter(({ fromAt }) => !unwritten.has(fromAt))
    const others = [...unwritten.values()].filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
    return [...written, ...others].sort((a, b) => a.fromAt - b.fromAt)
  }

  /** The program ends now: the next start counts from here. */
  close(): void {
    this.write(this.parts.clock.now())
  }

  private add(gap: Gap): void {
    const whole = this.latest && joined(this.latest, gap)
    this.latest = whole ?? gap
    this.unwritten.set(this.latest.fromAt, this.latest)
    if (!whole) this.parts.began(gap)
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
      })
      this.unwritten.clear()
    } catch (error) {
      report(error, 'heartbeat')
    }
  }
}
