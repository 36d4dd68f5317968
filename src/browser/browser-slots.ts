import { FairQueue } from '../core/fair-queue.ts'

/** Maximum number of open browsers without a slot: 120 to 280 MB each. */
const MAX_PAUSED = 4
/** Maximum number of tasks of one organization that may pause, unless there are more slots. */
const PAUSING_BY_ORG = 2
const UNLIMITED = Number.POSITIVE_INFINITY

/** Slots for concurrently running browsers. Organizations take turns by the browser time that each has used. */
export class BrowserSlots {
  private readonly queue: FairQueue
  private readonly pausing = new FairQueue(UNLIMITED)
  private readonly time = new BrowserTime()
  private paused = 0

  constructor(private readonly concurrency: number) {
    this.queue = new FairQueue(concurrency, undefined, (orgId) => this.time.usedBy(orgId))
  }

  /** Returns a slot to be entered. When `stopping` aborts, waiting ends and the slot is freed at once. */
  of(orgId: string, stopping: AbortSignal): BrowserSlot {
    const mayPause = (): (() => void) | null => {
      if (this.paused >= MAX_PAUSED) return null
      this.paused++
      return () => this.paused--
    }
    return new BrowserSlot((signal) => this.take(orgId, signal), mayPause, stopping)
  }

  /**
   * Runs work that may pause, when the organization has few enough of it. Throws like `work`, or when `signal` aborts.
   */
  runPausing<T>(orgId: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const atOnce = Math.max(PAUSING_BY_ORG, this.concurrency)
    return this.pausing.run(work, { shares: [{ name: orgId, maxRunning: atOnce, maxWaiting: UNLIMITED }], signal })
  }

  /** Waits for a slot. Returns a function that frees it. Throws when the signal aborts. */
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

/** The slot of one task's browser. */
export class BrowserSlot {
  private giveUp: (() => void) | null = null
  private endPause: (() => void) | null = null
  private readonly over = new AbortController()
  private readonly signal: AbortSignal
  /** True once the task has had a slot. */
  wasEntered = false

  constructor(
    private readonly take: (signal: AbortSignal) => Promise<() => void>,
    private readonly mayPause: () => (() => void) | null,
    stopping: AbortSignal,
  ) {
    this.signal = AbortSignal.any([stopping, this.over.signal])
  }

  /** Resolves when the task has a slot. Rejects when it is stopped or ended before. */
  async enter(): Promise<void> {
    try {
      this.giveUp ??= await this.take(this.signal)
    } finally {
      this.stopPause()
    }
    this.wasEntered = true
    if (this.over.signal.aborted) this.end()
  }

  /** Gives up the slot until the task enters again; keeps it when too many browsers are open without one. */
  pause(): void {
    if (this.giveUp === null || this.over.signal.aborted) return
    this.endPause = this.mayPause()
    if (this.endPause !== null) this.leave()
  }

  /** Gives up the slot for good. */
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

/** Time after which used browser time counts half, in milliseconds. */
const HALF_LIFE_MS = 60 * 60 * 1000

interface Use {
  /** Milliseconds used until `at`; older ones count less. */
  usedMs: number
  at: number
  running: number
}

/** Recent browser time of each organization. Time used an hour ago counts half, two hours ago a quarter. */
export class BrowserTime {
  private readonly uses = new Map<string, Use>()

  /** `now` returns monotonic milliseconds. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Returns milliseconds including running browsers; 0 for an organization without any. */
  usedBy(orgId: string): number {
    const use = this.uses.get(orgId)
    return use ? this.usedUntilNow(use) : 0
  }

  /** Starts counting a browser of the organization. Returns a function that stops it. */
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
