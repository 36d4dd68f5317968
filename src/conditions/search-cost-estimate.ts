import { type Meter, type Stopwatch, stopwatch } from './evaluation-time-limit.ts'

/** Minimum work (characters times weight) of searches that are always measured, because they may take milliseconds. */
const MEASURED_FROM = 200_000
/** One out of this many smaller searches is measured. */
const SAMPLED = 64
/** Half-life of the estimated rate. */
const HALF_LIFE_MS = 10_000

/** Estimates, from measurements, the worst-case time that searching a text takes. */
export class CostEstimate {
  /** The slowest measured rate, in milliseconds per unit of work. */
  private slowest = 0
  private slowestAt = 0
  private searches = 0

  constructor(private readonly watch: Stopwatch = stopwatch) {}

  /**
   * Runs `search`, which does at most this much work. Throws `OutOfTime` when the search might take longer than the
   * meter allows. Returns the processor time in milliseconds; null when it was not measured.
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
