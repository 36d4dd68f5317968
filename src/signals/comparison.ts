import { type Calendar, MOST_BLOCKS } from './calendar.ts'
import { centre, medianOf, quantileOf } from './order.ts'
import { rootOf } from './root.ts'
import { SlotRing } from './slot-ring.ts'

const WEEKS = 8
const NEEDED_WEEKS = 4
export const PAST_DAYS = 14
/** A median is of at least so many. */
export const NEEDED_PAST = 2
const NEEDED_LEVEL = 12
/** Median absolute deviation to standard deviation, for a normal distribution. */
const MAD_TO_SD = 1.4826
/** The 95 % quantile of the absolute value of a normal distribution. */
const WIDE = 1.96

const scratch = new Float64Array(MOST_BLOCKS)
const past = new Float64Array(PAST_DAYS)

/** How far residuals lie apart. */
export interface Spread {
  /** Their median absolute deviation, and that of what they are residuals of. */
  deviation: number
  whole: number
  /** Their standard deviation as the median has it, at least Poisson's 1. */
  scale: number
  /** How many times heavier their tails are than those of a normal distribution, at least 1. */
  heavy: number
}

/** A count beside what is expected in its slot. */
export interface Compared {
  count: number
  /** The expected root; NaN while there is no history for it. */
  root: number
  /** The count's root less what it may be held against; NaN where there is nothing like it. */
  residual: number
}

/**
 * Rows, or sums of `span` rows, beside those of earlier slots: the same hour of the week in up to 8 weeks, and before
 * there are 4, the same hour of up to 14 days. Knows nothing later than the slot that it is asked for.
 */
export class Comparison {
  private readonly roots: SlotRing
  private readonly residuals: SlotRing
  private readonly samples: SlotRing

  constructor(
    readonly span: number,
    private readonly calendar: Calendar,
    private readonly isWeekend: (slot: number) => boolean,
  ) {
    this.roots = new SlotRing(WEEKS * calendar.week + calendar.day)
    this.residuals = new SlotRing(calendar.scaleBlocks + calendar.dayBlocks)
    this.samples = new SlotRing(calendar.scaleBlocks + calendar.dayBlocks)
  }

  /** `regular`: the season explains the series. The count is NaN when it isn't known. */
  compare(slot: number, count: number, regular: boolean): Compared {
    const basis = this.basis(slot, regular)
    const root = Number.isNaN(basis) ? this.anyDay(slot) : basis
    return { count, root, residual: rootOf(count) - basis }
  }

  /** The root that is expected in a slot; NaN while there is no history for it. */
  expected(slot: number, regular: boolean): number {
    const basis = this.basis(slot, regular)
    return Number.isNaN(basis) ? this.anyDay(slot) : basis
  }

  remember(slot: number, { count, residual }: Compared, block: number | null): void {
    const root = rootOf(count)
    this.roots.set(slot, root)
    if (block === null) return
    this.residuals.set(block, residual)
    this.samples.set(block, Number.isNaN(residual) ? residual : root)
  }

  /** The median residual of the day before a block; null while there are too few. */
  levelBefore(block: number): number | null {
    const size = this.residuals.collect(block - this.calendar.dayBlocks, block, scratch)
    return size < NEEDED_LEVEL ? null : medianOf(scratch, size)
  }

  /** Of the four weeks before a block; null while there are too few residuals. */
  spreadBefore(block: number): Spread | null {
    const from = block - this.calendar.scaleBlocks
    const size = this.samples.collect(from, block, scratch)
    if (size < this.calendar.neededBlocks) return null
    centre(scratch, size)
    const whole = medianOf(scratch, size)
    this.residuals.collect(from, block, scratch)
    centre(scratch, size)
    const deviation = medianOf(scratch, size)
    const scale = Math.max(1, MAD_TO_SD * deviation)
    return { deviation, whole, scale, heavy: Math.max(1, quantileOf(scratch, size, 0.95) / (WIDE * scale)) }
  }

  get bytes(): number {
    return this.roots.bytes + this.residuals.bytes + this.samples.bytes
  }

  private basis(slot: number, regular: boolean): number {
    const { day, week, seasonFrom } = this.calendar
    if (slot >= NEEDED_WEEKS * week) {
      const weekly = this.medianBack(slot, week, WEEKS, false)
      if (!Number.isNaN(weekly)) return weekly
    }
    if (slot < seasonFrom) return Number.NaN
    const like = this.medianBack(slot, day, PAST_DAYS, true)
    // A bursty series differs less between days than a median of few values does.
    return Number.isNaN(like) || regular ? like : this.anyDay(slot)
  }

  private anyDay(slot: number): number {
    const { day, seasonFrom } = this.calendar
    return slot < seasonFrom ? Number.NaN : this.medianBack(slot, day, PAST_DAYS, false)
  }

  /** The median of up to `times` values that lie `apart` slots from each other; NaN when too few are there. */
  private medianBack(slot: number, apart: number, times: number, alikeOnly: boolean): number {
    let found = 0
    for (let back = 1; back <= times; back++) {
      const there = slot - back * apart
      const root = this.roots.get(there)
      if (!Number.isNaN(root) && (!alikeOnly || this.isAlike(slot, there))) past[found++] = root
    }
    return found < NEEDED_PAST ? Number.NaN : medianOf(past, found)
  }

  /** True when first and last row lie on the same kind of day, a weekend or not. */
  private isAlike(slot: number, other: number): boolean {
    if (this.isWeekend(slot) !== this.isWeekend(other)) return false
    const back = this.span - 1
    return back === 0 || this.isWeekend(slot - back) === this.isWeekend(other - back)
  }
}
