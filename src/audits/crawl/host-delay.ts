import { setTimeout as sleep } from 'node:timers/promises'
import { FIXED_SLOT, type Slot } from '../../browser/task.ts'
import { SECOND_MS } from '../../core/clock.ts'

/** During shorter waits the crawl keeps its browser slot, because starting another browser takes about this long. */
const SHORT_WAIT_MS = SECOND_MS

/**
 * Keeps a delay between the starts of page loads, for each host separately. While all work of a crawl waits for its
 * turn, the crawl gives up its browser slot.
 */
export class HostDelay {
  /** Earliest start of the next load, by host. */
  private readonly nextAt = new Map<string, number>()
  /** The most recent turn of each host; resolves when it has come or never will. */
  private readonly latest = new Map<string, Promise<unknown>>()
  private working = 0
  private waiting = 0
  /** Times of the waiting turns. */
  private readonly wakeTimes = new Set<{ at: number }>()
  private hasPlace = true
  private entering: Promise<void> | null = null

  constructor(private readonly place: Slot = FIXED_SLOT) {}

  /** Returns the result of `work`, which uses the browser except while it waits for its turn. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    this.working++
    try {
      return await work()
    } finally {
      this.working--
      this.leaveIfIdle()
    }
  }

  /** Resolves when it is the caller's turn, in the order of calls. Rejects when `stopping` is aborted. */
  turn(host: string, delayMs: number, stopping: AbortSignal): Promise<void> {
    const turn = this.turnAfter(this.latest.get(host), { host, delayMs, stopping })
    this.latest.set(
      host,
      turn.catch(() => undefined),
    )
    return turn
  }

  /** Delays all turns of the host by `pauseMs`. */
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
      // The host may require a pause, or the slot may be taken, meanwhile.
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
