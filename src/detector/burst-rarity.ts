const BIN = 0.02
/** The bins cover up to e^22 (3.6 billion) events per row. */
const BINS = 1100
const LAST_BIN = BINS - 1
/** Minimum number of rows; with fewer rows, a frequency of one in 500 can't be estimated. */
const LEARNING_ROWS = 500
const QUANTILE = 0.99
/** One row in 10^2 is above the quantile. */
const DECADES = 2
const DECADES_PER_K = 0.675
const MIN_SLOPE = 0.05

/**
 * Estimates how rare a level is from the recent rows of the series. Counts above their 99 % quantile are assumed to
 * follow a power law, whose exponent is estimated from them (Hill 1975, https://doi.org/10.1214/aos/1176343247). With
 * few rows the exponent is uncertain, so the share of higher rows is averaged over its possible values. For `n` rows
 * above the quantile and a level `x` slopes beyond it, that gives (1 + x/n)^−n instead of e^−x.
 */
export class BurstRarity {
  private readonly bins = new Uint32Array(BINS)
  private readonly ring: Uint16Array
  private rows = 0
  /** Index of the highest bin that contains a row. */
  private top = 0
  private quantile = Number.NaN
  private slope = Number.NaN
  /** Number of rows from which the slope is estimated. */
  private above = 0

  /**
   * `width`: number of rows summed in an evaluated count. `memory`: number of rows from which the tail is estimated.
   */
  constructor(
    private readonly width: number,
    memory: number,
  ) {
    this.ring = new Uint16Array(memory)
  }

  /**
   * Returns the rarity in deviations, k. Each further deviation is 4.7 times rarer; 4 deviations correspond to one row
   * in 500. NaN when there are too few rows.
   */
  score(sum: number): number {
    this.fit()
    const beyond = (this.levelOf(sum) - this.quantile) / this.slope
    const rarity = beyond > 0 ? this.above * Math.log1p(beyond / this.above) : beyond
    return Math.max(0, (DECADES + rarity / Math.LN10) / DECADES_PER_K)
  }

  /**
   * Returns the smallest sum that would have scored `k` at the last call of `score`; NaN when there were too few rows.
   */
  sumAt(k: number): number {
    const rarity = Math.LN10 * (k * DECADES_PER_K - DECADES)
    const beyond = rarity > 0 ? this.above * Math.expm1(rarity / this.above) : rarity
    return this.width * Math.max(0, Math.exp(this.quantile + this.slope * beyond) - 1)
  }

  /** Adds a row to the history. To be called after the row has been evaluated. */
  remember(sum: number): void {
    const bin = Math.min(LAST_BIN, Math.round(this.levelOf(sum) / BIN))
    const place = this.rows % this.ring.length
    if (this.rows >= this.ring.length) this.count(this.ring[place] ?? 0, -1)
    this.ring[place] = bin
    this.count(bin, 1)
    this.top = Math.max(this.top, bin)
    this.rows += 1
  }

  get bytes(): number {
    return this.bins.byteLength + this.ring.byteLength
  }

  private levelOf(sum: number): number {
    return Math.log(1 + Math.max(0, sum) / this.width)
  }

  private count(bin: number, change: number): void {
    this.bins[bin] = (this.bins[bin] ?? 0) + change
  }

  /** Computes the quantile and the slope from the rows so far. They remain NaN while there are too few rows. */
  private fit(): void {
    const rows = Math.min(this.rows, this.ring.length)
    if (rows <= LEARNING_ROWS) return
    while (this.top > 0 && this.bins[this.top] === 0) this.top -= 1
    this.above = rows - 1 - Math.floor(QUANTILE * (rows - 1))
    let left = this.above
    let weight = 0
    let bin = this.top
    // Rows in the quantile's own bin exceed it by 0 but are still counted, because small counts have many ties.
    for (let here = this.bins[bin] ?? 0; here <= left; here = this.bins[bin] ?? 0) {
      left -= here
      weight += here * bin
      bin -= 1
    }
    this.quantile = bin * BIN
    const excess = ((weight + left * bin) * BIN) / this.above - this.quantile
    this.slope = Math.max(MIN_SLOPE, excess, 1 / Math.sqrt(this.width * Math.exp(this.quantile)))
  }
}
