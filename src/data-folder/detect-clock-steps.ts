import { CLOCK_STEP_MS, type Clock, DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { recheckHosts } from '../domains/collect-hostname-store.ts'
import { judgedThrough, restartAlerts } from '../evaluation/clock-step-windows.ts'
import type { Spool } from '../ingest/spool.ts'
import { shiftAfterClockStep } from '../integrations/delivery/outbox.ts'
import { shiftEscalations } from '../issues/escalation-store.ts'
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
  /** Called once for each step. */
  stepped(step: ClockStep): void
}

/**
 * Detects a clock that shows an earlier time than the data folder contains. The program can't determine whether the
 * clock was set back, was ahead before, or is behind now, so no stored data is changed or deleted. Scheduled times are
 * recomputed from the current time, and new events are evaluated immediately. For steps of up to 10 s, the program
 * waits until the clock catches up.
 */
export class ClockWatch {
  /** Latest time seen in this run or the previous run. */
  private seenAt: Instant
  /** Latest `receivedAt` of the events that were stored at startup. */
  private readonly lastReceivedAt: Instant

  /** Checks the clock immediately. */
  constructor(private readonly parts: ClockWatchDeps) {
    const { db, clock, spool } = parts
    const now = clock.now()
    // The heartbeat may be 30 s older than the time up to which events were evaluated.
    const seenAt = Math.max(lastHeartbeat(db) ?? now, judgedThrough(db))
    this.seenAt = seenAt
    this.lastReceivedAt = spool.latest.receivedAt
    // Events with future times do not indicate a new step if they were received before a known step.
    if (this.lastReceivedAt <= latestBeforeSteps(db))
      spool.setBack(Math.min(this.lastReceivedAt, Math.max(now, seenAt)))
    // After a small step, the program waits until the clock catches up. Otherwise, events received in an interval that
    // was already evaluated would never be evaluated.
    if (!this.check()) spool.setBack(Math.max(seenAt, spool.latest.receivedAt))
  }

  /** Must be called about every second, before any other code uses the time. Returns whether the clock was set back. */
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
        shiftEscalations(db, step)
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
   * Returns the earliest repeated time at which the program was running before the step. Excludes gaps caused by
   * setting the clock forward, and times before the first event.
   */
  private ranFrom(now: Instant, latestAt: Instant): Instant {
    const { db, warehouse } = this.parts
    const events = warehouse.storage().find(({ kind, isDamaged }) => kind === 'events' && !isDamaged)
    const firstAt = events?.firstAt ?? now
    const [gap] = gapsBetween(db, now, now + 1)
    return Math.min(Math.max(now, firstAt, gap?.toAt ?? now), latestAt)
  }
}

/** Returns the message to the operator about a step, which is sent once. */
export function clockNotice({ at, fromAt, latestAt }: ClockStep): { subject: string; text: string } {
  const [now, from, latest] = [at, fromAt, latestAt].map((instant) => new Date(instant).toISOString())
  return {
    subject: `the clock was set back by ${durationText(latestAt - at)}, to ${now}`,
    text: `The latest recorded time is ${latest}. Check that the clock is now correct. New events are evaluated by the current clock, and none is evaluated twice. Events that were stored with later times are unchanged. Counts from ${from} to ${latest} will include events from before and after the clock was set back, so they are not evaluated.`,
  }
}

const UNITS = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
  [SECOND_MS, 'second'],
] as const

/** Formats a duration in the largest unit, such as `1 day` or `3 hours`. */
function durationText(ms: number): string {
  const [unitMs, unit] = UNITS.find(([size]) => ms >= size) ?? [SECOND_MS, 'second']
  const count = Math.round(ms / unitMs)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
