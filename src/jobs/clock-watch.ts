import { CLOCK_STEP_MS, type Clock, DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { recheckHosts } from '../domains/routing-store.ts'
import { beginAnew, judgedThrough } from '../evaluation/late-window.ts'
import type { Spool } from '../ingest/spool.ts'
import { moveBack } from '../integrations/outbox.ts'
import { shortenSessions } from '../org/session.ts'
import { gapsBetween, lastHeartbeat } from '../signals/gap-store.ts'
import { addClockStep, type ClockStep, latestBeforeSteps } from '../store/clock-step.ts'
import { type Db, tx } from '../store/database.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export interface ClockWatchParts {
  db: Db
  clock: Clock
  spool: Pick<Spool, 'latest' | 'putBack'>
  warehouse: Pick<Warehouse, 'storage'>
  /** Told of every step, once. */
  stepped(step: ClockStep): void
}

/**
 * Knows when the clock shows less than the data folder has seen: it was put back, or it was ahead, or it is behind now,
 * which nobody here can tell apart. So nothing that was stored is changed or deleted; what waits for a time is made to
 * wait from now, and what comes in is judged at once. Steps of up to 10 s are waited for.
 */
export class ClockWatch {
  /** What the clock showed last, in this run or the one before. */
  private seenAt: Instant
  /** No event that was there at the start has a later time. */
  private readonly lastReceivedAt: Instant

  /** Looks at once. */
  constructor(private readonly parts: ClockWatchParts) {
    const { db, clock, spool } = parts
    const now = clock.now()
    // A heartbeat is up to 30 s older than what was judged.
    const seenAt = Math.max(lastHeartbeat(db) ?? now, judgedThrough(db))
    this.seenAt = seenAt
    this.lastReceivedAt = spool.latest.receivedAt
    // Events of times to come, of before a step that is known, say nothing about the clock.
    if (this.lastReceivedAt <= latestBeforeSteps(db))
      spool.putBack(Math.min(this.lastReceivedAt, Math.max(now, seenAt)))
    // A small step is waited for: what has the time of what was judged would not be judged.
    if (!this.look()) spool.putBack(Math.max(seenAt, spool.latest.receivedAt))
  }

  /**
   * To be called before anything else that asks for the time, about every second. Answers whether the clock was put
   * back.
   */
  look(): boolean {
    const { db, clock, spool, stepped } = this.parts
    const now = clock.now()
    const latestAt = Math.max(this.seenAt, spool.latest.receivedAt)
    const isBack = latestAt - now > CLOCK_STEP_MS
    if (isBack) {
      const step = { at: now, fromAt: this.livedFrom(now, latestAt), latestAt, lastSeq: spool.latest.seq }
      tx(db, () => {
        beginAnew(db, step, Math.max(latestAt, this.lastReceivedAt))
        addClockStep(db, step)
        moveBack(db, step)
        shortenSessions(db, now)
        recheckHosts(db, now)
      })
      spool.putBack(now)
      stepped(step)
    }
    this.seenAt = now
    return isBack
  }

  /**
   * Since when the program ran before: not in a gap that the clock made by being put on, nor before the first event.
   */
  private livedFrom(now: Instant, latestAt: Instant): Instant {
    const { db, warehouse } = this.parts
    const events = warehouse.storage().find(({ kind, isDamaged }) => kind === 'events' && !isDamaged)
    const firstAt = events?.firstAt ?? now
    const [gap] = gapsBetween(db, now, now + 1)
    return Math.min(Math.max(now, firstAt, gap?.toAt ?? now), latestAt)
  }
}

/** What an operator is told of a step, once: a sentence for the subject, and what follows from it. */
export function clockNotice({ at, fromAt, latestAt }: ClockStep): { subject: string; text: string } {
  const [now, from, latest] = [at, fromAt, latestAt].map((instant) => new Date(instant).toISOString())
  return {
    subject: `the clock was put back by ${spelled(latestAt - at)}, to ${now}`,
    text: `The latest time known here is ${latest}: is the clock right now? What comes in is judged and told by the present clock, and nothing is judged twice. Events stored with later times stay as they are. When the clock comes to ${from} to ${latest} again, counts of that time are of both, and are not judged.`,
  }
}

const UNITS = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
  [SECOND_MS, 'second'],
] as const

/** `1 day`, `3 hours`, to the unit. */
function spelled(ms: number): string {
  const [unitMs, unit] = UNITS.find(([size]) => ms >= size) ?? [SECOND_MS, 'second']
  const count = Math.round(ms / unitMs)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
