import type { Instant } from './clock.ts'

/** `event`: an event decoded from a vendor's request; `hit`: a request that no decoder could read; `tag`: a tag manager's
 * report on one of its tags; `library`: the vendor's code being loaded. */
export type EventKind = 'event' | 'hit' | 'tag' | 'library'
export type Environment = 'prod' | 'dev'
export const EVENT_STATUSES = ['ok', 'failure', 'exception', 'timeout', 'blocked'] as const
export type EventStatus = (typeof EVENT_STATUSES)[number]

/** One event as it is spelled everywhere: on the wire, in the spool, in Parquet, in JSON. Null means "not known". */
export interface StoredEvent {
  /** Order of arrival, unique in an installation; grows with `receivedAt`. Below 2^53. */
  seq: number
  /** The sender's id, or `evt_<seq>`; empty until it is stored when the sender gave none. */
  id: string
  /** When it happened, corrected by the sender's clock skew. */
  ts: Instant
  /** When the collector received it. Never decreases from one event to the next; alert windows are cut by it. */
  receivedAt: Instant
  orgId: string
  domainId: string
  env: Environment
  vendor: string
  /** The vendor's event name; empty for `hit`. */
  event: string
  account: string | null
  kind: EventKind
  /** Host and path of the page; its query string is not kept. */
  host: string | null
  path: string | null
  title: string | null
  sessionId: string | null
  /** Hash of the sender's customer id, salted for each organization. */
  customerId: string | null
  status: EventStatus | null
  execMs: number | null
  durMs: number | null
  bytes: number | null
  version: number | null
  /** 1 / sampling rate. Counts are sums of this. */
  weight: number
  /** Ids of the alerts whose rule this event broke when it arrived; null when none. */
  violations: string[] | null
  params: Record<string, string>
}

/** Columns of the relation `events` beside `params`, in order, with their SQL types. */
export const EVENT_COLUMNS = {
  seq: 'BIGINT',
  id: 'VARCHAR',
  ts: 'BIGINT',
  receivedAt: 'BIGINT',
  orgId: 'VARCHAR',
  domainId: 'VARCHAR',
  env: 'VARCHAR',
  vendor: 'VARCHAR',
  event: 'VARCHAR',
  account: 'VARCHAR',
  kind: 'VARCHAR',
  host: 'VARCHAR',
  path: 'VARCHAR',
  title: 'VARCHAR',
  sessionId: 'VARCHAR',
  customerId: 'VARCHAR',
  status: 'VARCHAR',
  execMs: 'DOUBLE',
  durMs: 'DOUBLE',
  bytes: 'DOUBLE',
  version: 'DOUBLE',
  weight: 'DOUBLE',
  violations: 'VARCHAR[]',
} as const satisfies Record<Exclude<keyof StoredEvent, 'params'>, string>

/** SQL that is true of an event that failed; of events whose status is unknown it is NULL. */
export const FAILED_SQL = `status IN ('failure', 'exception', 'timeout')`
