import { DAY_MS } from '../core/clock.ts'

/**
 * Columns of the relation `counts`, in order, with their SQL types: one row for each organization, domain, vendor,
 * event, environment and minute in which something counts. Loads of a vendor's code (kind `library`) don't: they go on
 * when a tag no longer sends anything. Minutes of more than 70 days ago are quarters of an hour.
 */
export const COUNT_COLUMNS = {
  orgId: 'VARCHAR',
  domainId: 'VARCHAR',
  vendor: 'VARCHAR',
  event: 'VARCHAR',
  env: 'VARCHAR',
  /** Its start, in ms. */
  minute: 'BIGINT',
  /** Rows, each once however it was sampled. */
  events: 'BIGINT',
  /** Sum of their weights. */
  weight: 'DOUBLE',
  /** Different sessions within the minute; of a quarter of an hour the sum of its minutes. */
  sessions: 'BIGINT',
  /** The weight again where the event is a page view, else 0. */
  pageViews: 'DOUBLE',
} as const

/**
 * The event of everything whose name counts don't keep; its vendor too, where they keep no name of that. Page views are
 * still counted as such: as the vendor `OTHER` would spell them, in small letters.
 */
export const OTHER = '(other)'

/**
 * Minutes are kept so long; later, quarters of an hour. A backtest of 30 days needs them for 5 weeks more, to learn from.
 */
export const MINUTES_MS = 70 * DAY_MS

/** Columns of the relation `parameters` behind those that the query names and `key`, in order, with their SQL types. */
export const PARAMETER_COLUMNS = {
  /** NULL in rows of marks, and of values that the query does not name. */
  value: 'VARCHAR',
  /**
   * In rows of marks alone, https://doi.org/10.46298/dmtcs.3545: a part of a hash of the value, below `MARK_BUCKETS`, and the
   * most zeros that the rest of it began with, plus one.
   */
  bucket: 'INTEGER',
  rank: 'INTEGER',
  events: 'BIGINT',
  weight: 'DOUBLE',
  /** When the last of them was received. */
  lastAt: 'BIGINT',
} as const

/** Estimates from so many buckets are off by 1.04 / √8192 = 1.15 % (one standard deviation). */
export const MARK_BUCKETS = 8192
