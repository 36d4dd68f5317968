import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Dialect, SqlValue } from './dialect.ts'

/** A test whether any parameter of an event matches. */
export interface AnyTest {
  /** Column of `events` with the result. */
  column: string
  /** SQL of the test for a parameter with this name (null for any), with `{value}` for its value. */
  of(key: string | null): string
  /**
   * A weaker test of the JSON text of all parameters (`{value}`): true for every event with a matching parameter. If given,
   * and if `where` uses the column, files that store this text may use it instead of `of`. The column may then be true for
   * other events, too.
   */
  text?: string
}

/** A query in the SQL of one engine. Its values are in the binder that it was written with. */
export interface Statement {
  /**
   * A single `SELECT` (no leading `WITH`) over the relation named by `over`. Every bound placeholder must occur in it, in
   * `where` or in `anyTests`.
   */
  sql: string
  /** Parameters to read, each as the column `dialect.key(k)`; only for `events`. Default: none. */
  keys?: readonly string[]
  /** True to read the whole map `params`, which costs far more than a few keys. */
  wholeParams?: boolean
  /** Tests on any parameter, each with its column. Far cheaper than searching the map. */
  anyTests?: readonly AnyTest[]
  /**
   * The same condition as `where`, as alternatives that each test one column or one of `anyTests`. Text tests are then
   * evaluated separately, which is far cheaper when values repeat.
   */
  either?: readonly string[]
  /** SQL condition on columns of `events` except `params`. Filters events before their maps are built. */
  where?: string
  /** Required for `parameters`. */
  form?: ParameterForm
}

/**
 * Form of the relation `parameters`, which counts non-blank parameters of all events except loads of a vendor's code. Its
 * columns are those of `by`, `key` and `PARAMETER_COLUMNS`. Rows with the same key may repeat and must be added up. An
 * engine may answer for some keys at a time, so an order or limit of the query applies to those only.
 */
export interface ParameterForm {
  /** Columns of `events` to group by, at least one. */
  by: readonly ('domainId' | 'vendor' | 'event' | 'env')[]
  /** Only these keys. */
  only?: readonly string[]
  /** All keys except these. */
  except?: readonly string[]
  /** `values`: a row for each value; `marks`: rows of a sketch that estimates the number of distinct values. */
  as: 'values' | 'marks'
  /**
   * For `values`: in these lists, each identified by the values of `by` and a key, only the given values have separate rows.
   * All other values of a list share one row with `value` NULL.
   */
  among?: readonly { list: readonly string[]; values: readonly string[] }[]
}

/** Masks personal data in a query. */
export interface Masking {
  /** Returns `anyTests` and `where` that match every event that `mask` changes; other events may match, too. */
  candidates(binder: Binder): Required<Pick<Statement, 'anyTests' | 'where'>>
  /** Returns the event with personal data masked. */
  mask<E extends Omit<StoredEvent, 'orgId'>>(event: E): E
  /** Returns a name of a vendor or an event with personal data masked. */
  maskName(name: string, field: 'vendor' | 'event'): string
}

interface QueryOptions {
  /**
   * For `events` and `counts`: the query sees masked values instead of stored ones, so its tests, order and counts reveal
   * nothing that is hidden. Other relations are not affected. Absent: the query sees the stored values.
   */
  masking?: Masking
  /**
   * The relation to read. `events` (default); `counts`: events by minute, with `COUNT_COLUMNS`; `pages`: timings of
   * vendors' code reported by browsers, a row per page view and vendor, with `PAGE_COLUMNS`. `names`: each distinct
   * parameter `name`, possibly including some outside the window (cheaper than reading all keys). `parameters`: counts
   * of parameter values in the statement's `form`.
   */
  over?: 'events' | 'counts' | 'pages' | 'names' | 'parameters'
  /** Organization whose events the query sees; null for all (jobs only). */
  orgId: string | null
  /**
   * For `counts`: resolution in ms. The query distinguishes no shorter spans, and the window is a multiple of it, so rows may
   * be that coarse. Default: one minute.
   */
  stepMs?: number
  /** Only events with `from <= receivedAt < to`; for `counts`, minutes that begin in this range. */
  window: { from: Instant; to: Instant }
  /** Writes the SQL. Pure; engine-specific syntax comes from `binder.dialect`. */
  write(binder: Binder): Statement
  /**
   * Maps a row of the answer, in order; null skips it. For filters that SQL can't express: only a few rows are in memory at a
   * time, and the event loop is yielded in between.
   */
  read?(row: never): unknown
}

declare const named: unique symbol

/**
 * A query of the event history. The warehouse builds the relation for it, so it is independent of engine and files. Created
 * by `query` only.
 */
export interface Query extends QueryOptions {
  readonly [named]: true
  /** Name in the list of queries that are compared between engines: `room.noun`. */
  readonly name: string
}

/** Creates a query. The name must be a literal, so that all names can be listed from the code. */
export function query(name: string, parts: QueryOptions): Query {
  return { name, ...parts } as Query
}

/** Restricts a query to events that pass all tests: SQL on columns of `events` except `params`. */
export function narrowed(query: Query, tests: readonly string[]): Query {
  if (tests.length === 0) return query
  return {
    ...query,
    write(binder) {
      const statement = query.write(binder)
      const { where } = statement
      return { ...statement, where: [...(where === undefined ? [] : [`(${where})`]), ...tests].join(' AND ') }
    },
  }
}

/** A query in the SQL of an engine, with the values of its placeholders. */
export interface WrittenQuery extends Statement {
  params: Readonly<Record<string, SqlValue>>
}

export function writeQuery(query: Query, dialect: Dialect): WrittenQuery {
  const binder = new Binder(dialect)
  return { ...query.write(binder), params: binder.params }
}

/** More values are bound as one JSON list: planning a query with 10,000 values takes 0.25 s for each occurrence. */
const MAX_LISTED = 1000

/** Collects bound values while SQL is written, so that no external text becomes SQL. */
export class Binder {
  readonly params: Record<string, SqlValue> = {}
  private count = 0

  constructor(
    readonly dialect: Dialect,
    private readonly prefix = 'p',
  ) {}

  /** Returns the placeholder of the value. */
  bind(value: SqlValue): string {
    const name = `${this.prefix}${this.count++}`
    this.params[name] = value
    return this.dialect.placeholder(name, value)
  }

  /** Returns tests (to be joined by AND) that a column has one of these values; none for an empty list, which means all. */
  among(column: string, values: readonly string[]): string[] {
    if (values.length === 0) return []
    if (values.length <= MAX_LISTED) return [`${column} IN (${values.map((value) => this.bind(value)).join(', ')})`]
    const rows = this.dialect.rowsOfJson(this.bind(JSON.stringify(values.map((one) => ({ one })))), { one: 'text' })
    return [`${column} IN (SELECT one FROM ${rows} AS listed)`]
  }
}
