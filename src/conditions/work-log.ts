import { type Meter, type Stopwatch, stopwatch } from './meter.ts'

/** Work from here on, in characters times weight, may take milliseconds at worst and is always measured. */
const MEASURED_FROM = 200_000
/** Of smaller work, one in this many is measured. */
const SAMPLED = 64
/** The estimate of the slowest rate halves after this long. */
const HALF_LIFE_MS = 10_000

/** Estimates the worst cost of searching a text, from measurements. */
export class WorkLog {
  /** Milliseconds for a unit of work at the slowest, and when that was measured. */
  private slowest = 0
  private slowestAt = 0
  private searches = 0

  constructor(private readonly watch: Stopwatch = stopwatch) {}

  /**
   * Runs `search`, which does at most `work`; throws `OutOfTime` instead when it might take longer than the meter has
   * left. Returns the milliseconds of processor time it took; null when that was not measured.
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
