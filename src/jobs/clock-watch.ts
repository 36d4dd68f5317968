import { CLOCK_STEP_MS, type Clock, DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { recheckHosts } from '../domains/routing-store.ts'
import { judgedThrough, restartAlerts } from '../evaluation/late-windows.ts'
import type { Spool } from '../ingest/spool.ts'
import { shiftAfterClockStep } from '../integrations/delivery/outbox.ts'
import { shortenSessions } from '../org/session.ts'
import { gapsBetween, lastHeartbeat } from '../signals/gap-store.ts'
import { addClockStep, type ClockStep, latestBeforeSteps } from '../store/clock-step.ts'
import { type Db, tx } from '../store/database.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export interface ClockWatchDeps {
  db: Db
  clock: Clock
  spool: Pick<Spool, 'latest' | 'setBack'>
  warehouse: Pick<Warehouse, 'storage'>
  /** Called once for every step. */
  stepped(step: ClockStep): void
}

/**
 * Detects a clock that is behind times in the data folder. Whether it was set back, was ahead before or is behind now
 * can't be known, so no stored data is changed or deleted. Pending times are recomputed from now, and new events are
 * judged immediately. Steps of up to 10 s are waited out.
 */
export class ClockWatch {
  /** The last time seen, in this run or the previous one. */
  private seenAt: Instant
  /** Latest `receivedAt` of the events stored at startup. */
  private readonly lastReceivedAt: Instant

  /** Checks the clock at once. */
  constructor(private readonly parts: ClockWatchDeps) {
    const { db, clock, spool } = parts
    const now = clock.now()
    // A heartbeat may be 30 s older than the last judged time.
    const seenAt = Math.max(lastHeartbeat(db) ?? now, judgedThrough(db))
    this.seenAt = seenAt
    this.lastReceivedAt = spool.latest.receivedAt
    // Events with future times, from before a known step, do not show a new step.
    if (this.lastReceivedAt <= latestBeforeSteps(db))
      spool.setBack(Math.min(this.lastReceivedAt, Math.max(now, seenAt)))
    // A small step is waited out: events in an interval that was already judged would not be judged.
    if (!this.check()) spool.setBack(Math.max(seenAt, spool.latest.receivedAt))
  }

  /**
   * To be called before anything else that uses the time, about every second. Returns whether the clock was set back.
   */
  check(): boolean {
    const { db, clock, spool, stepped } = this.parts
    const now = clock.now()
    const latestAt = Math.max(this.seenAt, spool.latest.receivedAt)
    const isBack = latestAt - now > CLOCK_STEP_MS
    if (isBack) {
      const step = { at: now, fromAt: this.ranFrom(now, latestAt), latestAt, lastSeq: spool.latest.seq }
      tx(db, () => {
        restartAlerts(db, step, Math.max(latestAt, this.lastReceivedAt))
        addClockStep(db, step)
        shiftAfterClockStep(db, step)
        shortenSessions(db, now)
        recheckHosts(db, now)
      })
      spool.setBack(now)
      stepped(step)
    }
    this.seenAt = now
    return isBack
  }

  /**
   * Returns since when the program ran before: excludes gaps of a clock that was set forward, and times before the
   * first event.
   */
  private ranFrom(now: Instant, latestAt: Instant): Instant {
    const { db, warehouse } = this.parts
    const events = warehouse.storage().find(({ kind, isDamaged }) => kind === 'events' && !isDamaged)
    const firstAt = events?.firstAt ?? now
    const [gap] = gapsBetween(db, now, now + 1)
    return Math.min(Math.max(now, firstAt, gap?.toAt ?? now), latestAt)
  }
}

/** Returns the message to the operator about a step, sent once. */
export function clockNotice({ at, fromAt, latestAt }: ClockStep): { subject: string; text: string } {
  const [now, from, latest] = [at, fromAt, latestAt].map((instant) => new Date(instant).toISOString())
  return {
    subject: `the clock was set back by ${durationText(latestAt - at)}, to ${now}`,
    text: `The latest recorded time is ${latest}. Check that the clock is right now. New events are judged by the current clock, and none is judged twice. Events that were stored with later times are unchanged. From ${from} to ${latest}, counts will include both runs of the clock, so they are not judged.`,
  }
}

const UNITS = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
  [SECOND_MS, 'second'],
] as const

/** Formats as `1 day`, `3 hours`, in the largest unit. */
function durationText(ms: number): string {
  const [unitMs, unit] = UNITS.find(([size]) => ms >= size) ?? [SECOND_MS, 'second']
  const count = Math.round(ms / unitMs)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
