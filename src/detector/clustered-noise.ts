import { anscombe, inverseAnscombe } from './anscombe.ts'

/**
 * Poisson noise for events that occur in clusters: a page sends several events at once, and a visit has several pages.
 * Clusters are independent, so counts vary like counts of clusters.
 */
export class ClusteredNoise {
  /** `size`: events per cluster, the same for all clusters; 1 for independent events. */
  constructor(readonly size: number) {}

  /**
   * Returns equal-sized clusters that give counts the same variance as clusters with geometrically distributed sizes
   * and this mean, at least 1.
   */
  static of(mean: number): ClusteredNoise {
    return new ClusteredNoise(2 * mean - 1)
  }

  /** Returns the number of deviations of a root from its baseline; negative below the baseline. */
  deviations(root: number, expected: number): number {
    return this.rootIn(root) - this.rootIn(expected)
  }

  /** Returns the count that is this many deviations from the baseline root. */
  countAt(expected: number, deviations: number): number {
    return this.size * inverseAnscombe(this.rootIn(expected) + deviations)
  }

  private rootIn(root: number): number {
    return this.size > 1 ? anscombe(inverseAnscombe(root) / this.size) : root
  }
}
