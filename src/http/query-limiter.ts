import { SECOND_MS } from '../core/clock.ts'
import { FairQueue } from '../core/fair-queue.ts'
import type { Call } from './route.ts'

/** Maximum numbers of concurrent queries of the event history. */
export interface QueryLimits {
  atOnce: number
  perOrganization: number
  /** Maximum for all API keys and sessions of a user together. */
  perCaller: number
}

export const QUERY_LIMITS: QueryLimits = { atOnce: 4, perOrganization: 3, perCaller: 2 }

/**
 * Maximum number of waiting queries per slot of a caller or organization. The total limit for all queries is a few
 * times higher.
 */
const WAITING = 10
const ALL_WAITING = 100

/** The queue of a query. Expensive insights have a separate one. */
export type Lane = 'search' | 'insights'

/** Maximum number of concurrent insights for all callers, and the maximum time that further insights wait. */
const INSIGHTS_AT_ONCE = 2
const INSIGHT_WAIT_MS = 10 * SECOND_MS

/**
 * Queues queries of the event history, so that no caller or organization occupies all slots, and searches never wait
 * for insights.
 */
export class QueryLimiter {
  private readonly queues: Record<Lane, FairQueue>

  constructor(
    private readonly limits = QUERY_LIMITS,
    private readonly insightWaitMs = INSIGHT_WAIT_MS,
  ) {
    this.queues = {
      search: new FairQueue(limits.atOnce, limits.atOnce * ALL_WAITING),
      insights: new FairQueue(INSIGHTS_AT_ONCE, INSIGHTS_AT_ONCE * ALL_WAITING),
    }
  }

  /**
   * Runs `work` when a slot is free, and returns its result or throws its error. Throws `rateLimited` when too many
   * queries of the caller or the organization are already waiting. Throws `unavailable` when too many queries are
   * waiting in total, when `signal` aborts, or when an insight has waited for 10 s.
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

  /** Numbers of queries that are running and waiting. */
  get load(): { running: number; waiting: number } {
    const [search, insights] = [this.queues.search.load, this.queues.insights.load]
    return { running: search.running + insights.running, waiting: search.waiting + insights.waiting }
  }
}
