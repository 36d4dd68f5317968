import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { FairQueue } from '../core/fair-queue.ts'
import type { Lane } from './warehouse.ts'

const RETRY_AFTER_S = 5
/** Maximum number of concurrent queries in each lane. */
const MAX_RUNNING = { search: 4, insights: 2, signals: 2, jobs: 2 }
const QUERY_TIMEOUT_MS = 20 * SECOND_MS
const JOB_TIMEOUT_MS = MINUTE_MS

export interface LaneOptions {
  /** Time limit for a query. */
  timeoutMs?: number
  /** Time limit for a query from a caller. */
  callersTimeoutMs?: number
}

/** The queues in which queries wait for their turn. */
export class QueryLanes {
  private readonly queues = {
    search: new FairQueue(MAX_RUNNING.search),
    insights: new FairQueue(MAX_RUNNING.insights),
    signals: new FairQueue(MAX_RUNNING.signals),
    jobs: new FairQueue(MAX_RUNNING.jobs),
  }

  constructor(private readonly options: LaneOptions) {}

  /** Runs `work` in a lane. Without a lane, callers' queries run in `search`, and all others in `jobs`. */
  run<T>(work: (lane: Lane | 'jobs') => Promise<T>, signal?: AbortSignal, lane?: Lane): Promise<T> {
    const own = lane ?? (signal ? 'search' : 'jobs')
    return this.queues[own].run(() => work(own), { signal })
  }

  /** Time limit of a query in milliseconds. */
  timeoutMs(signal: AbortSignal | undefined): number {
    const { timeoutMs: forAll, callersTimeoutMs = forAll ?? QUERY_TIMEOUT_MS } = this.options
    return signal ? callersTimeoutMs : (forAll ?? JOB_TIMEOUT_MS)
  }
}

export const tookTooLong = (timeoutMs: number) =>
  new AppError(
    'unavailable',
    `the query exceeded its limit of ${timeoutMs / SECOND_MS} s; use a shorter time range or a single domain`,
    RETRY_AFTER_S,
  )

export const queryFailed = () =>
  new AppError('unavailable', `the query failed; try again in ${RETRY_AFTER_S} s`, RETRY_AFTER_S)
