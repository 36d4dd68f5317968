import { medianOf, quantileOf } from './quantile.ts'
import { MAX_SCALE_BLOCKS } from './season-lengths.ts'

/** Ratio of standard deviation to median absolute deviation in a normal distribution. */
const MAD_TO_SD = 1.4826
/** The 95 % quantile of the absolute value of a normal distribution. */
const NORMAL_P95 = 1.96

const scratch = new Float64Array(MAX_SCALE_BLOCKS)

/**
 * The spread of the roots of counts around their baseline: the Poisson deviation plus a share of the root, for
 * influences that make a whole hour busier or quieter. Counts then have the variance of a negative binomial
 * distribution.
 */
export class NoiseLevel {
  /** `chance`: Poisson deviation of the roots; 1 for independent events, larger for events in clusters. */
  private constructor(
    private readonly share: number,
    private readonly chance: number,
  ) {}

  /**
   * Estimates the noise from the first `size` distances of roots from the median, each with the root of its baseline.
   * The estimate is the noise at which the median distance equals that of a normal distribution. `cluster`: number of
   * events that occur together. `heavy`: factor by which the tails are heavier, at least 1.
   */
  static of(
    distances: Float64Array,
    expected: Float64Array,
    size: number,
    cluster = 1,
  ): { noise: NoiseLevel; heavy: number } {
    for (let at = 0; at < size; at++) {
      // Square of the noise share at which this distance would be the median.
      scratch[at] = ((MAD_TO_SD * (distances[at] ?? 0)) ** 2 - cluster) / (expected[at] ?? 1) ** 2
    }
    const noise = new NoiseLevel(Math.sqrt(Math.max(0, medianOf(scratch, size))), Math.sqrt(cluster))
    for (let at = 0; at < size; at++) scratch[at] = (distances[at] ?? 0) / noise.at(expected[at] ?? 1)
    return { noise, heavy: Math.max(1, quantileOf(scratch, size, 0.95) / NORMAL_P95) }
  }

  /** Returns the standard deviation for a baseline root. */
  at(root: number): number {
    return Math.hypot(this.chance, this.share * root)
  }

  /**
   * Returns the number of deviations of a root from its baseline; negative below the baseline. Noise is smaller for
   * fewer events, so for a drop the noise is integrated from the baseline down to the root.
   */
  deviations(root: number, expected: number): number {
    if (root >= expected) return (root - expected) / this.at(expected)
    return this.levelled(root) - this.levelled(expected)
  }

  /** Returns the roots that are this many deviations below and above the baseline. */
  around(expected: number, below: number, above: number): { low: number; high: number } {
    const level = this.levelled(expected) - below
    const { share, chance } = this
    const low = share > 0 ? (Math.sinh(share * level) * chance) / share : level * chance
    return { low, high: expected + above * this.at(expected) }
  }

  /** Returns the root on a scale with constant noise: the integral of 1/noise. */
  private levelled(root: number): number {
    const { share, chance } = this
    return share > 0 ? Math.asinh((share * root) / chance) / share : root / chance
  }
}
