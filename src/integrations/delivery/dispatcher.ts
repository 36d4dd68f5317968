import { HOUR_MS, type Instant, SECOND_MS } from '../../core/clock.ts'
import type { Attempted, Outcome, TimedAttempt } from '../reply.ts'
import { attempt, type Claimed, type DeliveryParts } from './attempt.ts'
import { claimOthers } from './grouping.ts'
import { recordAttempt } from './outcome.ts'
import { Pauses } from './pauses.ts'
import { claimNext, dropExpired, Rounds } from './queues.ts'
import { choose, type Health, hasRoom, healthAfter, healthKey, type Way } from './schedule.ts'

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
  private readonly underWay = new Map<Promise<unknown>, Way>()
  private readonly beside = new Set<Promise<unknown>>()
  private readonly health = new Map<string, Health>()
  private readonly pauses = new Pauses()
  private readonly rounds: Rounds
  /** Ends with a look at what may go. */
  private rest: Promise<void> | null = null
  /** How long the last look took. */
  private lookedMs = 0

  /** @param stopping aborted when the program stops: nothing more is taken, and what is under way becomes pending again. */
  constructor(
    readonly parts: DeliveryParts,
    readonly stopping: AbortSignal,
  ) {
    this.rounds = new Rounds(parts.db)
  }

  /** Begins every attempt that may go now, without waiting for any, and answers how many. Fails only when the store does. */
  start(): number {
    if (this.stopping.aborted) return 0
    const now = this.parts.clock.now()
    dropExpired(this.parts.db, now)
    for (const [key, { until }] of this.health) if (until < now - HOUR_MS) this.health.delete(key)
    this.pauses.tidy(now - HOUR_MS)
    let started = 0
    // A queue is offered once at a time, and its origin may have room for more.
    for (let more = this.startSome(now); more > 0; more = this.startSome(now)) started += more
    return started
  }

  private startSome(now: Instant): number {
    const { parts, rounds } = this
    let started = 0
    const open = rounds.next(now).filter(({ queue }) => !this.pauses.isPaused(queue, now))
    for (const waiting of choose(open, this.traffic(now))) {
      const delivery = claimNext(parts.db, waiting.queue, now, this.pauses.firstOf(waiting.queue))
      if (!delivery) continue
      rounds.served(waiting)
      started++
      void this.send({ delivery, others: claimOthers(parts.db, delivery, now, parts.providers) }, waiting)
    }
    return started
  }

  /**
   * One attempt at what was claimed, counted among what is under way until its outcome is recorded, with what `revise` makes of
   * the outcome. Never throws: what the store does not take is reported and tried again until the program stops.
   */
  send(claimed: Claimed, way: Way, revise = (outcome: Outcome) => outcome): Promise<Attempted> {
    return this.visit(way, async (ended) => {
      const at = this.parts.clock.now()
      const begun = performance.now()
      const attempted = await attempt(this.parts, claimed, this.stopping)
      ended(attempted.hung)
      const durMs = Math.round(performance.now() - begun)
      const timed = { ...attempted, outcome: revise(attempted.outcome), at, durMs }
      this.pauses.note(claimed.delivery, timed.outcome, this.parts.clock.now())
      await this.record(claimed, timed)
      if (timed.outcome.verdict === 'wait') this.lookIn(timed.outcome.waitMs)
      return timed
    })
  }

  /** Counts `work` among what is under way until it settles; it says `ended` when it knows if the receiver hung. */
  visit<T>(way: Way, work: (ended: (hung: boolean) => void) => Promise<T>): Promise<T> {
    const key = healthKey(way)
    const visiting = work((hung) => {
      this.health.set(key, healthAfter(this.health.get(key), hung, this.parts.clock.now()))
    }).finally(() => {
      this.underWay.delete(visiting)
      this.lookSoon()
    })
    this.underWay.set(visiting, way)
    return visiting
  }

  /** Counts work among what is under way that holds no place, because most of its time it waits. */
  accompany<T>(work: Promise<T>): Promise<T> {
    const ended = work.finally(() => this.beside.delete(ended))
    this.beside.add(ended)
    return ended
  }

  private record(claimed: Claimed, attempted: TimedAttempt): Promise<void> {
    const { db, clock } = this.parts
    const write = () => recordAttempt(db, claimed, attempted, { ...this.parts, now: clock.now() })
    return this.written(write, claimed.delivery.id)
  }

  /**
   * Writes how something ended that is not to be done twice. Never throws: what the store does not take is reported as that of
   * `id`, and written again every second until the program stops.
   */
  async written(write: () => void, id: string): Promise<void> {
    for (;;) {
      try {
        return write()
      } catch (error) {
        this.parts.report(error, id)
        if (this.stopping.aborted) return
        await Bun.sleep(WRITE_AGAIN_MS)
      }
    }
  }

  /** The next run of the job could be almost a second too late, which halves the rate of a chat that takes one a second. */
  private lookIn(ms: number): void {
    if (ms <= SECOND_MS) setTimeout(() => this.lookSoon(), ms).unref()
  }

  private lookSoon(): void {
    if (this.rest || this.stopping.aborted) return
    this.rest = Bun.sleep(Math.max(SHORTEST_REST_MS, this.lookedMs * REST_SHARE)).then(() => {
      this.rest = null
      const before = performance.now()
      try {
        this.start()
      } catch (error) {
        // The next run of the job tries again.
        this.parts.report(error, 'deliver')
      }
      this.lookedMs = performance.now() - before
    })
  }

  /** The clock was put back: origins that are paused would be for as long. */
  forget(): void {
    this.health.clear()
    this.pauses.clear()
  }

  /** Resolves when nothing is under way, nor about to be because of what ended. */
  async idle(): Promise<void> {
    while (this.underWay.size > 0 || this.beside.size > 0 || this.rest) {
      const all = [...this.underWay.keys(), ...this.beside]
      await (this.rest ?? Promise.race(all.map((one) => one.catch(() => undefined))))
    }
  }

  /** Returns whether there is a place for one more attempt, whether or not its origin is paused. */
  hasRoom(way: Way): boolean {
    return hasRoom(way, this.traffic(0))
  }

  private traffic(now: Instant) {
    return { underWay: [...this.underWay.values()], health: this.health, now }
  }
}
