import type { Instant } from '../../../core/clock.ts'

/** How far some work is. */
export interface Stage {
  callsDone: number
  /** As far as is known. */
  callsTotal: number
  /** Null: it waits for nothing. */
  waitsUntil: Instant | null
}

export const NOTHING_DONE: Stage = { callsDone: 0, callsTotal: 0, waitsUntil: null }

/** Counts calls as they are made. */
export class Progress {
  private done = 0
  private ahead = 0
  private until: Instant | null = null

  /** @param tell called when something changed */
  constructor(private readonly tell: (stage: Stage) => void = () => undefined) {}

  /** So many calls are still to be made. */
  expect(calls: number): void {
    this.ahead = calls
    this.told()
  }

  called(): void {
    this.done++
    this.ahead = Math.max(0, this.ahead - 1)
    this.told()
  }

  waits(until: Instant | null): void {
    if (until === this.until) return
    this.until = until
    this.told()
  }

  private told(): void {
    this.tell({ callsDone: this.done, callsTotal: this.done + this.ahead, waitsUntil: this.until })
  }
}
