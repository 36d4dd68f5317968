import { FairQueue } from '../core/fair-queue.ts'

/** Maximum number of open browsers that have no slot. Each browser uses 120 to 280 MB. */
const MAX_PAUSED = 4
/**
 * Maximum number of concurrent tasks per organization that may pause. If there are more slots than this, the number of
 * slots is the maximum.
 */
const PAUSING_BY_ORG = 2
const UNLIMITED = Number.POSITIVE_INFINITY

/**
 * Slots for concurrently running browsers. The next free slot is assigned to the organization that has used the least
 * browser time.
 */
export class BrowserSlots {
  private readonly queue: FairQueue
  private readonly pausing = new FairQueue(UNLIMITED)
  private readonly time = new BrowserTime()
  private paused = 0

  constructor(private readonly concurrency: number) {
    this.queue = new FairQueue(concurrency, undefined, (orgId) => this.time.usedBy(orgId))
  }

  /** Number of tasks with a slot, and of tasks that wait for one. */
  get load(): { running: number; waiting: number } {
    const { running, waiting } = this.queue.load
    return { running, waiting: waiting + this.pausing.load.waiting }
  }

  /**
   * Returns a slot for one task. When `stopping` is aborted, the task stops waiting, and its slot is freed immediately.
   */
  of(orgId: string, stopping: AbortSignal): BrowserSlot {
    const mayPause = (): (() => void) | null => {
      if (this.paused >= MAX_PAUSED) return null
      this.paused++
      return () => this.paused--
    }
    return new BrowserSlot((signal) => this.take(orgId, signal), mayPause, stopping)
  }

  /**
   * Runs work that may pause, as soon as the organization has fewer such tasks than allowed. Rejects when `work`
   * rejects or `signal` is aborted.
   */
  runPausing<T>(orgId: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const atOnce = Math.max(PAUSING_BY_ORG, this.concurrency)
    return this.pausing.run(work, { shares: [{ name: orgId, maxRunning: atOnce, maxWaiting: UNLIMITED }], signal })
  }

  /** Waits for a slot. Returns a function that frees it. Rejects when the signal is aborted. */
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

/** The slot for the browser of one task. */
export class BrowserSlot {
  private giveUp: (() => void) | null = null
  private endPause: (() => void) | null = null
  private readonly over = new AbortController()
  private readonly signal: AbortSignal
  /** True once the task has been assigned a slot. */
  wasEntered = false

  constructor(
    private readonly take: (signal: AbortSignal) => Promise<() => void>,
    private readonly mayPause: () => (() => void) | null,
    stopping: AbortSignal,
  ) {
    this.signal = AbortSignal.any([stopping, this.over.signal])
  }

  /** Resolves when the task has been assigned a slot. Rejects when the task is stopped or ended first. */
  async enter(): Promise<void> {
    try {
      this.giveUp ??= await this.take(this.signal)
    } finally {
      this.stopPause()
    }
    this.wasEntered = true
    if (this.over.signal.aborted) this.end()
  }

  /**
   * Frees the slot until `enter` is called again. Does nothing when too many browsers without a slot are already open.
   */
  pause(): void {
    if (this.giveUp === null || this.over.signal.aborted) return
    this.endPause = this.mayPause()
    if (this.endPause !== null) this.leave()
  }

  /** Frees the slot permanently. */
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

/** Half-life of used browser time in milliseconds: time used this long ago has half the weight. */
const HALF_LIFE_MS = 60 * 60 * 1000

interface Use {
  /** Weighted milliseconds used until `at`. Older use has less weight. */
  usedMs: number
  at: number
  running: number
}

/**
 * Recent browser time of each organization. Time used an hour ago counts half, and time used two hours ago counts a
 * quarter.
 */
export class BrowserTime {
  private readonly uses = new Map<string, Use>()

  /** @param now returns monotonic milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Returns the weighted milliseconds, including those of running browsers. 0 for an organization that has used none.
   */
  usedBy(orgId: string): number {
    const use = this.uses.get(orgId)
    return use ? this.usedUntilNow(use) : 0
  }

  /** Starts counting the time of a browser. Returns a function that stops counting. */
  begin(orgId: string): () => void {
    const change = (by: 1 | -1) => {
      const use = this.uses.get(orgId) ?? { usedMs: 0, at: this.now(), running: 0 }
      const usedMs = this.usedUntilNow(use)
      this.uses.set(orgId, { usedMs, at: this.now(), running: use.running + by })
    }
    change(1)
    return () => change(-1)
  }

  private usedUntilNow({ usedMs, at, running }: Use): number {
    const passedMs = this.now() - at
    return usedMs * 0.5 ** (passedMs / HALF_LIFE_MS) + running * passedMs
  }
}
