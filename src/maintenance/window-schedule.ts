import { instantAt, type LocalMs, localTimeAt } from '../calendars/local-time.ts'
import { Recurrence } from '../calendars/recurrence.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'

/** When a window is in force: `from <= t < to`, and again at the times of the rule. */
export interface WindowTimes {
  from: Instant
  to: Instant
  /** RRULE; null for a window that is in force once. */
  rrule: string | null
  timezone: string
}

export interface Occurrence {
  from: Instant
  to: Instant
}

/** Clocks are never set by more than this at once. */
const MAX_CLOCK_CHANGE_MS = 25 * HOUR_MS
/** Time range in which the occurrences of a new window must not overlap. */
const CHECKED_MS = 2 * 366 * DAY_MS

/**
 * The occurrences of a window. They begin and end at the same local times, so a window from 22:00 to 06:00 lasts an hour
 * more or less when clocks change. Occurrences don't overlap.
 */
export class WindowSchedule {
  private readonly rule: Recurrence | null
  private readonly start: LocalMs
  private readonly length: number
  /** The last answer of `at`, which is the same from `from` to `to`. */
  private known: (Occurrence & { answer: Occurrence | null }) | null = null

  /** Throws `invalid`, with a message without the field's name, for an invalid rule. */
  constructor(private readonly times: WindowTimes) {
    const { from, to, rrule, timezone } = times
    this.start = localTimeAt(from, timezone)
    this.length = localTimeAt(to, timezone) - this.start
    this.rule = rrule === null ? null : Recurrence.parse(rrule, this.start, timezone, { hourly: true })
  }

  /** Throws `invalid`, with a message without the field's name, for a rule that is costly or overlaps itself. */
  check(): void {
    this.rule?.checkCost()
    const starts = this.rule?.between(this.start, this.start + CHECKED_MS) ?? []
    const overlaps = starts.some((start, index) => index > 0 && start - (starts[index - 1] ?? 0) < this.length)
    if (overlaps) throw new AppError('invalid', 'the window would begin again before it has ended')
  }

  /** Returns the occurrence in force at an instant; null when there is none. Repeated calls are fast. */
  at(instant: Instant): Occurrence | null {
    const { known } = this
    if (known && instant >= known.from && instant < known.to) return known.answer
    const before = this.lastBegun(instant)
    const answer = before && instant < before.to ? before : null
    const [next] = answer ? [] : this.next(instant, 1)
    this.known = { from: answer?.from ?? instant, to: answer?.to ?? next?.from ?? Number.POSITIVE_INFINITY, answer }
    return answer
  }

  /** Returns up to `count` occurrences that end after an instant, including one in force. */
  next(after: Instant, count: number): Occurrence[] {
    return this.within({ from: after, to: Number.POSITIVE_INFINITY }, count)
  }

  /** Returns the first `count` occurrences of which any part is in `from <= t < to`. */
  within({ from: after, to }: Occurrence, count: number): Occurrence[] {
    const found: Occurrence[] = []
    const from = this.lastBegun(after)?.from ?? this.times.from
    let start: LocalMs | null = localTimeAt(from, this.times.timezone)
    for (; start !== null && found.length < count; start = this.rule?.nextAfter(start) ?? null) {
      const occurrence = this.occurrenceAt(start)
      if (occurrence.from >= to) break
      if (occurrence.to > after) found.push(occurrence)
    }
    return found
  }

  private lastBegun(instant: Instant): Occurrence | null {
    const { from, to, timezone } = this.times
    if (instant < from) return null
    if (!this.rule) return { from, to }
    let start = this.rule.lastAt(localTimeAt(instant, timezone) + MAX_CLOCK_CHANGE_MS)
    while (start !== null) {
      const occurrence = this.occurrenceAt(start)
      if (occurrence.from <= instant) return occurrence
      start = this.rule.lastAt(start - 1)
    }
    return null
  }

  private occurrenceAt(start: LocalMs): Occurrence {
    const { from, to, timezone } = this.times
    // The first occurrence is given as instants, which may be in an hour that clocks show twice.
    if (start === this.start) return { from, to }
    return { from: instantAt(start, timezone), to: instantAt(start + this.length, timezone) }
  }
}

const schedules = new Map<string, WindowSchedule>()
const MAX_SCHEDULES = 1000

/** Returns the schedule of a valid window. Schedules are cached, because reading a rule takes longer than using it. */
export function scheduleOf({ from, to, rrule, timezone }: WindowTimes): WindowSchedule {
  const key = JSON.stringify([from, to, rrule, timezone])
  const known = schedules.get(key)
  if (known) return known
  if (schedules.size >= MAX_SCHEDULES) schedules.clear()
  const schedule = new WindowSchedule({ from, to, rrule, timezone })
  schedules.set(key, schedule)
  return schedule
}
