import { anscombe, inverseAnscombe } from './anscombe.ts'

/**
 * Poisson noise of events that occur in clusters: a page sends several at once, and a visit has several pages. Clusters
 * are independent, so counts deviate like counts of clusters.
 */
export class Clusters {
  /** `size`: events per cluster, all of equal size; 1 for independent events. */
  constructor(readonly size: number) {}

  /**
   * Returns clusters of one size that give counts the same variance as clusters with geometrically distributed sizes of
   * this mean, at least 1.
   */
  static of(mean: number): Clusters {
    return new Clusters(2 * mean - 1)
  }

  /** Returns the deviations of a root from its baseline; negative below it. */
  deviations(root: number, expected: number): number {
    return this.rootIn(root) - this.rootIn(expected)
  }

  /** Returns the count that deviates from the baseline root by this many deviations. */
  countAt(expected: number, deviations: number): number {
    return this.size * inverseAnscombe(this.rootIn(expected) + deviations)
  }

  private rootIn(root: number): number {
    return this.size > 1 ? anscombe(inverseAnscombe(root) / this.size) : root
  }
}
