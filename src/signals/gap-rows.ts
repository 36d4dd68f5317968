import type { Instant } from '../core/clock.ts'
import type { Gap } from './gap.ts'
import { rowStart, type Series } from './series.ts'

/** The rows of one length that overlap collection gaps. */
export class GapRows {
  private readonly starts = new Set<Instant>()

  /** The gaps must be in order and must not overlap. */
  constructor(
    private readonly gaps: readonly Gap[],
    { stepMs, offsetMs = 0 }: Pick<Series, 'stepMs' | 'offsetMs'>,
  ) {
    for (const { fromAt, toAt } of gaps) {
      for (let start = rowStart({ stepMs, offsetMs }, fromAt); start < toAt; start += stepMs) this.starts.add(start)
    }
  }

  /** True when a gap overlaps the row that begins at `start`, so that its count is unknown. */
  touches(start: Instant): boolean {
    return this.starts.has(start)
  }

  /**
   * Returns the end of the last gap that began before `instant`, or `instant` when that gap contains it; null when
   * there was no gap.
   */
  endBefore(instant: Instant): Instant | null {
    const last = this.gaps.findLast(({ fromAt }) => fromAt < instant)
    return last ? Math.min(last.toAt, instant) : null
  }
}
