import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/** Silences are looked for at the end of each. Rows are whole ticks, or shorter. */
export const TICK_MS = 5 * MINUTE_MS
/** The rows of signals. */
export const SIGNAL_STEP_MS = HOUR_MS
/** As the vendor of a scope: every signal of a domain. */
export const EVERY = '*'

/** A stretch of time: `from <= t < to`. */
export interface Span {
  from: Instant
  to: Instant
}

/** The count of one thing over time, cut into rows. */
export interface Series {
  orgId: string
  domainId: string
  /** Null: all vendors. */
  vendor: string | null
  /** Null: all events of the vendor. */
  event: string | null
  /** Length of a row. */
  stepMs: number
  /** Rows begin at multiples of their length plus this; 0 when absent. */
  offsetMs?: number
  /** Whose hours and weekdays the season follows. */
  timezone: string
}

/**
 * What is to be followed, and how. The vendor may be `*`: each event of each vendor that is a signal, by itself, and all
 * events of the domain together; its rows are hours.
 */
export interface SeriesScope extends Series {
  /** Deviations, 2 to 8. Of `*`: of the signals that have none of their own. */
  sensitivity: number
}

/** Minutes; the longest that divides a period is what its rows are. */
const STEPS = [60, 30, 15, 10, 5, 1]

/** How long the rows are by which windows of such a length are judged. */
export function stepMsFor(periodMs: number): number {
  return (STEPS.find((minutes) => periodMs % (minutes * MINUTE_MS) === 0) ?? 1) * MINUTE_MS
}

/** Equal for two series that are the same, whatever the length of their rows. */
export function nameOf({ orgId, domainId, vendor, event }: Omit<Series, 'stepMs' | 'timezone'>): string {
  return JSON.stringify([orgId, domainId, vendor, event])
}

/** Starts of rows are counted from 1970. */
export function rowStart({ stepMs, offsetMs = 0 }: Pick<Series, 'stepMs' | 'offsetMs'>, instant: Instant): Instant {
  return Math.floor((instant - offsetMs) / stepMs) * stepMs + offsetMs
}

export const tickBefore = (instant: Instant) => Math.floor(instant / TICK_MS) * TICK_MS

/** Rows of this length or longer are learned from over a longer time. */
const LONG_STEP_MS = 15 * MINUTE_MS
const WEEK_MS = 7 * DAY_MS

/**
 * What is learned of a series is thrown away at the end of each block of 4 weeks (1 week where rows are short) and made
 * anew from the 8 (4) weeks before the block. So what is said of a row depends on the counts and on its end, and never
 * on when the program began to follow the series.
 */
export interface Block {
  /** Rows and ticks that end in `from <= t < to`. */
  from: Instant
  to: Instant
  /** Where its history begins: the start of a row. */
  anchor: Instant
}

/** The block of the rows and ticks that end at `instant`. Series have blocks of their own, so that they end one by one. */
export function blockAt(series: Series, instant: Instant): Block {
  const [blockMs, historyMs] = series.stepMs >= LONG_STEP_MS ? [4 * WEEK_MS, 8 * WEEK_MS] : [WEEK_MS, 4 * WEEK_MS]
  const phaseMs = (Bun.hash.xxHash32(nameOf(series)) % (blockMs / HOUR_MS)) * HOUR_MS
  const from = Math.floor((instant - phaseMs) / blockMs) * blockMs + phaseMs
  return { from, to: from + blockMs, anchor: rowStart(series, from - historyMs) }
}

/** The blocks of the rows and ticks that end in `from < t <= to`, in order. */
export function blocksOf(series: Series, { from, to }: Span): Block[] {
  const blocks: Block[] = []
  for (let at = from + 1; at <= to; ) {
    const block = blockAt(series, at)
    blocks.push(block)
    at = block.to
  }
  return blocks
}
