import type { Log } from '../base.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'

/** A job that fails at the moment. */
export interface Failure {
  /** Start of the first failed run since the last success. */
  since: Instant
  /** Why the most recent run failed, without paths. */
  message: string
  /** Code of an expected error; null for a bug. */
  code: AppError['code'] | null
}

/** Reports an absence of the control node or the event history when it begins and ends, instead of every second. */
export class Patience {
  private readonly failing = new Map<string, Failure>()

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  async run(job: string, work: () => Promise<void>): Promise<void> {
    const begunAt = this.clock.now()
    try {
      await work()
      if (this.failing.delete(job)) this.log.info(`${job}: works again`)
    } catch (error) {
      const isExpected = error instanceof AppError
      const message = isExpected ? error.message : 'fails; see the log'
      const before = this.failing.get(job)
      this.failing.set(job, { since: before?.since ?? begunAt, message, code: isExpected ? error.code : null })
      if (before?.message === message) return
      if (isExpected) this.log.warn(`${job}: ${message}`)
      else this.log.error(error, `${job}: ${messageOf(error)}`)
    }
  }

  /** Returns why a job fails; null if its last run succeeded. */
  failureOf(job: string): Failure | null {
    return this.failing.get(job) ?? null
  }
}
