/** The scale is estimated from this many of the longest lapses; from fewer, but not fewer than `MIN_SPELLS`, of all. */
const MAX_SPELLS = 50
const MIN_SPELLS = 20
/** What was learned loses this share a day, so that half of it is left after 9. */
const DAILY_DECAY = 1 / 14
/** Levels of missing events: below 1/2, and then from each power of 2 to the next. */
const LEVELS = 20

const levelOf = (missing: number) => Math.min(LEVELS - 1, missing < 0.5 ? 0 : Math.floor(Math.log2(missing)) + 2)

/**
 * The lapses between the minutes of a series that have events, in events that were missing. Of single events by Poisson's
 * law the chance that a lapse goes on falls by e with each that is missing. But a page sends several at once, and a visit
 * has several pages, so it falls by e with each cluster. How many events that is, is estimated as lifetimes are (Kaplan
 * and Meier 1958, https://doi.org/10.1080/01621459.1958.10501452): the events that were missing, for each lapse that
 * ended; and of the longest lapses alone, because within a visit there are many short ones.
 */
export class QuietSpells {
  /** Events that are missing since the last minute with events; NaN before the first one, and after unknown rows. */
  private missing = Number.NaN
  /**
   * By the level at which a minute began: the baselines of minutes without events, how many minutes ended a lapse, and
   * their baselines.
   */
  private readonly missed = new Float64Array(LEVELS)
  private readonly ended = new Float64Array(LEVELS)
  private readonly minutes = new Float64Array(LEVELS)

  /**
   * Takes the minutes of a row. `lulls`: how many in a row had no events, before, between and after those that had.
   * `expected`: the baseline of a minute; NaN while unknown. An outage is no usual lapse: nothing is learned of a lapse
   * from where `most` events are missing.
   */
  take(lulls: readonly number[], expected: number, most: number): void {
    if (Number.isNaN(expected)) return this.interrupt()
    for (const [place, minutes] of lulls.entries()) {
      if (place > 0) {
        this.endSpell(expected, most)
        this.missing = 0
      }
      for (let left = minutes; left > 0; left--) this.continueSpell(expected, most)
    }
  }

  /** Leaves out the current lapse, of which a part is unknown. */
  interrupt(): void {
    this.missing = Number.NaN
  }

  /** Forgets a part of what was learned. To be called once a day. */
  decay(): void {
    for (const sums of [this.missed, this.ended, this.minutes]) {
      for (let level = 0; level < LEVELS; level++) sums[level] = (sums[level] ?? 0) * (1 - DAILY_DECAY)
    }
  }

  /**
   * Returns how many more events must be missing for a long lapse to be e times as rare: 1 by Poisson's law. Null while
   * there are too few.
   */
  scale(): number | null {
    let [missed, ended, minutes] = [0, 0, 0]
    for (let level = LEVELS - 1; level >= 0 && ended < MAX_SPELLS; level--) {
      missed += this.missed[level] ?? 0
      ended += this.ended[level] ?? 0
      minutes += this.minutes[level] ?? 0
    }
    if (ended < MIN_SPELLS || missed === 0) return null
    // Only whole minutes are counted, so lapses are longer than they seem.
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
    // Where nothing is expected, a lapse without a missing event says nothing.
    if (!(this.missing < most && this.missing + expected > 0)) return
    const level = levelOf(this.missing)
    this.ended[level] = (this.ended[level] ?? 0) + 1
    this.minutes[level] = (this.minutes[level] ?? 0) + expected
  }
}
