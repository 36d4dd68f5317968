import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'

/** A second in which the program takes less of a processor than this share is one of rest. */
const RESTING_SHARE = 0.05
/** So many in a row, and it rests. */
const RESTING_LOOKS = 4
/** Less work than this can't have read much again. */
const WORTH_MS = SECOND_MS / 5
const LEAST_PAUSE_MS = MINUTE_MS

/** Calls `giveBack` once the program rests after work, at most once a minute. */
export class IdleDetector {
  private seen: { atMs: number; usedMs: number }
  private given = { atMs: Number.NEGATIVE_INFINITY, usedMs: 0 }
  private resting = 0

  /** `usage`: the processor time of the program so far, µs. */
  constructor(
    private readonly usage: () => { user: number; system: number },
    private readonly giveBack: () => void,
    private readonly now = () => performance.now(),
  ) {
    this.seen = this.measure()
  }

  /** To be called about every second. */
  check(): void {
    const { atMs, usedMs } = this.measure()
    const isResting = usedMs - this.seen.usedMs < (atMs - this.seen.atMs) * RESTING_SHARE
    this.seen = { atMs, usedMs }
    this.resting = isResting ? this.resting + 1 : 0
    if (this.resting < RESTING_LOOKS || usedMs - this.given.usedMs < WORTH_MS) return
    if (atMs - this.given.atMs < LEAST_PAUSE_MS) return
    this.given = { atMs, usedMs }
    this.giveBack()
  }

  private measure() {
    const { user, system } = this.usage()
    return { atMs: this.now(), usedMs: (user + system) / 1000 }
  }
}
