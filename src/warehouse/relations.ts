import { DAY_MS } from '../core/clock.ts'

/**
 * Columns of the relation `counts`, in order, with their SQL types: one row for each organization, domain, vendor, event,
 * environment and minute with events. Loads of a vendor's code (kind `library`) are not counted, because they continue
 * when a tag stops sending. After 70 days, rows are quarters of an hour.
 */
export const COUNT_COLUMNS = {
  orgId: 'VARCHAR',
  domainId: 'VARCHAR',
  vendor: 'VARCHAR',
  event: 'VARCHAR',
  env: 'VARCHAR',
  /** Start of the minute in ms. */
  minute: 'BIGINT',
  /** Number of stored events, regardless of sampling. */
  events: 'BIGINT',
  /** Sum of their weights. */
  weight: 'DOUBLE',
  /** Distinct sessions within the minute; for a quarter of an hour, the sum over its minutes. */
  sessions: 'BIGINT',
  /** The weight if the event is a page view, else 0. */
  pageViews: 'DOUBLE',
} as const

/**
 * Event name of all events whose names are not tracked in counts; also the vendor name, where no name of that vendor is
 * tracked. Page views are still counted as such.
 */
export const OTHER = '(other)'

/** Retention of minutes; older counts are quarters of an hour. A 30-day backtest also learns from the 5 weeks before. */
export const MINUTES_MS = 70 * DAY_MS

/** Number of HyperLogLog buckets: a standard error of 1.04 / √8192 = 1.15 %. */
export const MARK_BUCKETS = 8192
