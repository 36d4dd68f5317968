import { DAY_MS, type Instant } from '../core/clock.ts'

/** 1970-01-01 was a Thursday; Sunday is 0. */
const FIRST_WEEKDAY = 4

/**
 * Numbers the slots of a series by local time, from 0 at the first instant. So the same hour of the week is always the
 * same number of slots apart; when clocks go forward slots are skipped, and when they go back slots repeat.
 */
export class WallSlots {
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

  /** Looks up a time zone's rules only where they change. */
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
