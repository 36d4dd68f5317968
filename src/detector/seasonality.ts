import { Baseline, type Compared, HISTORY_DAYS, MIN_HISTORY_VALUES, type Spread } from './baseline.ts'
import type { TolerableRoots } from './holiday-history.ts'
import { type Calendar, calendarOf } from './season-lengths.ts'

const REGULAR_FROM = 0.85
const REGULAR_UNTIL = 0.8
/**
 * Residuals hardly wider than Poisson noise, and with equally light tails, are pure noise that no season can explain.
 * Poisson noise has a median absolute deviation of 0.67.
 */
const POISSON_DEVIATION = 0.88
const POISSON_TAIL = 1.1

/** The spread of a series around its season. */
export interface Scale {
  /**
   * Spreads of the row and of each sum; null while unknown. The spreads of the row and the first sum are never null.
   */
  spreads: readonly (Spread | null)[]
  /** True when the season explains the series, so that the residuals can be evaluated. */
  regular: boolean
}

/** The weekly or daily season of a series, for its rows and for their sliding sums. */
export class Seasonality {
  readonly calendar: Calendar
  private readonly comparisons: readonly Baseline[]
  private block = -1
  private day = -1
  private found: Scale | null = null
  private learned: number | null = null

  /**
   * `spans`: the number of rows in each comparison. The first span is 1, and the second determines whether the series
   * is regular.
   */
  constructor(
    stepMs: number,
    spans: readonly number[],
    private readonly isWeekend: (slot: number) => boolean,
  ) {
    this.calendar = calendarOf(stepMs)
    this.comparisons = spans.map((span) => new Baseline(span, this.calendar, isWeekend))
  }

  /** Null until there are three days of residuals. */
  get scale(): Scale | null {
    return this.found
  }

  /**
   * The slot from which the scale is known when no row is missing: after three days that could be compared with similar
   * days.
   */
  get learnedFrom(): number {
    if (this.learned === null) {
      const { block, day, seasonFrom, minBlocks } = this.calendar
      let slot = seasonFrom
      for (let found = 0; found < minBlocks; slot += block) if (this.hasHistory(slot)) found += 1
      this.learned = Math.ceil(slot / day) * day
    }
    return this.learned
  }

  /**
   * To be called with the slot of a row before the row is compared. `cluster`: number of events that occur together.
   * `isNewDay`: true for the first row of a day. `levels`: medians of the last day's residuals, for the first row of an
   * hour and when there are enough residuals; otherwise null.
   */
  begin(slot: number, cluster: number): { isNewDay: boolean; levels: readonly number[] | null } {
    const day = Math.floor(slot / this.calendar.day)
    const block = Math.floor(slot / this.calendar.block)
    const isNewDay = day > this.day
    if (isNewDay) this.found = this.learn(block, cluster) ?? this.found
    this.day = Math.max(day, this.day)
    return { isNewDay, levels: block > this.block ? this.levelsBefore(block) : null }
  }

  /** Compares the row in a slot and the sums that end with it, in the order of `spans`. Unknown counts are NaN. */
  compare(slot: number, counts: readonly number[]): Compared[] {
    const regular = this.found?.regular ?? false
    return this.comparisons.map((comparison, at) => comparison.compare(slot, counts[at] ?? Number.NaN, regular))
  }

  /** Returns the root of a row's baseline; NaN when there is no history for the row. */
  expected(slot: number): number {
    return this.comparisons[0]?.expected(slot, this.found?.regular ?? false) ?? Number.NaN
  }

  /** Adds the compared values to the history. */
  remember(slot: number, compared: readonly Compared[]): void {
    const block = Math.floor(slot / this.calendar.block)
    const isFirst = block > this.block
    compared.forEach((one, at) => {
      this.comparisons[at]?.remember(slot, one, isFirst ? block : null)
    })
    if (isFirst) this.block = block
  }

  /**
   * Like `compare`, for a row on a holiday. The residuals are distances from the nearest tolerable count; 0 within.
   * `root` and `tolerable` belong to the row.
   */
  compareHoliday(slot: number, counts: readonly number[]) {
    const regular = this.found?.regular ?? false
    const compared = this.comparisons.map((one, at) => one.compareHoliday(slot, counts[at] ?? Number.NaN, regular))
    return { compared, ...this.expectedOnHoliday(slot) }
  }

  /** Returns the baseline of a row on a holiday, and the counts that are normal for it; null while unknown. */
  expectedOnHoliday(slot: number): { root: number; tolerable: TolerableRoots | null } {
    const regular = this.found?.regular ?? false
    return this.comparisons[0]?.expectedOnHoliday(slot, regular) ?? { root: Number.NaN, tolerable: null }
  }

  /** Adds counts on a holiday to the history of holidays. */
  rememberHoliday(slot: number, counts: readonly number[]): void {
    const regular = this.found?.regular ?? false
    for (const [at, one] of this.comparisons.entries()) one.rememberHoliday(slot, counts[at] ?? Number.NaN, regular)
  }

  get bytes(): number {
    return this.comparisons.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  private levelsBefore(block: number): number[] | null {
    const levels = this.comparisons.map((comparison) => comparison.levelBefore(block))
    return levels[0] === null ? null : levels.map((level) => level ?? 0)
  }

  private learn(block: number, cluster: number): Scale | null {
    const spreads = this.comparisons.map((comparison) => comparison.spreadBefore(block, cluster))
    const [row, sum] = spreads
    return row && sum ? { spreads, regular: this.isRegular(sum) } : null
  }

  /** True when there are enough days of the same kind before the day of a slot. */
  private hasHistory(slot: number): boolean {
    const { day } = this.calendar
    let found = 0
    for (let back = 1; back <= HISTORY_DAYS && back * day <= slot; back++) {
      if (this.isWeekend(slot - back * day) === this.isWeekend(slot)) found += 1
    }
    return found >= MIN_HISTORY_VALUES
  }

  private isRegular({ deviation, whole, heavy }: Spread): boolean {
    if (deviation <= POISSON_DEVIATION && heavy <= POISSON_TAIL) return true
    const explained = whole > 0 ? 1 - (deviation / whole) ** 2 : 0
    return explained >= (this.found?.regular ? REGULAR_UNTIL : REGULAR_FROM)
  }
}
