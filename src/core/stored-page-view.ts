import type { Instant } from './clock.ts'
import type { Environment } from './event.ts'

/** Measurements of one vendor's requests in one page view: a row in the relation `pages`. Null means "unknown". */
export interface StoredPage {
  /** Id of the page view. The same in all rows of the page view, unique in an installation, and always below 2^53. */
  page: number
  ts: Instant
  receivedAt: Instant
  orgId: string
  domainId: string
  env: Environment
  host: string | null
  path: string | null
  sessionId: string | null
  version: number | null
  /** 1 / sampling rate. */
  weight: number
  /** True if the browser reports long animation frames, which are used to measure `blockMs`. */
  loaf: boolean
  /** Name of the vendor. A page view without vendors has a single row, with an empty vendor and 0 requests. */
  vendor: string
  /** The vendor's host. */
  vendorHost: string
  requests: number
  /** Duration of each request in milliseconds, if the browser reports it. */
  durMs: number[]
  /**
   * Time in milliseconds for which the vendor's code blocked the main thread; null if the browser does not report it.
   */
  blockMs: number | null
  bytes: number | null
}

/** Columns of the relation `pages`, in order, with their SQL types. */
export const PAGE_COLUMNS = {
  page: 'BIGINT',
  ts: 'BIGINT',
  receivedAt: 'BIGINT',
  orgId: 'VARCHAR',
  domainId: 'VARCHAR',
  env: 'VARCHAR',
  host: 'VARCHAR',
  path: 'VARCHAR',
  sessionId: 'VARCHAR',
  version: 'DOUBLE',
  weight: 'DOUBLE',
  loaf: 'BOOLEAN',
  vendor: 'VARCHAR',
  vendorHost: 'VARCHAR',
  requests: 'BIGINT',
  durMs: 'DOUBLE[]',
  blockMs: 'DOUBLE',
  bytes: 'DOUBLE',
} as const satisfies Record<keyof StoredPage, string>
