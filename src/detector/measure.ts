import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { Burst } from './burst.ts'
import type { Compared } from './comparison.ts'
import { RecentSum } from './recent-sum.ts'
import { countOf, rootOf } from './root.ts'
import { type Scale, Season } from './season.ts'
import { Silence } from './silence.ts'
import { WallSlots } from './wall-slots.ts'

const BURST_MS = 15 * MINUTE_MS
const BURST_DAYS = 21
const BURST_ROWS = 1344
/** A sum of rows reaches over so many slots without a row. */
const BRIDGED = 3
const SHORT_SUM = 3
/** A silence between rows is followed this far. */
const LOOK_MS = 7 * DAY_MS

/** What a series is made of. */
export interface SeriesShape {
  /** From one row to the next; taken as a second when it is less. */
  stepMs: number
  /** Whose hours and weekdays the season follows; UTC when absent. */
  timezone?: string
  /** Of how many rows the sums are that are judged beside each row, sliding by the row; see `sumsFor` when absent. */
  sums?: readonly number[]
}

/**
 * The sums that suit rows so far apart. Three rows show a fault within three of them. Half a day finds what is small:
 * a half of 20 events an hour, or the silence of 2; rows closer than an hour are there for what is fast.
 */
export function sumsFor(stepMs: number): number[] {
  const halfDay = stepMs < HOUR_MS ? 0 : Math.round(DAY_MS / 2 / stepMs)
  return halfDay > SHORT_SUM ? [SHORT_SUM, halfDay] : [SHORT_SUM]
}

/** A row beside what was expected of it, in everything that does not depend on how sensitive one is. */
export interface Reading {
  t: Instant
  /** The row, and the sums that end with it, beside what was expected; counts are NaN while there are too few rows. */
  compared: readonly Compared[]
  /** The expected root of the row; NaN while there is no history for it. */
  root: number
  scale: Scale | null
  /** Medians of the last day's residuals, at the first row of an hour. */
  levels: readonly number[] | null
  /** The mean of the last rows before this one; NaN before the first. */
  recent: number
  /** In deviations; NaN while there are too few rows. */
  burst: number
  /** In deviations. */
  silence: number
  /** True when slots were left out before this row. */
  afterGap: boolean
}

/** Takes the rows of one series in the order of time and says what each is worth. */
export class Measure {
  readonly stepMs: number
  private readonly slots: WallSlots
  private readonly season: Season
  private readonly burst: Burst
  private readonly burstRows: number
  private readonly silence = new Silence()
  private readonly rows = new RecentSum(SHORT_SUM)
  private readonly sums: readonly RecentSum[]
  private readonly burstSum: RecentSum
  private first = Number.NaN
  private last = Number.NaN
  private lastOffset = Number.NaN
  /** The start of the last row with events. */
  private lively = Number.NaN

  constructor({ stepMs, timezone = 'UTC', sums }: SeriesShape) {
    this.stepMs = Math.max(SECOND_MS, stepMs)
    this.slots = new WallSlots(this.stepMs, timezone)
    const spans = sums ?? sumsFor(this.stepMs)
    this.season = new Season(this.stepMs, [1, ...spans], (slot) => this.slots.isWeekend(slot))
    this.burstRows = Math.max(1, Math.round(BURST_MS / this.stepMs))
    this.burst = new Burst(this.burstRows, Math.max(BURST_DAYS * this.season.calendar.day, BURST_ROWS))
    this.sums = spans.map((rows) => new RecentSum(rows))
    this.burstSum = new RecentSum(this.burstRows)
  }

  /** `t`: the start of the row. Rows come in the order of time. Null for a row whose count isn't known, or not finite. */
  take(t: Instant, value: number | null): Reading | null {
    if (Number.isNaN(this.first)) this.first = t
    const slot = this.slots.slotOf(t)
    if (value === null || !Number.isFinite(value)) return null
    const missing = Number.isNaN(this.last) ? 0 : Math.round((t - this.last) / this.stepMs) - 1
    if (missing >= BRIDGED) this.burstSum.restart()
    // Where clocks change, the last hours are others than the same sum had in earlier weeks.
    const isTorn = missing >= BRIDGED || this.slots.offset !== this.lastOffset
    if (isTorn) for (const sum of this.sums) sum.restart()
    this.lastOffset = this.slots.offset
    this.last = t
    return this.read(t, slot, value, missing > 0)
  }

  /** What is expected of a row that starts at `t`, as a count; NaN while that isn't known. */
  expectedAt(t: Instant): number {
    const root = this.season.expected(this.slots.slotOf(t))
    return Number.isNaN(root) ? root : countOf(root)
  }

  /** When the season and its scale are known, if no row is missing; null when they are. */
  learningUntil(t: Instant): Instant | null {
    if (this.season.scale) return null
    const at = Number.isNaN(this.first) ? t : this.first
    const until = at + this.season.learnedFrom * this.stepMs
    const day = this.season.calendar.day * this.stepMs
    return until > t ? until : until + (Math.floor((t - until) / day) + 1) * day
  }

  /** What was expected of a row; before its season is known, the mean of the rows before it. NaN at the first. */
  expectedOf({ root, recent }: Reading): number {
    return Number.isNaN(root) ? recent : countOf(root)
  }

  /** The count at which rows like the one just taken begin to be a burst of `k`; NaN while that isn't known. */
  burstFrom(k: number, { root }: Reading): number {
    const own = this.burst.sumAt(k)
    const poisson = Number.isNaN(root) ? 0 : countOf(rootOf(this.burstRows * countOf(root)) + k)
    return Math.max(own, poisson) / this.burstRows
  }

  /**
   * How unusual the silence at `now` is, in deviations, between rows as well. `lastEventAt`: the last event, where that
   * is known better than by rows; else it counts as having come at the end of its row.
   */
  silenceAt(now: Instant, lastEventAt: Instant | null = null): number {
    return this.silence.scoreOf(this.missingAt(now, lastEventAt))
  }

  /** How many events were expected in the silence at `now`; as `silenceAt`. */
  missingAt(now: Instant, lastEventAt: Instant | null = null): number {
    if (Number.isNaN(this.last)) return 0
    const end = this.last + this.stepMs
    if (lastEventAt !== null && lastEventAt >= end) return this.expectedIn(lastEventAt, now)
    let more = this.expectedIn(end, now)
    const livelyEnd = this.lively + this.stepMs
    if (lastEventAt !== null && lastEventAt >= this.lively && lastEventAt < livelyEnd) {
      more += this.expectedIn(lastEventAt, livelyEnd)
    }
    return this.silence.missing + more
  }

  /** How many times more events must be missing for a silence to be as unusual as by Poisson's law. */
  get silenceGuard(): number {
    return this.silence.guard
  }

  get bytes(): number {
    const parts = [this.season, this.burst, this.silence, this.rows, ...this.sums, this.burstSum]
    return parts.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  private read(t: Instant, slot: number, count: number, afterGap: boolean): Reading {
    const { isNewDay, levels } = this.season.begin(slot)
    if (isNewDay) this.silence.learn()
    const recent = this.rows.mean()
    this.rows.add(count)
    const compared = this.season.compare(slot, [count, ...this.sums.map((sum) => sum.add(count))])
    const root = compared[0]?.root ?? Number.NaN
    this.silence.add(count, countOf(root))
    if (count > 0) this.lively = t
    const burst = this.burstOf(count, root)
    this.season.remember(slot, compared)
    const [{ scale }, silence] = [this.season, this.silence.score()]
    return { t, compared, root, scale, levels, recent, burst, silence, afterGap }
  }

  private burstOf(count: number, root: number): number {
    const sum = this.burstSum.add(count)
    if (Number.isNaN(sum)) return Number.NaN
    const score = this.burst.score(sum)
    this.burst.remember(sum)
    // Rare by its own history and by Poisson's law.
    return Number.isNaN(root) ? score : Math.min(score, rootOf(sum) - rootOf(this.burstRows * countOf(root)))
  }

  private expectedIn(from: Instant, to: Instant): number {
    let sum = 0
    const end = Math.min(to, from + LOOK_MS)
    for (let at = from; at < end; ) {
      const start = this.last + Math.floor((at - this.last) / this.stepMs) * this.stepMs
      const next = Math.min(end, start + this.stepMs)
      const expected = this.expectedAt(start)
      if (expected > 0) sum += (expected * (next - at)) / this.stepMs
      at = next
    }
    return sum
  }
}
