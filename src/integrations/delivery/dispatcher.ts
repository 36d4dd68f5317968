import { HOUR_MS, type Instant, SECOND_MS } from '../../core/clock.ts'
import { INTERNAL_ORG_ID } from '../../org/internal-org.ts'
import type { AttemptResult, Outcome, TimedAttemptResult } from '../delivery-outcome.ts'
import { attemptDelivery, type Claimed, type DeliveryDeps } from './attempt.ts'
import { claimNext, RoundRobin, withdrawExpired } from './delivery-queues.ts'
import { claimGroupMembers } from './group-openings.ts'
import { chooseNext, type Health, hasRoom, healthAfter, healthKey, type Lane } from './lane-scheduler.ts'
import { Pauses } from './rate-limit-pauses.ts'
import { recordAttempt } from './record-attempt.ts'

/**
 * Minimum delay between scans, so that attempts that end together trigger a single scan. After a slow scan, the delay
 * is longer, so that scans take at most a tenth of the time.
 */
const MIN_SCAN_DELAY_MS = 10
const SCAN_DELAY_FACTOR = 9
/** Delay before a failed write is retried. */
const WRITE_RETRY_MS = SECOND_MS

/**
 * Sends the pending deliveries in the outbox. `start` starts the deliveries that may be sent now, and every finished
 * attempt frees a slot. `lane-scheduler.ts` selects deliveries based on what is pending, what is in flight and which
 * origins hang. Attempts in flight and hanging origins are tracked in memory only. Create one instance per database.
 */
export class Dispatcher {
  private readonly inFlight = new Map<Promise<unknown>, Lane>()
  private readonly unlimited = new Set<Promise<unknown>>()
  private readonly health = new Map<string, Health>()
  private readonly pauses = new Pauses()
  private readonly rounds: RoundRobin
  /** Resolves after the next scheduled scan. Null if no scan is scheduled. */
  private nextScan: Promise<void> | null = null
  /** Time of the most recent delivery to a user's channel since startup; null before the first. */
  lastDeliveredAt: Instant | null = null
  /** Duration of the last scan in ms. */
  private scanMs = 0

  /**
   * @param stopping Aborted when the server stops. After that, no delivery is claimed, and attempts in flight become
   * pending again.
   */
  constructor(
    readonly deps: DeliveryDeps,
    readonly stopping: AbortSignal,
  ) {
    this.rounds = new RoundRobin(deps.db)
  }

  /**
   * Starts every attempt that may start now, without waiting for it to finish, and returns the number started. Fails
   * only if the store fails.
   */
  start(): number {
    if (this.stopping.aborted) return 0
    const now = this.deps.clock.now()
    withdrawExpired(this.deps.db, now)
    for (const [key, { until }] of this.health) if (until < now - HOUR_MS) this.health.delete(key)
    this.pauses.tidy(now - HOUR_MS)
    let started = 0
    // Each round offers one delivery per queue, but the origin may have more free slots.
    for (let more = this.startSome(now); more > 0; more = this.startSome(now)) started += more
    return started
  }

  private startSome(now: Instant): number {
    const { deps, rounds } = this
    let started = 0
    const open = rounds.next(now).filter(({ queue }) => !this.pauses.isPaused(queue, now))
    for (const waiting of chooseNext(open, this.traffic(now))) {
      const delivery = claimNext(deps.db, waiting.queue, now, this.pauses.firstOf(waiting.queue))
      if (!delivery) continue
      rounds.served(waiting)
      started++
      void this.send({ delivery, others: claimGroupMembers(deps.db, delivery, now, deps.channels) }, waiting)
    }
    return started
  }

  /**
   * Makes one attempt. It counts as in flight until its outcome, transformed by `revise`, is recorded. Never throws:
   * failed writes are reported and retried until the server stops.
   */
  send(claimed: Claimed, lane: Lane, revise = (outcome: Outcome) => outcome): Promise<AttemptResult> {
    return this.track(lane, async (ended) => {
      const at = this.deps.clock.now()
      const begun = performance.now()
      const attempted = await attemptDelivery(this.deps, claimed, this.stopping)
      ended(attempted.hung)
      const durMs = Math.round(performance.now() - begun)
      const timed = { ...attempted, outcome: revise(attempted.outcome), at, durMs }
      this.pauses.note(claimed.delivery, timed.outcome, this.deps.clock.now())
      await this.record(claimed, timed)
      const isDelivered = timed.outcome.verdict === 'delivered' && claimed.delivery.orgId !== INTERNAL_ORG_ID
      if (isDelivered) this.lastDeliveredAt = this.deps.clock.now()
      if (timed.outcome.verdict === 'wait') this.scanAfter(timed.outcome.waitMs)
      return timed
    })
  }

  /**
   * Counts `work` as in flight until it settles. `work` calls `ended` as soon as it knows whether the receiver hung.
   */
  track<T>(lane: Lane, work: (ended: (hung: boolean) => void) => Promise<T>): Promise<T> {
    const key = healthKey(lane)
    const visiting = work((hung) => {
      this.health.set(key, healthAfter(this.health.get(key), hung, this.deps.clock.now()))
    }).finally(() => {
      this.inFlight.delete(visiting)
      this.scheduleScan()
    })
    this.inFlight.set(visiting, lane)
    return visiting
  }

  /** Counts work as in flight without occupying a slot, because it spends most of its time waiting. */
  trackUnlimited<T>(work: Promise<T>): Promise<T> {
    const ended = work.finally(() => this.unlimited.delete(ended))
    this.unlimited.add(ended)
    return ended
  }

  private record(claimed: Claimed, attempted: TimedAttemptResult): Promise<void> {
    const { db, clock } = this.deps
    const write = () => recordAttempt(db, claimed, attempted, { ...this.deps, now: clock.now() })
    return this.writeWithRetry(write, claimed.delivery.id)
  }

  /**
   * Writes an outcome that must not be lost. Never throws: a failed write is reported with `id` and retried every
   * second until the server stops.
   */
  async writeWithRetry(write: () => void, id: string): Promise<void> {
    for (;;) {
      try {
        return write()
      } catch (error) {
        this.deps.report(error, id)
        if (this.stopping.aborted) return
        await Bun.sleep(WRITE_RETRY_MS)
      }
    }
  }

  /**
   * Scans after a delay of up to a second. The job's next run alone could come almost a second late, which would halve
   * the rate for a chat that accepts one message per second.
   */
  private scanAfter(ms: number): void {
    if (ms <= SECOND_MS) setTimeout(() => this.scheduleScan(), ms).unref()
  }

  private scheduleScan(): void {
    if (this.nextScan || this.stopping.aborted) return
    this.nextScan = Bun.sleep(Math.max(MIN_SCAN_DELAY_MS, this.scanMs * SCAN_DELAY_FACTOR)).then(() => {
      this.nextScan = null
      const before = performance.now()
      try {
        this.start()
      } catch (error) {
        // The next run of the job repeats the scan.
        this.deps.report(error, 'deliver')
      }
      this.scanMs = performance.now() - before
    })
  }

  /** Clears pauses after the clock was set back. Otherwise they would last too long. */
  forget(): void {
    this.health.clear()
    this.pauses.clear()
  }

  /** Resolves when nothing is in flight and no scan is scheduled. */
  async idle(): Promise<void> {
    while (this.inFlight.size > 0 || this.unlimited.size > 0 || this.nextScan) {
      const all = [...this.inFlight.keys(), ...this.unlimited]
      await (this.nextScan ?? Promise.race(all.map((one) => one.catch(() => undefined))))
    }
  }

  /** True if a slot is free, even if the origin is paused. */
  hasRoom(lane: Lane): boolean {
    return hasRoom(lane, this.traffic(0))
  }

  private traffic(now: Instant) {
    return { inFlight: [...this.inFlight.values()], health: this.health, now }
  }
}
