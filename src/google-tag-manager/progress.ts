import type { Instant } from '../core/clock.ts'

/** Progress of long-running work. */
export interface Stage {
  callsDone: number
  /** Current estimate of the total number of calls. */
  callsTotal: number
  /** End of the current wait for the quota or a retry. Null if it is not waiting. */
  waitsUntil: Instant | null
}

export const NO_PROGRESS: Stage = { callsDone: 0, callsTotal: 0, waitsUntil: null }

/** Tracks the progress of work by its calls. */
export class Progress {
  private done = 0
  private remaining = 0
  private until: Instant | null = null

  /** @param notify Called on every change. */
  constructor(private readonly notify: (stage: Stage) => void = () => undefined) {}

  /** Sets the expected number of remaining calls. */
  expect(calls: number): void {
    this.remaining = calls
    this.changed()
  }

  called(): void {
    this.done++
    this.remaining = Math.max(0, this.remaining - 1)
    this.changed()
  }

  waits(until: Instant | null): void {
    if (until === this.until) return
    this.until = until
    this.changed()
  }

  private changed(): void {
    this.notify({ callsDone: this.done, callsTotal: this.done + this.remaining, waitsUntil: this.until })
  }
}
