import { setTimeout as sleep } from 'node:timers/promises'

/** Keeps a pause between the beginnings of page loads, for each host by itself. */
export class Pace {
  private readonly nextAt = new Map<string, number>()
  private readonly restUntil = new Map<string, number>()

  /** Resolves when it is the caller's turn, in the order of the calls. Fails when `stopping` is aborted. */
  async turn(host: string, delayMs: number, stopping: AbortSignal): Promise<void> {
    do {
      const now = performance.now()
      const at = Math.max(now, this.nextAt.get(host) ?? 0, this.restUntil.get(host) ?? 0)
      this.nextAt.set(host, at + delayMs)
      if (at > now) await sleep(at - now, undefined, { signal: stopping })
      // The host may have asked for peace meanwhile.
    } while ((this.restUntil.get(host) ?? 0) > performance.now())
  }

  /** Nobody's turn comes before `pauseMs` are over. */
  rest(host: string, pauseMs: number): void {
    const until = performance.now() + pauseMs
    this.restUntil.set(host, Math.max(until, this.restUntil.get(host) ?? 0))
  }
}
