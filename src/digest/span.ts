import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

interface Window {
  from: Instant
  to: Instant
}

/** The times that a digest is about. */
export interface DigestSpan {
  /** The 24 hours before it is composed, up to the end of the present minute. */
  window: Window
  /** The same hours a week earlier. */
  before: Window
  /** The 7 days before the 24 hours: what came then is not new. */
  days: Window
}

const WEEK_MS = 7 * DAY_MS

/** Counts are kept by the minute, so it begins and ends with one. */
export function spanOf(at: Instant): DigestSpan {
  const to = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS
  const from = to - DAY_MS
  return {
    window: { from, to },
    before: { from: from - WEEK_MS, to: to - WEEK_MS },
    days: { from: from - WEEK_MS, to: from },
  }
}
