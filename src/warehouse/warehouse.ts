import type { Instant } from '../core/clock.ts'
import type { StoredPage } from '../core/page.ts'
import type { SegmentContent } from '../ingest/segment-content.ts'
import type { EventImport } from './event-import.ts'
import type { Query } from './query.ts'

/** A sealed segment of the spool. */
export interface SealedSegment {
  /** Digits, increasing over time. */
  name: string
  path: string
  /** Page timings of its batches. */
  pages?: readonly StoredPage[]
}

/** State of loading, from which the spool continues its numbering. */
export interface Loaded {
  has(segment: string): boolean
  /** Name of the newest segment ever loaded; null before the first. */
  last: string | null
  /** Highest values of all stored events; 0 without events. */
  lastReceivedAt: Instant
  lastSeq: number
}

/** A part of the stored data, which is deleted as a whole. */
export interface StoredPart {
  /** Unique and stable. */
  name: string
  kind: 'events' | 'counts' | 'pages'
  /** Null when it has data of several organizations. */
  orgId: string | null
  /** First and last `receivedAt`; for counts, the starts of those minutes. */
  firstAt: Instant
  lastAt: Instant
  rows: number
  bytes: number
  /** True when it is damaged, and excluded from all answers until it is intact again. */
  isDamaged: boolean
}

/** Disk usage of one organization: a part, or its share of a common part or of the spool. */
export interface Piece {
  orgId: string
  /** `runs`: files of a flow test run, which are stored outside the warehouse. */
  kind: StoredPart['kind'] | 'spool' | 'runs'
  /** First `receivedAt`. */
  from: Instant
  bytes: number
  /** Name of the part; null when it can't be deleted for this organization alone. */
  part: string | null
}

/** Result of scanning new events. */
export interface ScanResult<T> {
  rows: T[]
  /** Number of scanned events, and of those still to be scanned. */
  events: number
  left: number
  /**
   * Marks these events as scanned, in the transaction in which `account` writes the result. Returns false, writing nothing,
   * when their files were replaced in the meantime; they are then scanned again.
   */
  commit(account: () => void): boolean
}

/**
 * Separate queues for callers' cheap queries, callers' expensive queries, and queries of monitored series. None waits for
 * another.
 */
export type Lane = 'search' | 'insights' | 'signals'

/**
 * The event history, independent of the engine. Asynchronous, so it must not be used inside a SQLite transaction.
 */
export interface Warehouse {
  /**
   * Runs a query. Returns one object per row, with columns as named in the SQL and 64-bit integers as numbers, or what its
   * `read` returns. Throws `unavailable` when the engine fails, the signal aborts or the time limit is exceeded.
   * @param signal aborts a caller's query. Without it the query runs in the lane of jobs, which waits for no caller
   * @param lane default: `search` for callers
   */
  query<T>(query: Query, signal?: AbortSignal, lane?: Lane): Promise<T[]>
  /** True when events may have been received in the window. Cheap, so jobs can skip queries. */
  hasEvents(window: Query['window']): boolean
  /** Number of running queries, including those of jobs. */
  readonly runningQueries: number

  /**
   * Loads a sealed segment. `account` writes in the transaction that lists it; `release` is called as soon as queries find
   * its events here instead of in the spool. Idempotent and crash-safe.
   */
  load(segment: SealedSegment, account: (content: SegmentContent) => void, release: () => void): Promise<void>
  /** Deletes the file of a loaded segment when no query reads it any more. */
  discard(segment: SealedSegment): Promise<void>
  readonly loaded: Loaded

  /** Starts an import of past events. `name`: 16 hexadecimal digits, derived from the content. */
  importEvents(name: string): EventImport

  /**
   * Runs a query over the oldest events that were not scanned yet; null when there are none. Events in the spool are
   * scanned after they are loaded.
   */
  scanNewEvents<T>(query: Query): Promise<ScanResult<T> | null>

  /**
   * Merges many small files into few sorted ones. A failed merge does not affect the others and is retried in the next
   * round; the call then rejects at its end.
   */
  compact(): Promise<void>
  /** Number of failed merges waiting for a retry. */
  readonly failingMerges: number
  /** Checks the next stored files, all within a day, and excludes damaged ones. */
  check(): Promise<void>

  /** Stored parts, including damaged ones but not the spool. Parts of events are sorted by `firstAt`. */
  storage(): readonly StoredPart[]
  /** Size in bytes, including the spool. */
  readonly bytes: number
  /** Stored bytes by organization. Unreadable files are omitted. */
  pieces(): Promise<Piece[]>
  /** Drops parts atomically for new queries. Resolves when they are deleted. */
  drop(isDropped: (part: StoredPart) => boolean): Promise<void>

  /**
   * Starts the engine if events are stored, so that the first query need not wait. Throws when the engine can't start.
   */
  warm(): Promise<void>
  /** Cancels running queries and writes. A cancelled write has no effect. */
  interrupt(): void
  close(): void
}

/** The event history, for code that only queries it. */
export type History = Pick<Warehouse, 'query'>

/** Returns the same history for queries of monitored series. */
export function forSignals(history: History): History {
  return { query: (query) => history.query(query, undefined, 'signals') }
}

/** Returns the same history for one caller, whose queries the signal aborts. */
export function withSignal(history: History, signal: AbortSignal, lane?: Lane): History {
  return { query: (query) => history.query(query, signal, lane) }
}
