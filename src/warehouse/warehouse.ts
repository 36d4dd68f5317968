import type { Instant } from '../core/clock.ts'
import type { StoredPage } from '../core/stored-page-view.ts'
import type { SegmentContent } from '../ingest/segment-counts.ts'
import type { EventImport } from './event-import.ts'
import type { Query } from './query.ts'

/** A sealed segment of the spool. */
export interface SealedSegment {
  /** Consists of digits, and increases over time. */
  name: string
  path: string
  /** Page timings in the segment's batches. */
  pages?: readonly StoredPage[]
}

/** State of loading, from which the spool continues its numbering. */
export interface Loaded {
  has(segment: string): boolean
  /** Name of the newest segment ever loaded; null before the first. */
  last: string | null
  /** Highest values among all stored events; 0 without events. */
  lastReceivedAt: Instant
  lastSeq: number
}

/** A part of the stored data that is deleted as a whole. */
export interface StoredPart {
  /** Unique and stable name of the part. */
  name: string
  kind: 'events' | 'counts' | 'pages'
  /** Null if the part has data from several organizations. */
  orgId: string | null
  /** First and last `receivedAt`; for counts, the starts of the first and last minute. */
  firstAt: Instant
  lastAt: Instant
  rows: number
  bytes: number
  /** True if the part is damaged. It is excluded from all query results until it is intact again. */
  isDamaged: boolean
}

/**
 * Disk usage of one organization: a part, or the organization's fraction of a shared part or of the spool. Several
 * organizations may have pieces of the same part, which is then deleted for all of them.
 */
export interface Piece {
  orgId: string
  /** `runs`: files of a flow test run. They are stored outside the warehouse. */
  kind: StoredPart['kind'] | 'spool' | 'runs'
  /** First `receivedAt` of the data. */
  from: Instant
  bytes: number
  /** Name of the part; null if it can't be deleted. */
  part: string | null
  /** State of the database server that stores the data; omitted for data on the disk of this machine. */
  server?: 'reachable' | 'away'
}

/** Result of scanning new events. */
export interface ScanResult<T> {
  rows: T[]
  /** Number of scanned events, and of events that remain to be scanned. */
  events: number
  left: number
  /**
   * Marks these events as scanned, and runs `account` to write the result in the same transaction. If the events' files
   * were replaced in the meantime, returns false without writing anything, and the events are scanned again.
   */
  commit(account: () => void): boolean
}

/** Events that are loaded but not stored where queries find them. */
export interface PendingEvents {
  /** Time at which the first of them was received; null if there are none. */
  since: Instant | null
  /** Queries find all loaded events up to this number. */
  visibleSeq: number
}

/**
 * Separate queues for callers' cheap queries, callers' expensive queries, and queries of monitored series. A query
 * never waits for a query in another lane.
 */
export type Lane = 'search' | 'insights' | 'signals'

/** Answers to queries on the stored events. */
export interface History {
  /**
   * Runs a query. Returns one object per row: columns are named as in the SQL, and 64-bit integers are numbers. If the
   * query has `read`, returns the results of `read` instead. Throws `unavailable` if the engine fails, the signal
   * aborts or the time limit is exceeded.
   * @param signal aborts a caller's query. Without a signal, the query runs in the lane for jobs, which does not wait
   * for callers
   * @param lane default for callers: `search`
   */
  query<T>(query: Query, signal?: AbortSignal, lane?: Lane): Promise<T[]>
}

/** Receives events. */
interface Intake {
  /**
   * Loads a sealed segment. `account` writes in the transaction that adds the segment's files to the manifest.
   * `release` is called as soon as the segment's events are stored elsewhere than in the spool. Idempotent and
   * crash-safe.
   */
  load(segment: SealedSegment, account: (content: SegmentContent) => void, release: () => void): Promise<void>
  /** Deletes the file of a loaded segment once no query reads it any more. */
  discard(segment: SealedSegment): Promise<void>
  readonly loaded: Loaded

  /** Starts an import of past events. `name`: 16 hexadecimal digits derived from the content. */
  importEvents(name: string): EventImport

  /** True if queries find events as soon as they are in the spool. If false, only events of loaded segments. */
  readonly readsSpool: boolean
  /** Loaded events that queries don't find yet. */
  readonly pending: PendingEvents

  /**
   * Runs a query on the oldest events that have not been scanned yet. Returns null if there are none. Events in the
   * spool are scanned after they are loaded.
   */
  scanNewEvents<T>(query: Query): Promise<ScanResult<T> | null>
}

/** Keeps the stored events in order: their size, age and integrity. */
interface Storage {
  /**
   * Merges many small files into a few sorted files. A failed merge does not affect other merges and is retried in the
   * next round. In this case, the promise rejects once all other merges are done.
   */
  compact(): Promise<void>
  /** Number of failed merges that will be retried. */
  readonly failingMerges: number
  /** Checks the next stored files, and excludes damaged files. All files are checked within a day. */
  check(): Promise<void>

  /** Stored parts, including damaged parts but excluding the spool. Parts with events are sorted by `firstAt`. */
  storage(): readonly StoredPart[]
  /** Size in bytes, including the spool, but excluding data on a server that is away. */
  readonly bytes: number
  /** Stored bytes by organization. Unreadable files are omitted. Those of a database server are estimates. */
  pieces(): Promise<Piece[]>
  /**
   * Drops parts, atomically for new queries. Resolves when the parts are deleted.
   * @param orgIds organizations whose data is also deleted from parts that they share with others, if the engine never
   * separates them
   */
  drop(isDropped: (part: StoredPart) => boolean, orgIds?: ReadonlySet<string>): Promise<void>
}

/**
 * The event history, independent of the engine. Its methods are asynchronous, so they must not be used inside a SQLite
 * transaction.
 */
export interface Warehouse extends History, Intake, Storage {
  /**
   * True if any events may have been received in the window. The check is cheap, so jobs can use it to skip queries.
   */
  hasEvents(window: Query['window']): boolean
  /** Number of running queries, including those of jobs. */
  readonly runningQueries: number

  /**
   * Checks that the engine answers. Parts of the engine that have not been started yet are not checked. Throws the error
   * of the engine, which may contain paths.
   */
  probe(): Promise<void>
  /**
   * Starts the engine if any events are stored, so that the first query doesn't have to wait. Throws if the engine
   * can't start.
   */
  warm(): Promise<void>
  /** Cancels running queries and writes. A cancelled write leaves no trace. */
  interrupt(): void
  close(): void
}

/** Returns the same history for queries of monitored series. */
export function forSignals(history: History): History {
  return { query: (query) => history.query(query, undefined, 'signals') }
}

/** Returns the same history for one caller. The signal aborts the caller's queries. */
export function withSignal(history: History, signal: AbortSignal, lane?: Lane): History {
  return { query: (query) => history.query(query, signal, lane) }
}
