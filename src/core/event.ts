import type { Instant } from './clock.ts'

/**
 * `event`: decoded from a vendor's request; `hit`: a request that no decoder could read; `tag`: a tag manager's report
 * on one of its tags; `library`: a load of a vendor's code.
 */
export type EventKind = 'event' | 'hit' | 'tag' | 'library'
export type Environment = 'prod' | 'dev'
export const EVENT_STATUSES = ['ok', 'failure', 'exception', 'timeout', 'blocked'] as const
export type EventStatus = (typeof EVENT_STATUSES)[number]

/**
 * Properties of the visitor, the page and the release of an event, used to find out who is affected by a problem. Null
 * means "unknown". Each has its own column in the relation `events`.
 */
export const SEGMENTS = [
  'browser',
  'browserVersion',
  'os',
  'device',
  'language',
  'release',
  'pageGroup',
  'consent',
  'visitor',
  'country',
] as const
export type Segment = (typeof SEGMENTS)[number]

/**
 * `browser`: family, such as `Safari`; `browserVersion`: its major version; `os`: family; `device`: `desktop`, `phone`,
 * `tablet` or `bot`; `language`: ISO 639 code; `release`: `version` as a string; `pageGroup`: the path with ids replaced
 * (`/product/:id`); `consent`: `granted`, `denied` or `unknown`; `visitor`: `new` or `returning`; `country`: ISO 3166-1
 * alpha-2 code.
 */
export type Segments = Readonly<Record<Segment, string | null>>

export const NO_SEGMENTS: Segments = {
  browser: null,
  browserVersion: null,
  os: null,
  device: null,
  language: null,
  release: null,
  pageGroup: null,
  consent: 'unknown',
  visitor: null,
  country: null,
}

/** The segments that the sender of a batch determines; the others depend on the page or on the event. */
export type VisitorSegments = Pick<Segments, 'browser' | 'browserVersion' | 'os' | 'device' | 'language' | 'country'>

/** An event. Field names are the same in the API, the spool, Parquet and JSON. Null means "unknown". */
export interface StoredEvent {
  /** Sequence number in order of arrival, unique in an installation. Increases with `receivedAt`. Always below 2^53. */
  seq: number
  /** The sender's id, or `evt_<seq>`. If the sender provided no id, this is empty until the event is stored. */
  id: string
  /** Time of the event, corrected for the sender's clock skew. */
  ts: Instant
  /**
   * Time when the collector received the event. Never decreases from one event to the next. Alert windows use this
   * time.
   */
  receivedAt: Instant
  orgId: string
  domainId: string
  env: Environment
  vendor: string
  /** The vendor's name for the event; empty for `hit`. */
  event: string
  account: string | null
  kind: EventKind
  /** Host of the page. `path` excludes the query string. */
  host: string | null
  path: string | null
  title: string | null
  sessionId: string | null
  /** Hash of the sender's customer id, using the organization's salt. */
  customerId: string | null
  status: EventStatus | null
  execMs: number | null
  durMs: number | null
  bytes: number | null
  version: number | null
  /** Events may share this object. */
  segments: Segments
  /** 1 / sampling rate. Counts are sums of weights. */
  weight: number
  /** Ids of the alerts whose rules the event violated on arrival; null if there are none. */
  violations: string[] | null
  params: Record<string, string>
}

/** Segments that are computed from other fields and therefore not stored. */
export const DERIVED_SEGMENTS = ['release', 'pageGroup'] as const satisfies readonly Segment[]

/**
 * Stored columns of the relation `events` except `params`, in order, with their SQL types. Each segment has its own
 * column.
 */
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
  browser: 'VARCHAR',
  browserVersion: 'VARCHAR',
  os: 'VARCHAR',
  device: 'VARCHAR',
  language: 'VARCHAR',
  consent: 'VARCHAR',
  visitor: 'VARCHAR',
  country: 'VARCHAR',
  weight: 'DOUBLE',
  violations: 'VARCHAR[]',
} as const satisfies Record<
  Exclude<keyof StoredEvent, 'params' | 'segments'> | Exclude<Segment, (typeof DERIVED_SEGMENTS)[number]>,
  string
>

/** SQL condition that is true for failed events; NULL if the status is unknown. */
export const FAILED_SQL = `status IN ('failure', 'exception', 'timeout')`
