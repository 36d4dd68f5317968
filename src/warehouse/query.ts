import type { Instant } from '../core/clock.ts'

export type SqlValue = string | number | boolean | null

/** A test of which it is asked whether any parameter of an event passes it. */
export interface AnyTest {
  /** The column of `events` that says so. */
  column: string
  /** Of a parameter of this name, null: of any, the test as SQL in which `{value}` stands for its value. */
  of(key: string | null): string
}

/**
 * A question to the event history, as a value. The warehouse builds the relation `events`, `counts` or `pages` for it, so that the
 * text is written once, whatever engine and files stand behind.
 */
export interface Query {
  /** One `SELECT` (no leading `WITH`) over the relation that `over` names. Every name in `params` occurs in it, `where` or `anyTests`, as `$name`. */
  sql: string
  /**
   * `events` (also when left out); `counts`: events by minute, of which `COUNT_COLUMNS` says what is known; or `pages`:
   * what browsers said of the speed of vendors' code, a row a page and vendor, as in `PAGE_COLUMNS`.
   */
  over?: 'events' | 'counts' | 'pages'
  params: Record<string, SqlValue>
  /** Parameters it reads, each as the column `dialect.key(k)`; only `events` has any. */
  keys: readonly string[]
  /** True when it reads the whole map `params`, which costs far more than a few keys. */
  wholeParams?: boolean
  /** Tests on any parameter, each as the column that it names. Far cheaper than to look through the map. */
  anyTests?: readonly AnyTest[]
  /** SQL on columns of `events` beside `params`: all other events are left out, before maps are made of them. */
  where?: string
  /** The organization whose events it sees; null (jobs only): every organization's. */
  orgId: string | null
  /** Only events with `from <= receivedAt < to`; of `counts` only minutes that begin there, so these are whole ones. */
  window: { from: Instant; to: Instant }
  /**
   * What becomes of a row of the answer, in its order; null: it is left out. For what SQL can't tell: of many rows few are
   * in memory at once, and others have their turn in between.
   */
  read?(row: never): unknown
}

/** The seam to the event history. Asynchronous, so never used inside a SQLite transaction. */
export interface Warehouse {
  /**
   * Answers a query with one object a row, columns as named in its SQL, 64-bit integers as numbers, or with what its `read`
   * makes of them. `signal` is that of whoever asks, and ends the query; without it a job asks, which waits for no question.
   * Fails with `unavailable` when the engine does, or the signal ends.
   */
  query<T>(query: Query, signal?: AbortSignal): Promise<T[]>
}

/** The same history for one question: its queries end with the signal. */
export function askedWith(warehouse: Pick<Warehouse, 'query'>, signal: AbortSignal): Pick<Warehouse, 'query'> {
  return { query: (query) => warehouse.query(query, signal) }
}

/** Collects values while SQL is written, so that no text from outside ever becomes SQL. */
export class Binder {
  readonly params: Record<string, SqlValue> = {}
  private count = 0

  constructor(private readonly prefix = 'p') {}

  /** Answers the placeholder that stands for the value: `$p0`. */
  bind(value: SqlValue): string {
    const name = `${this.prefix}${this.count++}`
    this.params[name] = value
    return `$${name}`
  }

  /** Tests, to be joined by AND, that a column has one of these values: none for an empty list, which means all. */
  among(column: string, values: readonly string[]): string[] {
    return values.length > 0 ? [`${column} IN (${values.map((value) => this.bind(value)).join(', ')})`] : []
  }
}
