import type { Instant } from '../core/clock.ts'
import type { Gap } from './gap.ts'
import { rowStart, type Series } from './series.ts'

/** What gaps of our own do to rows of one length. */
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

  /** True when the count of the row that begins then isn't known. */
  hurts(start: Instant): boolean {
    return this.starts.has(start)
  }

  /** Up to when, before an instant, nothing was collected, or that instant in a gap; null when there was none. */
  endBefore(instant: Instant): Instant | null {
    const last = this.gaps.findLast(({ fromAt }) => fromAt < instant)
    return last ? Math.min(last.toAt, instant) : null
  }
}
