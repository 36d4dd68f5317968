import { anscombe, inverseAnscombe } from './anscombe.ts'

/**
 * Poisson's law for events that come in clusters: a page sends several at once, and a visit has several pages. What comes
 * by chance is clusters, so counts deviate as counts of clusters do.
 */
export class Clusters {
  /** `size`: of clusters that are all alike; 1 when each event comes by itself. */
  constructor(readonly size: number) {}

  /**
   * Of clusters whose sizes differ as chance has it (a geometric distribution), with this mean, at least 1: counts have as
   * much variance as with clusters of this one size.
   */
  static of(mean: number): Clusters {
    return new Clusters(2 * mean - 1)
  }

  /** Returns how many deviations a root is above its baseline; negative below it. */
  deviations(root: number, expected: number): number {
    return this.rootIn(root) - this.rootIn(expected)
  }

  /** Returns the count that is this many deviations above the baseline of this root, or below it. */
  countAt(expected: number, deviations: number): number {
    return this.size * inverseAnscombe(this.rootIn(expected) + deviations)
  }

  private rootIn(root: number): number {
    return this.size > 1 ? anscombe(inverseAnscombe(root) / this.size) : root
  }
}
