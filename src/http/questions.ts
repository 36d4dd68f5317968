import { SECOND_MS } from '../core/clock.ts'
import { FairQueue } from '../core/fair-queue.ts'
import type { Call } from './route.ts'

/** How many queries of the event history run at once. */
export interface QuestionLimits {
  atOnce: number
  perOrganization: number
  /** For all API keys and sessions of one user. */
  perCaller: number
}

export const QUESTION_LIMITS: QuestionLimits = { atOnce: 4, perOrganization: 3, perCaller: 2 }

/** Up to this many wait for each slot of a caller or organization; a few times as many for all together. */
const WAITING = 10
const ALL_WAITING = 100

/** Queue of a query of the event history: expensive insights have a separate one. */
export type Lane = 'search' | 'insights'

/** Number of concurrent insights of all callers; others wait for at most this long. */
const INSIGHTS_AT_ONCE = 2
const INSIGHT_WAIT_MS = 10 * SECOND_MS

/** Queues queries of the event history, so that no caller and no organization takes all slots, and none waits for insights. */
export class Questions {
  private readonly queues: Record<Lane, FairQueue>

  constructor(
    private readonly limits = QUESTION_LIMITS,
    private readonly insightWaitMs = INSIGHT_WAIT_MS,
  ) {
    this.queues = {
      search: new FairQueue(limits.atOnce, limits.atOnce * ALL_WAITING),
      insights: new FairQueue(INSIGHTS_AT_ONCE, INSIGHTS_AT_ONCE * ALL_WAITING),
    }
  }

  /**
   * Runs `work` when a slot is free, and returns its result. Fails as it does; with `rateLimited` when too many queries
   * of the caller or the organization are already waiting; with `unavailable` when too many wait in total, `signal` aborts, or an insight
   * waited for 10 s.
   */
  ask<T>(
    { principal, signal }: Pick<Call, 'principal' | 'signal'>,
    work: () => Promise<T>,
    lane: Lane = 'search',
  ): Promise<T> {
    const { perCaller, perOrganization } = this.limits
    const share = (name: string, atOnce: number) => ({ name, maxRunning: atOnce, maxWaiting: atOnce * WAITING })
    const shares = principal ? [share(principal.userId, perCaller), share(principal.orgId, perOrganization)] : []
    return this.queues[lane].run(work, { shares, signal, waitMs: lane === 'insights' ? this.insightWaitMs : undefined })
  }

  /** The number of queries that run, and of those that wait. */
  get load(): { running: number; waiting: number } {
    const [search, insights] = [this.queues.search.load, this.queues.insights.load]
    return { running: search.running + insights.running, waiting: search.waiting + insights.waiting }
  }
}
