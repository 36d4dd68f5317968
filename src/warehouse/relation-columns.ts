import { DAY_MS } from '../core/clock.ts'

/**
 * Columns of the relation `counts`, in order, with their SQL types. The relation has one row for each organization,
 * domain, vendor, event, environment and minute with events. Loads of a vendor's code (kind `library`) are not counted,
 * because they continue after a tag stops sending. After 70 days, rows cover quarter-hours.
 */
export const COUNT_COLUMNS = {
  orgId: 'VARCHAR',
  domainId: 'VARCHAR',
  vendor: 'VARCHAR',
  event: 'VARCHAR',
  env: 'VARCHAR',
  /** Start of the minute, in milliseconds since the Unix epoch. */
  minute: 'BIGINT',
  /** Number of stored events, not adjusted for sampling. */
  events: 'BIGINT',
  /** Sum of the events' weights. */
  weight: 'DOUBLE',
  /** Number of distinct sessions within the minute; for a quarter-hour, the sum over its minutes. */
  sessions: 'BIGINT',
  /** Sum of the weights of page views. */
  pageViews: 'DOUBLE',
} as const

/**
 * Event name in counts for all events whose names are not tracked. Also replaces their vendor name if no name of that
 * vendor is tracked. Page views are still counted as page views.
 */
export const OTHER = '(other)'

/**
 * Retention of counts by minute; older counts are by quarter-hour. Long enough for a 30-day backtest, which also learns
 * from the 5 weeks before its start.
 */
export const MINUTES_MS = 70 * DAY_MS

/** Number of HyperLogLog buckets, for a standard error of 1.04 / √8192 = 1.15 %. */
export const MARK_BUCKETS = 8192
