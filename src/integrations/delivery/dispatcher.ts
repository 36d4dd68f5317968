import { HOUR_MS, type Instant, SECOND_MS } from '../../core/clock.ts'
import type { AttemptResult, Outcome, TimedAttemptResult } from '../outcome.ts'
import { attemptDelivery, type Claimed, type DeliveryDeps } from './attempt.ts'
import { claimGroupMembers } from './grouping.ts'
import { chooseNext, type Health, hasRoom, healthAfter, healthKey, type Lane } from './lane-scheduler.ts'
import { Pauses } from './pauses.ts'
import { claimNext, RoundRobin, withdrawExpired } from './queues.ts'
import { recordAttempt } from './record-attempt.ts'

/** What is found out when an attempt ends is looked for together, and for at most a tenth of the time. */
const SHORTEST_REST_MS = 10
const REST_SHARE = 9
/** How long it takes until what the store refused is written again. */
const WRITE_AGAIN_MS = SECOND_MS

/**
 * Sends what waits in the outbox: `start` begins what may go now, and each attempt that ends makes room for others. What
 * goes is decided by `schedule.ts` from what waits, what is under way, and which origins hang; of the last two nothing is
 * stored. One for each database.
 */
export class Dispatcher {
  private readonly inFlight = new Map<Promise<unknown>, Lane>()
  private readonly unlimited = new Set<Promise<unknown>>()
  private readonly health = new Map<string, Health>()
  private readonly pauses = new Pauses()
  private readonly rounds: RoundRobin
  /** Ends with a look at what may go. */
  private nextScan: Promise<void> | null = null
  /** How long the last look took. */
  private scanMs = 0

  /** @param stopping aborted when the program stops: nothing more is taken, and what is under way becomes pending again. */
  constructor(
    readonly deps: DeliveryDeps,
    readonly stopping: AbortSignal,
  ) {
    this.rounds = new RoundRobin(deps.db)
  }

  /** Begins every attempt that may go now, without waiting for any, and answers how many. Fails only when the store does. */
  start(): number {
    if (this.stopping.aborted) return 0
    const now = this.deps.clock.now()
    withdrawExpired(this.deps.db, now)
    for (const [key, { until }] of this.health) if (until < now - HOUR_MS) this.health.delete(key)
    this.pauses.tidy(now - HOUR_MS)
    let started = 0
    // A queue is offered once at a time, and its origin may have room for more.
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
      void this.send({ delivery, others: claimGroupMembers(deps.db, delivery, now, deps.providers) }, waiting)
    }
    return started
  }

  /**
   * One attempt at what was claimed, counted among what is under way until its outcome is recorded, with what `revise` makes of
   * the outcome. Never throws: what the store does not take is reported and tried again until the program stops.
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
      if (timed.outcome.verdict === 'wait') this.scanAfter(timed.outcome.waitMs)
      return timed
    })
  }

  /** Counts `work` among what is under way until it settles; it says `ended` when it knows if the receiver hung. */
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

  /** Counts work among what is under way that holds no place, because most of its time it waits. */
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
   * Writes how something ended that is not to be done twice. Never throws: what the store does not take is reported as that of
   * `id`, and written again every second until the program stops.
   */
  async writeWithRetry(write: () => void, id: string): Promise<void> {
    for (;;) {
      try {
        return write()
      } catch (error) {
        this.deps.report(error, id)
        if (this.stopping.aborted) return
        await Bun.sleep(WRITE_AGAIN_MS)
      }
    }
  }

  /** The next run of the job could be almost a second too late, which halves the rate of a chat that takes one a second. */
  private scanAfter(ms: number): void {
    if (ms <= SECOND_MS) setTimeout(() => this.scheduleScan(), ms).unref()
  }

  private scheduleScan(): void {
    if (this.nextScan || this.stopping.aborted) return
    this.nextScan = Bun.sleep(Math.max(SHORTEST_REST_MS, this.scanMs * REST_SHARE)).then(() => {
      this.nextScan = null
      const before = performance.now()
      try {
        this.start()
      } catch (error) {
        // The next run of the job tries again.
        this.deps.report(error, 'deliver')
      }
      this.scanMs = performance.now() - before
    })
  }

  /** The clock was put back: origins that are paused would be for as long. */
  forget(): void {
    this.health.clear()
    this.pauses.clear()
  }

  /** Resolves when nothing is under way, nor about to be because of what ended. */
  async idle(): Promise<void> {
    while (this.inFlight.size > 0 || this.unlimited.size > 0 || this.nextScan) {
      const all = [...this.inFlight.keys(), ...this.unlimited]
      await (this.nextScan ?? Promise.race(all.map((one) => one.catch(() => undefined))))
    }
  }

  /** Returns whether there is a place for one more attempt, whether or not its origin is paused. */
  hasRoom(lane: Lane): boolean {
    return hasRoom(lane, this.traffic(0))
  }

  private traffic(now: Instant) {
    return { inFlight: [...this.inFlight.values()], health: this.health, now }
  }
}
