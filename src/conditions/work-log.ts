import type { Meter } from './meter.ts'

/** Work below this, in letters times weight, is not worth looking at the clock. */
const MEASURED_FROM = 20_000
/** What was slow is believed to be half as slow after so long. */
const HALF_LIFE_MS = 10_000

/** What searching a text costs at worst, as experience has it. */
export class WorkLog {
  /** Milliseconds for a unit of work, the slowest that it was, and when. */
  private slowest = 0
  private slowestAt = 0

  /**
   * Runs `search`, which does so much work at worst; fails with `OutOfTime` instead when it might take longer than the
   * meter has left. Answers how many milliseconds it took; 0 for what is too little to be measured.
   */
  measure(work: number, meter: Meter, search: () => void): number {
    if (work < MEASURED_FROM) {
      search()
      return 0
    }
    const startedAt = performance.now()
    meter.check(work * this.slownessAt(startedAt))
    search()
    const endedAt = performance.now()
    this.slowest = Math.max(this.slownessAt(endedAt), (endedAt - startedAt) / work)
    this.slowestAt = endedAt
    return endedAt - startedAt
  }

  private slownessAt(at: number): number {
    return this.slowest * 0.5 ** ((at - this.slowestAt) / HALF_LIFE_MS)
  }
}
