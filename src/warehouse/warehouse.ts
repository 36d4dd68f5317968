import type { Instant } from '../core/clock.ts'
import type { StoredPage } from '../core/page.ts'
import type { SegmentContent } from '../ingest/segment-content.ts'
import type { EventImport } from './event-import.ts'
import type { Query } from './query.ts'

/** A sealed segment of the spool. */
export interface SealedSegment {
  /** Digits; the later, the larger. */
  name: string
  path: string
  /** What its batches said of the speed of vendors' code. */
  pages?: readonly StoredPage[]
}

/** How far loading has come, for whoever numbers what comes next. */
export interface Loaded {
  has(segment: string): boolean
  /** Name of the newest segment ever loaded; null before the first. */
  last: string | null
  /** Of all events that are stored; 0 when there are none. */
  lastReceivedAt: Instant
  lastSeq: number
}

/** A part of what is stored, which goes as a whole. */
export interface StoredPart {
  /** Unique, and the same for as long as it is there. */
  name: string
  kind: 'events' | 'counts' | 'pages'
  /** Null when it holds several organizations'. */
  orgId: string | null
  /** When the first and the last of it was received; of counts the starts of those minutes. */
  firstAt: Instant
  lastAt: Instant
  rows: number
  bytes: number
  /** True when it is not as it was written: then it is left out of every answer until it is whole again. */
  isDamaged: boolean
}

/** What is on disk of one organization, or its share of a part or of the spool, which it has together with others. */
export interface Piece {
  orgId: string
  /** `runs`: files of a run of a flow test, which are not the warehouse's own. */
  kind: StoredPart['kind'] | 'spool' | 'runs'
  /** When the first of what it holds came in. */
  from: Instant
  bytes: number
  /** The part that it is; null when it can't be dropped for this organization alone. */
  part: string | null
}

/** What was found in events that were looked through for the first time. */
export interface ScanResult<T> {
  rows: T[]
  /** How many events there are, and how many are left. */
  events: number
  left: number
  /**
   * Notes that these were looked through, in the transaction in which `account` writes what was found. False, and nothing
   * is written, when they moved meanwhile: they come again.
   */
  commit(account: () => void): boolean
}

/**
 * Callers' queries that look at little, those that look at much, and those of series that are followed, for which callers and
 * jobs wait: none waits for the others.
 */
export type Lane = 'search' | 'insights' | 'signals'

/**
 * The event history, whatever engine keeps it: all that the rest of the program may ask of one. Asynchronous, so never used
 * inside a SQLite transaction.
 */
export interface Warehouse {
  /**
   * Answers a query with one object a row, columns as named in its SQL, 64-bit integers as numbers, or with what its `read`
   * makes of them. `signal` is the caller's, and ends the query; without it a job asks, which waits for no caller's query.
   * `lane`: when left out, `search` for a caller, and that of jobs.
   * Fails with `unavailable` when the engine does, the signal ends, or it takes too long.
   */
  query<T>(query: Query, signal?: AbortSignal, lane?: Lane): Promise<T[]>
  /** True when events may have been received in the window. Costs nothing, so jobs need not query where nothing came. */
  hasEvents(window: Query['window']): boolean
  /** Queries under way, of jobs too. */
  readonly runningQueries: number

  /**
   * Takes in a sealed segment: `account` writes in the transaction that lists it; `release` is called as soon as queries
   * find its events here instead of in the spool. Dying anywhere and doing it again changes nothing.
   */
  load(segment: SealedSegment, account: (content: SegmentContent) => void, release: () => void): Promise<void>
  /** Deletes the file of a segment that was loaded, once no query reads it any more. */
  discard(segment: SealedSegment): Promise<void>
  readonly loaded: Loaded

  /** Begins to take in events of before. `name`: 16 hexadecimal digits, the same for the same content. */
  importEvents(name: string): EventImport

  /**
   * Answers a query over some of the events that were not looked through yet, those that came first; null when there are
   * none. Events of the spool are looked through once they left it.
   */
  scanNewEvents<T>(query: Query): Promise<ScanResult<T> | null>

  /**
   * Puts in order what has come in: few sorted files for many small ones. What fails costs the rest nothing and is tried
   * again in the next round; the round fails at its end.
   */
  compact(): Promise<void>
  /** Number of merges that failed and wait to be tried again. */
  readonly failingMerges: number
  /** Looks bit by bit, all in a day, whether what is stored is still as it was written, and leaves out what is not. */
  check(): Promise<void>

  /** What is stored, damaged parts too, without what is still in the spool. Parts of events are in the order of `firstAt`. */
  storage(): readonly StoredPart[]
  /** Bytes of all that answers are made from, the spool included. */
  readonly bytes: number
  /** Whose these are; what can't be read is nobody's. */
  pieces(): Promise<Piece[]>
  /** Drops parts, from one moment to the next for all queries that begin; resolves when they are deleted. */
  drop(isDropped: (part: StoredPart) => boolean): Promise<void>

  /**
   * Makes ready to answer, where something is stored, so that the first query need not wait for it. Fails when no query can be
   * answered.
   */
  warm(): Promise<void>
  /** What is under way fails: queries, and writing that is as if it had never begun. */
  interrupt(): void
  close(): void
}

/** The event history, for code that only queries it. */
export type History = Pick<Warehouse, 'query'>

/** Returns the same history for what follows series. */
export function forSignals(history: History): History {
  return { query: (query) => history.query(query, undefined, 'signals') }
}

/** Returns the same history for one caller: the signal ends its queries. */
export function withSignal(history: History, signal: AbortSignal, lane?: Lane): History {
  return { query: (query) => history.query(query, signal, lane) }
}
