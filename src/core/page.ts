import type { Instant } from './clock.ts'
import type { Environment } from './event.ts'

/** What one page view measured of one vendor's requests: a row of the relation `pages`. Null means "not known". */
export interface StoredPage {
  /** The same for all rows of one page view, unique in an installation. Below 2^53. */
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
  /** True when the browser reports long animation frames, from which `blockMs` is measured. */
  loaf: boolean
  /** Empty, with 0 requests, in the one row of a page without any vendor. */
  vendor: string
  /** The vendor's host. */
  vendorHost: string
  requests: number
  /** Duration in milliseconds of each request for which the browser reports one. */
  durMs: number[]
  /** Milliseconds for which its code blocked the main thread; null where the browser does not report them. */
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
