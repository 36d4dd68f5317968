import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/**
 * Length of a tick. Silences are evaluated at the end of each tick. A row is a whole number of ticks, or shorter than
 * one tick.
 */
export const TICK_MS = 5 * MINUTE_MS
/** Row length of signals. */
export const SIGNAL_STEP_MS = HOUR_MS
/** The vendor of a scope that covers every signal of a domain. */
export const ALL_SIGNALS = '*'

/** A range of time: `from <= t < to`. */
export interface Span {
  from: Instant
  to: Instant
}

/** A count over time, in rows. */
export interface Series {
  orgId: string
  domainId: string
  /** Null for all vendors. */
  vendor: string | null
  /** Null for all events of the vendor. */
  event: string | null
  /** Length of a row. */
  stepMs: number
  /** Rows begin at multiples of their length plus this offset; 0 when absent. */
  offsetMs?: number
  /** The time zone for the season's hours and weekdays. */
  timezone: string
}

/**
 * A series to monitor, with its sensitivity. The vendor may be `*`: each signal (an event name of a vendor) separately,
 * and all events of the domain together, in hourly rows.
 */
export interface SeriesScope extends Series {
  /** Deviations, 2 to 8. For `*`: applies to signals without a sensitivity setting. */
  sensitivity: number
}

/** Row lengths in minutes. The longest one that divides the period is used. */
const ROW_MINUTES = [60, 30, 15, 10, 5, 1]

/** Returns the row length for evaluating windows of this length. */
export function stepMsFor(periodMs: number): number {
  return (ROW_MINUTES.find((minutes) => periodMs % (minutes * MINUTE_MS) === 0) ?? 1) * MINUTE_MS
}

/** Returns a key of the series, independent of its row length. */
export function seriesKey({ orgId, domainId, vendor, event }: Omit<Series, 'stepMs' | 'timezone'>): string {
  return JSON.stringify([orgId, domainId, vendor, event])
}

/** Returns the start of the row that contains an instant. Rows are counted from 1970. */
export function rowStart({ stepMs, offsetMs = 0 }: Pick<Series, 'stepMs' | 'offsetMs'>, instant: Instant): Instant {
  return Math.floor((instant - offsetMs) / stepMs) * stepMs + offsetMs
}

export const tickBefore = (instant: Instant) => Math.floor(instant / TICK_MS) * TICK_MS

/** Minimum row length for the longer learning time. */
const LONG_STEP_MS = 15 * MINUTE_MS
const WEEK_MS = 7 * DAY_MS

/**
 * A period of 4 weeks (1 week for short rows), after which the learned state of a series is discarded. The state is
 * relearned from the 8 weeks (4 for short rows) before the block. Therefore, a verdict depends only on the counts and
 * the end of its row, never on when the program began to monitor the series.
 */
export interface Block {
  /** Rows and ticks that end in `from <= t < to`. */
  from: Instant
  to: Instant
  /** Start of the block's history, at the start of a row. */
  anchor: Instant
}

/**
 * Returns the block that contains the rows and ticks ending at `instant`. Each series has its own block boundaries, so
 * that blocks do not end all at once.
 */
export function blockAt(series: Series, instant: Instant): Block {
  const [blockMs, historyMs] = series.stepMs >= LONG_STEP_MS ? [4 * WEEK_MS, 8 * WEEK_MS] : [WEEK_MS, 4 * WEEK_MS]
  const phaseMs = (Bun.hash.xxHash32(seriesKey(series)) % (blockMs / HOUR_MS)) * HOUR_MS
  const from = Math.floor((instant - phaseMs) / blockMs) * blockMs + phaseMs
  return { from, to: from + blockMs, anchor: rowStart(series, from - historyMs) }
}

/** Returns the blocks that contain the rows and ticks ending in `from < t <= to`, in order. */
export function blocksOf(series: Series, { from, to }: Span): Block[] {
  const blocks: Block[] = []
  for (let at = from + 1; at <= to; ) {
    const block = blockAt(series, at)
    blocks.push(block)
    at = block.to
  }
  return blocks
}
