/**
 * Maximum number of spells, longest first, from which the scale is estimated. All spells are used when there are fewer;
 * at least `MIN_SPELLS` are required.
 */
const MAX_SPELLS = 50
const MIN_SPELLS = 20
/** Fraction of the learned sums that decays per day; half remains after 9 days. */
const DAILY_DECAY = 1 / 14
/** Number of levels of missing events: below 1/2, and then from each power of 2 to the next. */
const LEVELS = 20

const levelOf = (missing: number) => Math.min(LEVELS - 1, missing < 0.5 ? 0 : Math.floor(Math.log2(missing)) + 2)

/**
 * The quiet spells between minutes with events, measured in missing events. For independent events (Poisson), the
 * probability that a spell continues decreases by a factor of e with each missing event. But a page sends several
 * events at once, and a visit has several pages, so the probability decreases by e with each missing cluster. The
 * number of events per cluster is estimated like a lifetime (Kaplan and Meier 1958,
 * https://doi.org/10.1080/01621459.1958.10501452): it is the number of missing events per ended spell. Only the longest
 * spells are used, because a visit contains many short spells.
 */
export class QuietSpells {
  /** Missing events since the last minute with events. NaN before the first such minute and after unknown rows. */
  private missing = Number.NaN
  /**
   * Sums by the level at which a minute began: the baselines of minutes without events, the number of minutes that
   * ended a spell, and their baselines.
   */
  private readonly missed = new Float64Array(LEVELS)
  private readonly ended = new Float64Array(LEVELS)
  private readonly minutes = new Float64Array(LEVELS)

  /**
   * Adds the minutes of a row. `quietRuns`: lengths of the runs of minutes without events before, between and after
   * minutes with events. `expected`: the baseline of a minute; NaN while unknown. A spell with `most` or more missing
   * events is considered an outage and excluded from learning.
   */
  take(quietRuns: readonly number[], expected: number, most: number): void {
    if (Number.isNaN(expected)) return this.interrupt()
    for (const [place, minutes] of quietRuns.entries()) {
      if (place > 0) {
        this.endSpell(expected, most)
        this.missing = 0
      }
      for (let left = minutes; left > 0; left--) this.continueSpell(expected, most)
    }
  }

  /** Discards the current spell, because part of it is unknown. */
  interrupt(): void {
    this.missing = Number.NaN
  }

  /** Decays the learned sums. Call once a day. */
  decay(): void {
    for (const sums of [this.missed, this.ended, this.minutes]) {
      for (let level = 0; level < LEVELS; level++) sums[level] = (sums[level] ?? 0) * (1 - DAILY_DECAY)
    }
  }

  /**
   * Returns the number of additional missing events that make a long spell e times rarer; 1 for a Poisson process. Null
   * while there are too few spells.
   */
  scale(): number | null {
    let [missed, ended, minutes] = [0, 0, 0]
    for (let level = LEVELS - 1; level >= 0 && ended < MAX_SPELLS; level--) {
      missed += this.missed[level] ?? 0
      ended += this.ended[level] ?? 0
      minutes += this.minutes[level] ?? 0
    }
    if (ended < MIN_SPELLS || missed === 0) return null
    // Only whole minutes are counted, so actual spells are longer than measured.
    return minutes > 0 ? minutes / ended / Math.log1p(minutes / missed) : missed / ended
  }

  get bytes(): number {
    return this.missed.byteLength + this.ended.byteLength + this.minutes.byteLength
  }

  private continueSpell(expected: number, most: number): void {
    if (this.missing < most) {
      const level = levelOf(this.missing)
      this.missed[level] = (this.missed[level] ?? 0) + expected
    }
    this.missing += expected
  }

  private endSpell(expected: number, most: number): void {
    // When no events are expected, a spell without missing events carries no information.
    if (!(this.missing < most && this.missing + expected > 0)) return
    const level = levelOf(this.missing)
    this.ended[level] = (this.ended[level] ?? 0) + 1
    this.minutes[level] = (this.minutes[level] ?? 0) + expected
  }
}
