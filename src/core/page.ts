import type { Instant } from './clock.ts'
import type { Environment } from './event.ts'

/** Measurements of one vendor's requests in one page view: a row of the relation `pages`. Null means "not known". */
export interface StoredPage {
  /** Id of the page view, shared by its rows and unique in an installation. Below 2^53. */
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
  /** A page view without vendors has one row, with an empty vendor and 0 requests. */
  vendor: string
  /** The vendor's host. */
  vendorHost: string
  requests: number
  /** Duration in milliseconds of each request, where the browser reports it. */
  durMs: number[]
  /** Milliseconds that the vendor's code blocked the main thread; null where the browser does not report it. */
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
