import type { Instant } from '../core/clock.ts'
import { instantsOfDay } from './local-time.ts'

interface Span {
  from: Instant
  to: Instant
}

/** The holidays in a time range. */
export interface HolidaysWithin {
  /** Equal for equal holidays. */
  key: string
  isHoliday(instant: Instant): boolean
}

/** The holidays of an organization. */
export class Holidays {
  /** In order and without overlaps. Consecutive days are separate. */
  private readonly spans: readonly Span[]
  private readonly known = new Map<string, HolidaysWithin>()

  /** `days`: dates as `YYYY-MM-DD`, which begin and end at midnight in the time zone. */
  constructor(days: Iterable<string>, timezone: string) {
    this.spans = [...new Set(days)].sort().map((day) => instantsOfDay(day, timezone))
  }

  /** Returns the holidays of which any part is in `from <= t < to`; null when there are none. */
  within(from: Instant, to: Instant): HolidaysWithin | null {
    const first = this.endedBefore(from)
    const last = this.begunBefore(to)
    if (first >= last) return null
    const place = `${first} ${last}`
    const known = this.known.get(place) ?? this.some(first, last)
    this.known.set(place, known)
    return known
  }

  private some(first: number, last: number): HolidaysWithin {
    const spans = this.spans.slice(first, last)
    const isHoliday = (instant: Instant) => {
      const at = countWhile(spans, ({ from }) => from <= instant) - 1
      return instant < (spans[at]?.to ?? Number.NEGATIVE_INFINITY)
    }
    return { key: spans.map(({ from, to }) => `${from.toString(36)}+${(to - from).toString(36)}`).join(' '), isHoliday }
  }

  private endedBefore(instant: Instant): number {
    return countWhile(this.spans, ({ to }) => to <= instant)
  }

  private begunBefore(instant: Instant): number {
    return countWhile(this.spans, ({ from }) => from < instant)
  }
}

/** Returns the number of leading items for which the test is true. It must be true for none after the first false. */
function countWhile<T>(items: readonly T[], test: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item !== undefined && test(item)) low = middle + 1
    else high = middle
  }
  return low
}
