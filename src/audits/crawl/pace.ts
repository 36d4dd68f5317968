import { setTimeout as sleep } from 'node:timers/promises'
import { KEEPS_PLACE, type Place } from '../../browser/task.ts'
import { SECOND_MS } from '../../core/clock.ts'

/** For a shorter wait the place among the browsers is kept: another browser takes about this long to start. */
const SHORT_WAIT_MS = SECOND_MS

/**
 * Keeps a pause between the beginnings of page loads, for each host by itself. While all work of a crawl waits for its
 * turn, the crawl gives its place among the browsers up.
 */
export class Pace {
  /** Earliest beginning of the next load, by host. */
  private readonly nextAt = new Map<string, number>()
  /** The latest turn of each host; resolves when it came, or will not come. */
  private readonly latest = new Map<string, Promise<unknown>>()
  private working = 0
  private waiting = 0
  /** When waiting turns come. */
  private readonly wakeTimes = new Set<{ at: number }>()
  private hasPlace = true
  private entering: Promise<void> | null = null

  constructor(private readonly place: Place = KEEPS_PLACE) {}

  /** Returns what `work` returns. It uses the browser except while it waits for its turn. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    this.working++
    try {
      return await work()
    } finally {
      this.working--
      this.leaveIfIdle()
    }
  }

  /** Resolves when it is the caller's turn, in the order of the calls. Fails when `stopping` is aborted. */
  turn(host: string, delayMs: number, stopping: AbortSignal): Promise<void> {
    const turn = this.turnAfter(this.latest.get(host), { host, delayMs, stopping })
    this.latest.set(
      host,
      turn.catch(() => undefined),
    )
    return turn
  }

  /** Nobody's turn comes before `pauseMs` are over. */
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
      // The host may ask for peace, or the place be taken, while this waits.
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
