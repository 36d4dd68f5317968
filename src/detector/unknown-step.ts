import { HOUR_MS, type Instant } from '../core/clock.ts'
import { Detector, type Verdict } from './detector.ts'

/** The step is the median of this many differences. */
const DIFFERENCES = 48

/**
 * Judges a series whose step is unknown: it is the median difference of the rows so far, up to the first 48. Where a
 * row changes it, the rows before are judged again, so that a verdict never depends on later rows.
 */
export class UnknownStepDetector {
  private readonly rows: { t: Instant; value: number | null }[] = []
  private readonly differences: number[] = []
  private stepMs = HOUR_MS
  private detector: Detector

  constructor(private readonly shape: { sensitivity: number; timezone?: string }) {
    this.detector = new Detector({ ...shape, stepMs: this.stepMs })
  }

  /** As `Detector.push`. */
  push(t: Instant, value: number | null): Verdict {
    if (this.differences.length < DIFFERENCES) this.adapt(t, value)
    return this.detector.push(t, value)
  }

  private adapt(t: Instant, value: number | null): void {
    const before = this.rows.at(-1)
    if (before) this.differences.push(t - before.t)
    const stepMs = this.differences.toSorted((a, b) => a - b)[(this.differences.length - 1) >> 1] ?? HOUR_MS
    if (stepMs !== this.stepMs && stepMs > 0) {
      this.stepMs = stepMs
      this.detector = new Detector({ ...this.shape, stepMs })
      for (const row of this.rows) this.detector.push(row.t, row.value)
    }
    this.rows.push({ t, value })
  }
}
