import { Baseline, type Compared, HISTORY_DAYS, MIN_HISTORY_VALUES, type Spread } from './baseline.ts'
import { type Calendar, calendarOf } from './calendar.ts'

const REGULAR_FROM = 0.85
const REGULAR_UNTIL = 0.8
/**
 * Residuals hardly wider than Poisson noise, with tails as light, are pure noise: there is nothing left for a season to
 * explain. Poisson noise has a median absolute deviation of 0.67.
 */
const POISSON_DEVIATION = 0.88
const POISSON_TAIL = 1.1

/** How far a series deviates from its season. */
export interface Scale {
  /**
   * Spreads of the row and of each sum; null while unknown. Those of the row and the first sum are never null.
   */
  spreads: readonly (Spread | null)[]
  /** True when the season explains the series, so that the residuals may be judged. */
  regular: boolean
}

/** The weekly or daily season of a series: of its rows, and of sliding sums of them. */
export class Season {
  readonly calendar: Calendar
  private readonly comparisons: readonly Baseline[]
  private block = -1
  private day = -1
  private found: Scale | null = null
  private learned: number | null = null

  /**
   * `spans`: the number of rows of each comparison; the first is 1, and the second decides whether the series is
   * regular.
   */
  constructor(
    stepMs: number,
    spans: readonly number[],
    private readonly isWeekend: (slot: number) => boolean,
  ) {
    this.calendar = calendarOf(stepMs)
    this.comparisons = spans.map((span) => new Baseline(span, this.calendar, isWeekend))
  }

  /** Null until there are residuals of three days. */
  get scale(): Scale | null {
    return this.found
  }

  /**
   * The slot from which the scale is known, when no row is missing: three days that could be compared with similar
   * ones.
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
   * To be called with the slot of a row before it is compared. `cluster`: number of events that occur together. `isNewDay`: the row is the first of a day; `levels`: the
   * medians of the last day's residuals at the first row of an hour, when there are enough, else null.
   */
  begin(slot: number, cluster: number): { isNewDay: boolean; levels: readonly number[] | null } {
    const day = Math.floor(slot / this.calendar.day)
    const block = Math.floor(slot / this.calendar.block)
    const isNewDay = day > this.day
    if (isNewDay) this.found = this.learn(block, cluster) ?? this.found
    this.day = Math.max(day, this.day)
    return { isNewDay, levels: block > this.block ? this.levelsBefore(block) : null }
  }

  /** Compares the row of a slot and the sums that end with it, in the order of `spans`; NaN for unknown counts. */
  compare(slot: number, counts: readonly number[]): Compared[] {
    const regular = this.found?.regular ?? false
    return this.comparisons.map((comparison, at) => comparison.compare(slot, counts[at] ?? Number.NaN, regular))
  }

  /** Returns the root of a row's baseline; NaN while there is no history for it. */
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

  /** True when there are enough days of the same kind before that of a slot. */
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
