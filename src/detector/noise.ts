import { MOST_BLOCKS } from './calendar.ts'
import { medianOf, quantileOf } from './order.ts'

/** Median absolute deviation to standard deviation, for a normal distribution. */
const MAD_TO_SD = 1.4826
/** The 95 % quantile of the absolute value of a normal distribution. */
const WIDE = 1.96

const scratch = new Float64Array(MOST_BLOCKS)

/**
 * How far the roots of counts stray from what is expected: by Poisson's deviation of 1, and by a share of the root, for
 * what makes all of an hour busier or quieter. So counts have the variance of a negative binomial distribution.
 */
export class Noise {
  private constructor(private readonly share: number) {}

  /**
   * Of the first `size` distances of roots from the middle, each beside the root that was expected: half of the distances
   * are as large as a normal distribution has it. `heavy`: how many times heavier their tails are, at least 1.
   */
  static of(distances: Float64Array, expected: Float64Array, size: number): { noise: Noise; heavy: number } {
    for (let at = 0; at < size; at++) {
      // The square of the share with which this distance would be the median.
      scratch[at] = ((MAD_TO_SD * (distances[at] ?? 0)) ** 2 - 1) / (expected[at] ?? 1) ** 2
    }
    const noise = new Noise(Math.sqrt(Math.max(0, medianOf(scratch, size))))
    for (let at = 0; at < size; at++) scratch[at] = (distances[at] ?? 0) / noise.at(expected[at] ?? 1)
    return { noise, heavy: Math.max(1, quantileOf(scratch, size, 0.95) / WIDE) }
  }

  /** The standard deviation of a root that is expected. */
  at(root: number): number {
    return Math.hypot(1, this.share * root)
  }

  /**
   * How many deviations a root lies above what is expected, or below, as a negative number. There is less noise where
   * there are fewer events, so a fall is held against the noise on its way down.
   */
  deviations(root: number, expected: number): number {
    if (root >= expected) return (root - expected) / this.at(expected)
    return this.levelled(root) - this.levelled(expected)
  }

  /** The roots that lie so many deviations below and above what is expected. */
  around(expected: number, below: number, above: number): { low: number; high: number } {
    const level = this.levelled(expected) - below
    const low = this.share > 0 ? Math.sinh(this.share * level) / this.share : level
    return { low, high: expected + above * this.at(expected) }
  }

  /** The root on a scale on which the noise is as wide everywhere: the integral of its inverse. */
  private levelled(root: number): number {
    return this.share > 0 ? Math.asinh(this.share * root) / this.share : root
  }
}
