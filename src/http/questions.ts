import { FairQueue } from '../core/fair-queue.ts'
import type { Call } from './route.ts'

/** How many questions to the event history are answered at once. */
export interface QuestionLimits {
  atOnce: number
  perOrganization: number
  /** For one API key, or one user's sessions. */
  perCaller: number
}

export const QUESTION_LIMITS: QuestionLimits = { atOnce: 4, perOrganization: 3, perCaller: 2 }

/** For each that is answered at once, so many wait; of all together a few times as many, for there are many to wait. */
const WAITING = 10
const ALL_WAITING = 100

/** Answers questions to the event history in turn, so that no caller and no organization takes all there is. */
export class Questions {
  private readonly queue: FairQueue

  constructor(private readonly limits = QUESTION_LIMITS) {
    this.queue = new FairQueue(limits.atOnce, limits.atOnce * ALL_WAITING)
  }

  /**
   * Answers what `work` answers, when it is the caller's turn. Fails as it does; with `rateLimited` when too many of the
   * caller or the organization wait already; with `unavailable` when too many wait altogether or nobody waits any more.
   */
  ask<T>({ principal, signal }: Pick<Call, 'principal' | 'signal'>, work: () => Promise<T>): Promise<T> {
    const { perCaller, perOrganization } = this.limits
    const share = (name: string, atOnce: number) => ({ name, atOnce, waiting: atOnce * WAITING })
    const shares = principal
      ? [share(principal.keyId ?? principal.userId, perCaller), share(principal.orgId, perOrganization)]
      : []
    return this.queue.run(work, { shares, signal })
  }

  /** How many are being answered, and how many wait. */
  get load(): { running: number; waiting: number } {
    return this.queue.load
  }
}
