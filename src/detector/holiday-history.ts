import { anscombe, inverseAnscombe } from './anscombe.ts'
import { medianOf } from './quantile.ts'

/** Maximum number of earlier holidays with which a holiday is compared. */
const MAX_HOLIDAYS = 6
/**
 * Holidays differ: on some, shops are closed, on others, people shop. Counts within these multiples of the baseline are
 * normal. A holiday that has a third of the usual traffic is therefore no anomaly, but one without traffic is.
 */
const LEAST_SHARE = 1 / 4
const MOST_SHARE = 4

const scratch = new Float64Array(MAX_HOLIDAYS)

/** The roots of the smallest and largest count that is normal on a holiday. */
export interface TolerableRoots {
  low: number
  high: number
}

/** The counts of earlier holidays by hour of the day, as roots. */
export class HolidayHistory {
  private readonly roots: Float32Array
  private readonly sizes: Uint32Array

  /** `day`: rows per day. */
  constructor(private readonly day: number) {
    this.roots = new Float32Array(day * MAX_HOLIDAYS)
    this.sizes = new Uint32Array(day)
  }

  /**
   * Returns the counts that are normal on a holiday. `root`: the baseline of the holiday; `ordinary`: that of the same
   * day when it is no holiday, which is normal as well, because not everybody observes every holiday.
   */
  static tolerable(root: number, ordinary: number): TolerableRoots {
    const times = (share: number, of: number) => anscombe(share * inverseAnscombe(of))
    return { low: times(LEAST_SHARE, Math.min(root, ordinary)), high: times(MOST_SHARE, Math.max(root, ordinary)) }
  }

  /** Returns the median root of earlier holidays at the hour of a slot; NaN when there are none. */
  root(slot: number): number {
    const place = this.placeOf(slot)
    const size = Math.min(MAX_HOLIDAYS, this.sizes[place] ?? 0)
    if (size === 0) return Number.NaN
    const first = place * MAX_HOLIDAYS
    scratch.set(this.roots.subarray(first, first + size))
    return medianOf(scratch, size)
  }

  /**
   * Adds the root of a count. A count that is not tolerable is replaced by the nearest one that is, so that an outage on
   * one holiday does not become normal for the next.
   */
  remember(slot: number, root: number, tolerable: TolerableRoots | null): void {
    const place = this.placeOf(slot)
    const size = this.sizes[place] ?? 0
    const kept = tolerable ? Math.min(tolerable.high, Math.max(tolerable.low, root)) : root
    this.roots[place * MAX_HOLIDAYS + (size % MAX_HOLIDAYS)] = kept
    this.sizes[place] = size + 1
  }

  get bytes(): number {
    return this.roots.byteLength + this.sizes.byteLength
  }

  private placeOf(slot: number): number {
    return ((slot % this.day) + this.day) % this.day
  }
}
