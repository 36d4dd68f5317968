import { anscombe } from './anscombe.ts'
import { HolidayHistory, type TolerableRoots } from './holiday-history.ts'
import { NoiseLevel } from './noise-level.ts'
import { medianOf, toDistances } from './quantile.ts'
import { type Calendar, MAX_SCALE_BLOCKS } from './season-lengths.ts'

const MAX_WEEKS = 8
const MIN_WEEKS = 4
export const HISTORY_DAYS = 14
/** Minimum number of values required for a median. */
export const MIN_HISTORY_VALUES = 2
const MIN_LEVEL_VALUES = 12
/**
 * Maximum number of deviations by which the median of an hour of the week is moved towards that of the same hour on
 * other days.
 */
const MAX_SHRINKAGE = 0.5
/** Minimum difference between weekdays and weekends, in deviations, at which they are treated separately. */
const MIN_DAY_KIND_DIFFERENCE = 3

const scratch = new Float64Array(MAX_SCALE_BLOCKS)
const expected = new Float64Array(MAX_SCALE_BLOCKS)
const historyRoots = new Float64Array(MAX_WEEKS * 7)

/** The distribution of residuals. */
export interface Spread {
  /** The median absolute deviation of the residuals and of the values. */
  deviation: number
  whole: number
  /** The usual noise, depending on the size of the baseline. */
  noise: NoiseLevel
  /** Factor by which the tails are heavier than in a normal distribution, at least 1. */
  heavy: number
}

/** A count with the baseline for its slot. */
export interface Compared {
  count: number
  /** The root of the baseline; NaN when there is no history for the slot. */
  root: number
  /** Difference between the root of the count and its baseline; NaN when there is no comparable history. */
  residual: number
}

/**
 * Compares rows, or sums of `span` rows, with earlier slots: the same hour of the week in up to 8 weeks, smoothed with
 * the same hour on all days of the same kind. With less than 4 weeks of history, uses the same hour on up to 14 days.
 * Uses only data from before the given slot.
 */
export class Baseline {
  private readonly roots: SlotRing
  private readonly residuals: SlotRing
  private readonly samples: SlotRing
  private noise: NoiseLevel | null = null
  /** Null before the first holiday. */
  private holidays: HolidayHistory | null = null

  constructor(
    readonly span: number,
    private readonly calendar: Calendar,
    private readonly isWeekend: (slot: number) => boolean,
  ) {
    this.roots = new SlotRing(MAX_WEEKS * calendar.week + calendar.day)
    this.residuals = new SlotRing(calendar.scaleBlocks + calendar.dayBlocks)
    this.samples = new SlotRing(calendar.scaleBlocks + calendar.dayBlocks)
  }

  /** `regular`: true when the season explains the series. The count is NaN when unknown. */
  compare(slot: number, count: number, regular: boolean): Compared {
    const basis = this.comparableRoot(slot, regular)
    const root = Number.isNaN(basis) ? this.anyDayMedian(slot) : basis
    return { count, root, residual: anscombe(count) - basis }
  }

  /** Returns the root of a slot's baseline; NaN when there is no history for the slot. */
  expected(slot: number, regular: boolean): number {
    const basis = this.comparableRoot(slot, regular)
    return Number.isNaN(basis) ? this.anyDayMedian(slot) : basis
  }

  remember(slot: number, { count, residual }: Compared, block: number | null): void {
    const root = anscombe(count)
    this.roots.set(slot, root)
    if (block === null) return
    this.residuals.set(block, residual)
    this.samples.set(block, Number.isNaN(residual) ? residual : root)
  }

  /**
   * Returns the root of a slot's baseline on a holiday: the median of earlier holidays at this hour or, without any, the
   * median of the weekday with the least traffic. `tolerable` is null while unknown.
   */
  expectedOnHoliday(slot: number, regular: boolean): { root: number; tolerable: TolerableRoots | null } {
    const ordinary = this.expected(slot, regular)
    if (Number.isNaN(ordinary)) return { root: ordinary, tolerable: null }
    const earlier = this.holidays?.root(slot) ?? Number.NaN
    const root = Number.isNaN(earlier) ? Math.min(ordinary, this.quietestDay(slot)) : earlier
    return { root, tolerable: HolidayHistory.tolerable(root, ordinary) }
  }

  /** Compares a count on a holiday with the counts that are tolerable on holidays. */
  compareHoliday(slot: number, count: number, regular: boolean): Compared {
    const { root, tolerable } = this.expectedOnHoliday(slot, regular)
    if (!tolerable) return { count, root, residual: Number.NaN }
    const own = anscombe(count)
    const nearest = Math.min(tolerable.high, Math.max(tolerable.low, own))
    return { count, root: nearest, residual: own - nearest }
  }

  rememberHoliday(slot: number, count: number, regular: boolean): void {
    if (Number.isNaN(count)) return
    const { tolerable } = this.expectedOnHoliday(slot, regular)
    this.holidays ??= new HolidayHistory(this.calendar.day)
    this.holidays.remember(slot, anscombe(count), tolerable)
  }

  /** Returns the median residual of the day before a block; null when there are too few residuals. */
  levelBefore(block: number): number | null {
    const size = this.residuals.collect(block - this.calendar.dayBlocks, block, scratch)
    return size < MIN_LEVEL_VALUES ? null : medianOf(scratch, size)
  }

  /**
   * Returns the spread in the four weeks before a block; null when there are too few residuals. `cluster`: number of
   * events that occur together.
   */
  spreadBefore(block: number, cluster: number): Spread | null {
    const from = block - this.calendar.scaleBlocks
    const size = this.residuals.collect(from, block, scratch)
    if (size < this.calendar.minBlocks) return null
    this.samples.collect(from, block, expected)
    for (let at = 0; at < size; at++) expected[at] = (expected[at] ?? 0) - (scratch[at] ?? 0)
    const middle = medianOf(scratch, size)
    this.residuals.collect(from, block, scratch)
    for (let at = 0; at < size; at++) scratch[at] = Math.abs((scratch[at] ?? 0) - middle)
    const { noise, heavy } = NoiseLevel.of(scratch, expected, size, cluster)
    this.noise = noise
    const deviation = medianOf(scratch, size)
    this.samples.collect(from, block, scratch)
    toDistances(scratch, size)
    return { deviation, whole: medianOf(scratch, size), noise, heavy }
  }

  get bytes(): number {
    return this.roots.bytes + this.residuals.bytes + this.samples.bytes + (this.holidays?.bytes ?? 0)
  }

  /** Returns the smallest median of this hour on any day of the week, such as that of Sundays; infinite if unknown. */
  private quietestDay(slot: number): number {
    const { day, week } = this.calendar
    let least = Number.POSITIVE_INFINITY
    for (let back = 0; back < 7; back++) {
      const median = this.medianAtDistance(slot - back * day, week, MAX_WEEKS)
      if (median < least) least = median
    }
    return least
  }

  private comparableRoot(slot: number, regular: boolean): number {
    const { week, seasonFrom } = this.calendar
    if (slot >= MIN_WEEKS * week) {
      const weekly = this.medianAtDistance(slot, week, MAX_WEEKS)
      if (!Number.isNaN(weekly)) return this.shrunk(slot, weekly)
    }
    if (slot < seasonFrom) return Number.NaN
    const like = this.medianOfSameDayKind(slot, HISTORY_DAYS)
    if (Number.isNaN(like) || regular) return like
    // In a bursty series, a median over few days varies more than weekdays differ from weekends, unless they differ
    // clearly.
    const any = this.anyDayMedian(slot)
    return this.noise !== null && Math.abs(like - any) > MIN_DAY_KIND_DIFFERENCE * this.noise.at(any) ? like : any
  }

  /**
   * Shrinks a median over few weeks, which is unstable, halfway towards the median for the same hour on all days of the
   * same kind. The amount is limited, so that a weekday with a distinct shape is preserved.
   */
  private shrunk(slot: number, weekly: number): number {
    const like = this.medianOfSameDayKind(slot, historyRoots.length)
    if (this.noise === null || Number.isNaN(like)) return weekly
    const most = MAX_SHRINKAGE * this.noise.at(weekly)
    return weekly + Math.min(most, Math.max(-most, (like - weekly) / 2))
  }

  private anyDayMedian(slot: number): number {
    const { day, seasonFrom } = this.calendar
    return slot < seasonFrom ? Number.NaN : this.medianAtDistance(slot, day, HISTORY_DAYS)
  }

  /** Returns the median of up to `times` values at intervals of `apart` slots; NaN when there are too few values. */
  private medianAtDistance(slot: number, apart: number, times: number): number {
    let found = 0
    for (let back = 1; back <= times; back++) {
      const root = this.roots.get(slot - back * apart)
      if (!Number.isNaN(root)) historyRoots[found++] = root
    }
    return found < MIN_HISTORY_VALUES ? Number.NaN : medianOf(historyRoots, found)
  }

  /** Like `medianAtDistance`, for days whose first and last rows are both on weekends or both on weekdays. */
  private medianOfSameDayKind(slot: number, times: number): number {
    const [back, { day }] = [this.span - 1, this.calendar]
    const [first, last] = [this.isWeekend(slot - back), this.isWeekend(slot)]
    let found = 0
    const oldest = slot - times * day
    for (let there = slot - day; there >= oldest; there -= day) {
      if (this.isWeekend(there) !== last || (back > 0 && this.isWeekend(there - back) !== first)) continue
      const root = this.roots.get(there)
      if (!Number.isNaN(root)) historyRoots[found++] = root
    }
    return found < MIN_HISTORY_VALUES ? Number.NaN : medianOf(historyRoots, found)
  }
}

/** Ring buffer with the values of the newest slots of a series. Slots that are too old or have no value are NaN. */
export class SlotRing {
  private readonly values: Float32Array
  private newest = -1

  constructor(size: number) {
    this.values = new Float32Array(size).fill(Number.NaN)
  }

  /** Slots must be set in ascending order. A slot that is still in the buffer may be overwritten. */
  set(slot: number, value: number): void {
    const size = this.values.length
    if (slot > this.newest) {
      const from = Math.max(this.newest + 1, slot - size + 1)
      for (let skipped = from; skipped < slot; skipped++) this.values[skipped % size] = Number.NaN
      this.newest = slot
    } else if (slot <= this.newest - size || slot < 0) return
    this.values[slot % size] = value
  }

  get(slot: number): number {
    const size = this.values.length
    if (slot < 0 || slot > this.newest || slot <= this.newest - size) return Number.NaN
    return this.values[slot % size] ?? Number.NaN
  }

  /** Copies the existing values in `from <= slot < to` to `into`. Returns their number. */
  collect(from: number, to: number, into: Float64Array): number {
    let found = 0
    for (let slot = Math.max(0, from); slot < to; slot++) {
      const value = this.get(slot)
      if (!Number.isNaN(value)) into[found++] = value
    }
    return found
  }

  get bytes(): number {
    return this.values.byteLength
  }
}
