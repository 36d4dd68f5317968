import { setTimeout as sleep } from 'node:timers/promises'
import { FIXED_SLOT, type Slot } from '../../browser/browser-task.ts'
import { SECOND_MS } from '../../core/clock.ts'

/**
 * The crawl keeps its browser slot during waits shorter than this, because starting another browser takes about as
 * long.
 */
const SHORT_WAIT_MS = SECOND_MS

/**
 * Enforces a minimum delay between the starts of page loads on the same host. While all tasks of a crawl are waiting
 * for their turns, the crawl frees its browser slot.
 */
export class HostDelay {
  /** Earliest start time of the next load, by host. */
  private readonly nextAt = new Map<string, number>()
  /** The most recently requested turn of each host. The promise resolves when the turn starts or is aborted. */
  private readonly latest = new Map<string, Promise<unknown>>()
  private working = 0
  private waiting = 0
  /** Times at which waiting turns start. */
  private readonly wakeTimes = new Set<{ at: number }>()
  private hasPlace = true
  private entering: Promise<void> | null = null

  constructor(private readonly place: Slot = FIXED_SLOT) {}

  /** Runs `work` and returns its result. `work` uses the browser, except while it waits for its turn. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    this.working++
    try {
      return await work()
    } finally {
      this.working--
      this.leaveIfIdle()
    }
  }

  /** Waits for the caller's turn. Turns are in the order of the calls. Rejects when `stopping` is aborted. */
  turn(host: string, delayMs: number, stopping: AbortSignal): Promise<void> {
    const turn = this.turnAfter(this.latest.get(host), { host, delayMs, stopping })
    this.latest.set(
      host,
      turn.catch(() => undefined),
    )
    return turn
  }

  /** Delays all further turns of the host by `pauseMs`. */
  rest(host: string, pauseMs: number): void {
    this.nextAt.set(host, Math.max(performance.now() + pauseMs, this.nextAt.get(host) ?? 0))
  }

  private async turnAfter(
    before: Promise<unknown> | undefined,
    { host, delayMs, stopping }: { host: string; delayMs: number; stopping: AbortSignal },
  ): Promise<void> {
    const leftMs = () => (this.nextAt.get(host) ?? 0) - performance.now()
    this.waiting++
    try {
      this.leaveIfIdle()
      await before
      // During the wait, the host may require another pause, or the slot may be freed.
      while (leftMs() > 0 || !this.hasPlace) {
        stopping.throwIfAborted()
        await (leftMs() > 0 ? this.sleep(leftMs(), stopping) : this.enter())
      }
      this.nextAt.set(host, performance.now() + delayMs)
    } finally {
      this.waiting--
    }
  }

  private async sleep(ms: number, stopping: AbortSignal): Promise<void> {
    const wake = { at: performance.now() + ms }
    this.wakeTimes.add(wake)
    try {
      this.leaveIfIdle()
      await sleep(ms, undefined, { signal: stopping })
    } finally {
      this.wakeTimes.delete(wake)
    }
  }

  private leaveIfIdle(): void {
    if (!this.hasPlace || this.waiting < this.working || this.wakeTimes.size === 0) return
    const soonest = Math.min(...[...this.wakeTimes].map(({ at }) => at))
    if (soonest - performance.now() < SHORT_WAIT_MS) return
    this.hasPlace = false
    this.place.leave()
  }

  private async enter(): Promise<void> {
    this.entering ??= this.place.enter().finally(() => {
      this.entering = null
    })
    await this.entering
    this.hasPlace = true
  }
}
