import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { anscombe, inverseAnscombe } from './anscombe.ts'
import type { Compared } from './baseline.ts'
import { BurstRarity } from './burst-rarity.ts'
import type { ClusteredNoise } from './clustered-noise.ts'
import type { TolerableRoots } from './holiday-history.ts'
import { type Scale, Seasonality } from './seasonality.ts'
import { SilenceRarity } from './silence-rarity.ts'

const BURST_MS = 15 * MINUTE_MS
const BURST_DAYS = 21
const BURST_ROWS = 1344
/** Maximum number of consecutive missing slots that a sum may span. */
const MAX_SKIPPED_SLOTS = 3
const SHORT_SUM_ROWS = 3
/** Maximum length of a silence after the last row that is considered. */
const MAX_SILENCE_MS = 7 * DAY_MS

/** The settings of a series. */
export interface SeriesShape {
  /** Row length in ms; values below one second are treated as one second. */
  stepMs: number
  /** The time zone for the season's hours and weekdays; UTC when absent. */
  timezone?: string
  /**
   * Lengths, in rows, of the sliding sums that are evaluated in addition to each row. When absent, `sumsFor` determines
   * them.
   */
  sums?: readonly number[]
  /**
   * Returns whether an instant is on a holiday. Rows whose middle is on a holiday are compared with earlier holidays and
   * are not part of the season. When absent, there are no holidays.
   */
  isHoliday?(instant: Instant): boolean
}

/**
 * Returns the lengths of the sums for a row length. A sum of three rows detects a fault within three rows. A sum over
 * half a day detects small changes: a drop by half at 20 events an hour, or silence at 2 events an hour. Rows shorter
 * than an hour serve to detect fast changes.
 */
export function sumsFor(stepMs: number): number[] {
  const halfDay = stepMs < HOUR_MS ? 0 : Math.round(DAY_MS / 2 / stepMs)
  return halfDay > SHORT_SUM_ROWS ? [SHORT_SUM_ROWS, halfDay] : [SHORT_SUM_ROWS]
}

/** A row with its baseline and all measures that are independent of the sensitivity. */
export interface Reading {
  t: Instant
  /** The row, and the sums that end with it, with their baselines. Counts are NaN while there are too few rows. */
  compared: readonly Compared[]
  /** The root of the row's baseline; NaN when there is no history for the row. */
  root: number
  /** On a holiday, the counts that are normal for the row; null on other days and while the baseline is unknown. */
  tolerable: TolerableRoots | null
  scale: Scale | null
  /** Medians of the last day's residuals, for the first row of an hour; otherwise null. */
  levels: readonly number[] | null
  /** The mean of the most recent rows before this one; NaN for the first row. */
  recent: number
  /** The burst in deviations; NaN while there are too few rows. */
  burst: number
  /** The silence, in deviations. */
  silence: number
  /** True when slots immediately before this row are missing, or belong to another season: that of holidays. */
  afterGap: boolean
  clusters: ClusteredNoise
}

interface Row {
  t: Instant
  slot: number
  count: number
  quietRuns: readonly number[] | null
  afterGap: boolean
  isHoliday: boolean
}

/** Computes statistics for the rows of one series, which must be added in chronological order. */
export class RowStatistics {
  readonly stepMs: number
  private readonly slots: LocalTimeSlots
  private readonly season: Seasonality
  private readonly burst: BurstRarity
  private readonly burstRows: number
  private readonly silence = new SilenceRarity()
  private readonly rows = new SlidingSum(SHORT_SUM_ROWS)
  private readonly sums: readonly SlidingSum[]
  private readonly burstSum: SlidingSum
  private first = Number.NaN
  private last = Number.NaN
  private lastOffset = Number.NaN
  private wasHoliday = false
  /** Start of the last row with events. */
  private lastEventRow = Number.NaN

  private readonly isOnHoliday: (instant: Instant) => boolean

  constructor({ stepMs, timezone = 'UTC', sums, isHoliday = () => false }: SeriesShape) {
    this.stepMs = Math.max(SECOND_MS, stepMs)
    this.isOnHoliday = isHoliday
    this.slots = new LocalTimeSlots(this.stepMs, timezone)
    const spans = sums ?? sumsFor(this.stepMs)
    this.season = new Seasonality(this.stepMs, [1, ...spans], (slot) => this.slots.isWeekend(slot))
    this.burstRows = Math.max(1, Math.round(BURST_MS / this.stepMs))
    this.burst = new BurstRarity(this.burstRows, Math.max(BURST_DAYS * this.season.calendar.day, BURST_ROWS))
    this.sums = spans.map((rows) => new SlidingSum(rows))
    this.burstSum = new SlidingSum(this.burstRows)
  }

  /**
   * Adds a row with start `t`. Rows must be added in chronological order. `value` is null, or not finite, for a row
   * with an unknown count. `quietRuns`: lengths of the runs of minutes without events before, between and after minutes
   * with events; null when unknown.
   */
  take(t: Instant, value: number | null, quietRuns: readonly number[] | null = null): Reading | null {
    if (Number.isNaN(this.first)) this.first = t
    const slot = this.slots.slotOf(t)
    if (value === null || !Number.isFinite(value)) {
      this.silence.interrupt()
      return null
    }
    const missing = Number.isNaN(this.last) ? 0 : Math.round((t - this.last) / this.stepMs) - 1
    if (missing >= MAX_SKIPPED_SLOTS) this.burstSum.restart()
    const isHoliday = this.isRowOnHoliday(t)
    const isOtherSeason = isHoliday !== this.wasHoliday
    // When clocks change, a sum contains different hours than in earlier weeks.
    const isTorn = missing >= MAX_SKIPPED_SLOTS || this.slots.offset !== this.lastOffset || isOtherSeason
    if (isTorn) for (const sum of this.sums) sum.restart()
    if (isOtherSeason) this.burstSum.restart()
    this.lastOffset = this.slots.offset
    this.last = t
    this.wasHoliday = isHoliday
    if (missing > 0) this.silence.interrupt()
    return this.read({ t, slot, count: value, quietRuns, afterGap: missing > 0 || isOtherSeason, isHoliday })
  }

  /** Returns the baseline for a row that starts at `t`, as a count; NaN while unknown. */
  expectedAt(t: Instant): number {
    const slot = this.slots.slotOf(t)
    const root = this.isRowOnHoliday(t) ? this.season.expectedOnHoliday(slot).root : this.season.expected(slot)
    return Number.isNaN(root) ? root : inverseAnscombe(root)
  }

  /**
   * Returns the time at which the season and its scale will be known if no row is missing; null when they are known.
   */
  learningUntil(t: Instant): Instant | null {
    if (this.season.scale) return null
    const at = Number.isNaN(this.first) ? t : this.first
    const until = at + this.season.learnedFrom * this.stepMs
    const day = this.season.calendar.day * this.stepMs
    return until > t ? until : until + (Math.floor((t - until) / day) + 1) * day
  }

  /**
   * Returns the baseline of a row. Until the season of the row is known, this is the mean of the preceding rows. NaN
   * for the first row.
   */
  expectedOf({ root, recent }: Reading): number {
    return Number.isNaN(root) ? recent : inverseAnscombe(root)
  }

  /** Returns the minimum count at which a row like the last one is a burst of `k`; NaN while unknown. */
  burstFrom(k: number, { root, tolerable }: Reading): number {
    const own = this.burst.sumAt(k)
    const above = tolerable ? tolerable.high : root
    const poisson = Number.isNaN(above) ? 0 : inverseAnscombe(anscombe(this.burstRows * inverseAnscombe(above)) + k)
    return Math.max(own, poisson) / this.burstRows
  }

  /**
   * Returns the rarity of the silence at `now`, in deviations. `now` may be between rows. `lastEventAt`: time of the
   * last event, if known more precisely than by row; otherwise the end of the last row with events is used.
   */
  silenceAt(now: Instant, lastEventAt: Instant | null = null): number {
    return this.silence.scoreOf(this.missingAt(now, lastEventAt))
  }

  /** Returns the number of events expected during the silence at `now`. Parameters as in `silenceAt`. */
  missingAt(now: Instant, lastEventAt: Instant | null = null): number {
    if (Number.isNaN(this.last)) return 0
    const end = this.last + this.stepMs
    if (lastEventAt !== null && lastEventAt >= end) return this.expectedIn(lastEventAt, now)
    let more = this.expectedIn(end, now)
    const livelyEnd = this.lastEventRow + this.stepMs
    if (lastEventAt !== null && lastEventAt >= this.lastEventRow && lastEventAt < livelyEnd) {
      more += this.expectedIn(lastEventAt, livelyEnd)
    }
    return this.silence.missing + more
  }

  /**
   * Factor by which the number of missing events must exceed that of a Poisson process for a silence to be equally
   * unusual.
   */
  get silenceGuard(): number {
    return this.silence.guard
  }

  get bytes(): number {
    const parts = [this.season, this.burst, this.silence, this.rows, ...this.sums, this.burstSum]
    return parts.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  private read(row: Row): Reading {
    const { t, slot, count, afterGap, isHoliday } = row
    const { isNewDay, levels } = this.season.begin(slot, this.silence.clusters.size)
    if (isNewDay) this.silence.learn()
    const recent = this.rows.mean()
    this.rows.add(count)
    const counts = [count, ...this.sums.map((sum) => sum.add(count))]
    if (isHoliday) return this.readHoliday(row, counts, levels, recent)
    const compared = this.season.compare(slot, counts)
    const root = compared[0]?.root ?? Number.NaN
    this.silence.add(count, inverseAnscombe(root))
    // Quiet spells are learned from the first day, before a baseline exists.
    const expected = Number.isNaN(root) ? recent : inverseAnscombe(root)
    if (row.quietRuns) this.silence.takeMinutes(row.quietRuns, (expected * MINUTE_MS) / this.stepMs)
    if (count > 0) this.lastEventRow = t
    const burst = this.burstOf(count, root, true)
    this.season.remember(slot, compared)
    const [{ scale }, silence] = [this.season, this.silence.score()]
    const { clusters } = this.silence
    return { t, compared, root, tolerable: null, scale, levels, recent, burst, silence, afterGap, clusters }
  }

  /** Compares a row with earlier holidays. The seasons, bursts and silences of ordinary days learn nothing from it. */
  private readHoliday(
    { t, slot, count, afterGap }: Row,
    counts: readonly number[],
    levels: readonly number[] | null,
    recent: number,
  ): Reading {
    const { compared, root, tolerable } = this.season.compareHoliday(slot, counts)
    this.silence.addHoliday(count, tolerable ? inverseAnscombe(tolerable.low) : Number.NaN)
    if (count > 0) this.lastEventRow = t
    const burst = this.burstOf(count, tolerable?.high ?? Number.NaN, false)
    this.season.rememberHoliday(slot, counts)
    const [{ scale }, silence] = [this.season, this.silence.score()]
    return {
      t,
      compared,
      root,
      tolerable,
      scale,
      levels,
      recent,
      burst,
      silence,
      afterGap,
      clusters: this.silence.clusters,
    }
  }

  /** `root`: the root of the count from which on a row can be a burst; NaN when unknown. */
  private burstOf(count: number, root: number, learns: boolean): number {
    const sum = this.burstSum.add(count)
    if (Number.isNaN(sum)) return Number.NaN
    const score = this.burst.score(sum)
    if (learns) this.burst.remember(sum)
    // Rare both in the series' history and for a Poisson process.
    return Number.isNaN(root)
      ? score
      : Math.min(score, anscombe(sum) - anscombe(this.burstRows * inverseAnscombe(root)))
  }

  private isRowOnHoliday(t: Instant): boolean {
    return this.isOnHoliday(t + this.stepMs / 2)
  }

  /** Returns the number of events whose absence counts towards a silence; NaN while unknown. */
  private missableAt(t: Instant): number {
    if (!this.isRowOnHoliday(t)) return this.expectedAt(t)
    const { tolerable } = this.season.expectedOnHoliday(this.slots.slotOf(t))
    return tolerable ? inverseAnscombe(tolerable.low) : Number.NaN
  }

  private expectedIn(from: Instant, to: Instant): number {
    let sum = 0
    const end = Math.min(to, from + MAX_SILENCE_MS)
    for (let at = from; at < end; ) {
      const start = this.last + Math.floor((at - this.last) / this.stepMs) * this.stepMs
      const next = Math.min(end, start + this.stepMs)
      const expected = this.missableAt(start)
      if (expected > 0) sum += (expected * (next - at)) / this.stepMs
      at = next
    }
    return sum
  }
}

/** The sum of the last `width` rows. */
export class SlidingSum {
  private readonly rows: Float64Array
  private count = 0

  constructor(private readonly width: number) {
    this.rows = new Float64Array(width)
  }

  /** Returns the sum that ends with this row; NaN until there are enough rows. */
  add(value: number): number {
    this.rows[this.count++ % this.width] = value
    return this.count < this.width ? Number.NaN : this.total()
  }

  /** Returns the mean of the rows so far; NaN when there are none. */
  mean(): number {
    return this.total() / Math.min(this.count, this.width)
  }

  /** Discards all rows, because rows that are far apart must not be summed. */
  restart(): void {
    this.count = 0
  }

  get bytes(): number {
    return this.rows.byteLength
  }

  private total(): number {
    // Recomputed for each row: a running sum would accumulate rounding errors.
    let sum = 0
    for (let at = Math.min(this.count, this.width) - 1; at >= 0; at--) sum += this.rows[at] ?? 0
    return sum
  }
}

/** 1970-01-01 was a Thursday; Sunday is 0. */
const FIRST_WEEKDAY = 4

/**
 * Numbers the slots of a series by local time, from 0 at the first instant. The same hour of the week is therefore
 * always the same number of slots apart. When clocks go forward, slots are skipped; when clocks go back, slots repeat.
 */
export class LocalTimeSlots {
  private origin = Number.NaN
  /** Offset of local time from UTC at the last instant, in ms. */
  offset = 0
  private from = Number.POSITIVE_INFINITY
  private to = Number.NEGATIVE_INFINITY

  constructor(
    private readonly stepMs: number,
    private readonly timezone: string,
  ) {}

  slotOf(instant: Instant): number {
    const local = instant + this.offsetAt(instant)
    if (Number.isNaN(this.origin)) this.origin = local
    return Math.round((local - this.origin) / this.stepMs)
  }

  isWeekend(slot: number): boolean {
    const day = Math.floor((this.origin + slot * this.stepMs) / DAY_MS)
    const weekday = (((day + FIRST_WEEKDAY) % 7) + 7) % 7
    return weekday === 0 || weekday === 6
  }

  /** Looks up the time zone's offset only when it changes. */
  private offsetAt(instant: Instant): number {
    if (this.timezone === 'UTC') return 0
    if (instant >= this.from && instant < this.to) return this.offset
    const there = Temporal.Instant.fromEpochMilliseconds(Math.floor(instant)).toZonedDateTimeISO(this.timezone)
    this.offset = there.offsetNanoseconds / 1e6
    this.from = Math.floor(instant)
    this.to = there.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY
    return this.offset
  }
}
