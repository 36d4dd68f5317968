import type { Instant } from '../core/clock.ts'
import type { Gap } from './gap.ts'
import { rowStart, type Series } from './series.ts'

/** The rows of one length that collection gaps touch. */
export class GapRows {
  private readonly starts = new Set<Instant>()

  /** The gaps are in order and do not overlap. */
  constructor(
    private readonly gaps: readonly Gap[],
    { stepMs, offsetMs = 0 }: Pick<Series, 'stepMs' | 'offsetMs'>,
  ) {
    for (const { fromAt, toAt } of gaps) {
      for (let start = rowStart({ stepMs, offsetMs }, fromAt); start < toAt; start += stepMs) this.starts.add(start)
    }
  }

  /** True when a gap touches the row that begins at `start`, so that its count is unknown. */
  touches(start: Instant): boolean {
    return this.starts.has(start)
  }

  /**
   * Returns the end of the last gap that began before `instant`, or `instant` when it lies in that gap; null when there
   * was none.
   */
  endBefore(instant: Instant): Instant | null {
    const last = this.gaps.findLast(({ fromAt }) => fromAt < instant)
    return last ? Math.min(last.toAt, instant) : null
  }
}
