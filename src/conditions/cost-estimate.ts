import { type Meter, type Stopwatch, stopwatch } from './meter.ts'

/** Work of at least this many characters times weight may take milliseconds and is always measured. */
const MEASURED_FROM = 200_000
/** One in this many smaller searches is measured. */
const SAMPLED = 64
/** Half-life of the estimate of the slowest rate. */
const HALF_LIFE_MS = 10_000

/** Estimates the worst-case cost of searching a text from measurements. */
export class CostEstimate {
  /** Milliseconds per unit of work at the slowest measured rate. */
  private slowest = 0
  private slowestAt = 0
  private searches = 0

  constructor(private readonly watch: Stopwatch = stopwatch) {}

  /**
   * Runs `search`, which does at most `work`; throws `OutOfTime` when it might take longer than the meter allows.
   * Returns the processor time in milliseconds; null when it was not measured.
   */
  measure(work: number, meter: Meter, search: () => void): number | null {
    if (work < MEASURED_FROM && this.searches++ % SAMPLED !== 0) {
      search()
      return null
    }
    meter.check(work * this.slownessAt(this.watch.wallMs()))
    const startedAt = this.watch.processorMs()
    search()
    const tookMs = this.watch.processorMs() - startedAt
    const now = this.watch.wallMs()
    this.slowest = Math.max(this.slownessAt(now), tookMs / work)
    this.slowestAt = now
    return tookMs
  }

  private slownessAt(at: number): number {
    return this.slowest * 0.5 ** ((at - this.slowestAt) / HALF_LIFE_MS)
  }
}
