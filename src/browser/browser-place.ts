import { FairQueue } from '../core/fair-queue.ts'
import { BrowserTime } from './browser-time.ts'

/** Maximum number of browsers that are open without a place: 120 to 280 MB each. */
const MAX_PAUSED = 4
/** Maximum number of tasks that may pause by organization, where there are not more places anyway. */
const PAUSING_BY_ORG = 2
const UNLIMITED = Number.POSITIVE_INFINITY

/** The places for browsers that run at once. Organizations take turns, by the browser time that each used. */
export class BrowserPlaces {
  private readonly queue: FairQueue
  private readonly pausing = new FairQueue(UNLIMITED)
  private readonly time = new BrowserTime()
  private paused = 0

  constructor(private readonly concurrency: number) {
    this.queue = new FairQueue(concurrency, undefined, (orgId) => this.time.usedBy(orgId))
  }

  /** Returns a place to be entered. When `stopping` aborts, it is waited for no longer, and free at once. */
  of(orgId: string, stopping: AbortSignal): BrowserPlace {
    const mayPause = (): (() => void) | null => {
      if (this.paused >= MAX_PAUSED) return null
      this.paused++
      return () => this.paused--
    }
    return new BrowserPlace((signal) => this.take(orgId, signal), mayPause, stopping)
  }

  /** Runs work that may pause when the organization has not too much of it. Fails as `work` does, or when `signal` aborts. */
  runPausing<T>(orgId: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const atOnce = Math.max(PAUSING_BY_ORG, this.concurrency)
    return this.pausing.run(work, { shares: [{ name: orgId, maxRunning: atOnce, maxWaiting: UNLIMITED }], signal })
  }

  /** Waits for a place. Returns what gives it up. Fails when the signal aborts. */
  private take(orgId: string, signal: AbortSignal): Promise<() => void> {
    const taken = Promise.withResolvers<() => void>()
    const left = Promise.withResolvers<void>()
    const hold = async () => {
      const end = this.time.begin(orgId)
      taken.resolve(left.resolve)
      await left.promise
      end()
    }
    const share = { name: orgId, maxRunning: this.concurrency, maxWaiting: UNLIMITED }
    this.queue.run(hold, { shares: [share], signal }).catch(taken.reject)
    return taken.promise
  }
}

/** A place for the browser of one task. */
export class BrowserPlace {
  private giveUp: (() => void) | null = null
  private endPause: (() => void) | null = null
  private readonly over = new AbortController()
  private readonly signal: AbortSignal
  /** True once the task had a place. */
  wasEntered = false

  constructor(
    private readonly take: (signal: AbortSignal) => Promise<() => void>,
    private readonly mayPause: () => (() => void) | null,
    stopping: AbortSignal,
  ) {
    this.signal = AbortSignal.any([stopping, this.over.signal])
  }

  /** Resolves when the task has a place. Fails when it is stopped or ended before. */
  async enter(): Promise<void> {
    try {
      this.giveUp ??= await this.take(this.signal)
    } finally {
      this.stopPause()
    }
    this.wasEntered = true
    if (this.over.signal.aborted) this.end()
  }

  /** Gives the place up until the task enters again; keeps it when too many browsers are open without one. */
  pause(): void {
    if (this.giveUp === null || this.over.signal.aborted) return
    this.endPause = this.mayPause()
    if (this.endPause !== null) this.leave()
  }

  /** Gives the place up for good. */
  end(): void {
    this.over.abort()
    this.stopPause()
    this.leave()
  }

  private leave(): void {
    this.giveUp?.()
    this.giveUp = null
  }

  private stopPause(): void {
    this.endPause?.()
    this.endPause = null
  }
}
