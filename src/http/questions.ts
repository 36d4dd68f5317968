import { FairQueue } from '../core/fair-queue.ts'
import type { Call } from './route.ts'

/** How many queries of the event history run at once. */
export interface QuestionLimits {
  atOnce: number
  perOrganization: number
  /** For one API key, or all sessions of one user. */
  perCaller: number
}

export const QUESTION_LIMITS: QuestionLimits = { atOnce: 4, perOrganization: 3, perCaller: 2 }

/** Up to this many wait for each slot of a caller or organization; a few times as many for all together. */
const WAITING = 10
const ALL_WAITING = 100

/** Queues queries of the event history, so that no caller and no organization takes all slots. */
export class Questions {
  private readonly queue: FairQueue

  constructor(private readonly limits = QUESTION_LIMITS) {
    this.queue = new FairQueue(limits.atOnce, limits.atOnce * ALL_WAITING)
  }

  /**
   * Runs `work` when a slot is free, and returns its result. Fails as it does; with `rateLimited` when too many queries
   * of the caller or the organization wait already; with `unavailable` when too many wait in total or `signal` aborts.
   */
  ask<T>({ principal, signal }: Pick<Call, 'principal' | 'signal'>, work: () => Promise<T>): Promise<T> {
    const { perCaller, perOrganization } = this.limits
    const share = (name: string, atOnce: number) => ({ name, atOnce, waiting: atOnce * WAITING })
    const shares = principal
      ? [share(principal.keyId ?? principal.userId, perCaller), share(principal.orgId, perOrganization)]
      : []
    return this.queue.run(work, { shares, signal })
  }

  /** The number of queries that run, and of those that wait. */
  get load(): { running: number; waiting: number } {
    return this.queue.load
  }
}
