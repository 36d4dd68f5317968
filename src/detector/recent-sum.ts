/** The sum of the last `width` rows. */
export class RecentSum {
  private readonly rows: Float64Array
  private count = 0

  constructor(private readonly width: number) {
    this.rows = new Float64Array(width)
  }

  /** Returns the sum that ends with this row; NaN until there are enough. */
  add(value: number): number {
    this.rows[this.count++ % this.width] = value
    return this.count < this.width ? Number.NaN : this.total()
  }

  /** Returns the mean of the rows so far; NaN when there are none. */
  mean(): number {
    return this.total() / Math.min(this.count, this.width)
  }

  /** Drops all rows: rows that are far apart are not summed. */
  restart(): void {
    this.count = 0
  }

  get bytes(): number {
    return this.rows.byteLength
  }

  private total(): number {
    // Computed anew for each row: a running sum would accumulate rounding errors.
    let sum = 0
    for (let at = Math.min(this.count, this.width) - 1; at >= 0; at--) sum += this.rows[at] ?? 0
    return sum
  }
}
