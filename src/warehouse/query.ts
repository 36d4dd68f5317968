import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Dialect, SqlValue } from './dialect.ts'

/** Tests whether any parameter of an event matches. */
export interface AnyTest {
  /** Column of `events` that contains the result. */
  column: string
  /**
   * Returns the SQL that tests a parameter with this name (null for any name). `{value}` represents the parameter's
   * value.
   */
  of(key: string | null): string
  /**
   * A weaker test on the JSON text of all parameters (`{value}`): true for every event that has a matching parameter.
   * If this is given and `where` uses the column, files that store the text may use this test instead of `of`. The
   * column may then be true for other events as well.
   */
  text?: string
}

/** A query in one engine's SQL. The binder that was used to write it contains its values. */
export interface Statement {
  /**
   * A single `SELECT` (no leading `WITH`) over the relation named by `over`. Every bound placeholder must occur in this
   * SELECT, in `where` or in `anyTests`.
   */
  sql: string
  /** Parameters to read, each available as the column `dialect.key(k)`. Only for `events`. Default: none. */
  keys?: readonly string[]
  /** True to read the whole map `params`, which is far slower than reading a few keys. */
  wholeParams?: boolean
  /** Tests on any parameter, each with its own column. Far faster than searching the map. */
  anyTests?: readonly AnyTest[]
  /**
   * The same condition as `where`, as a list of alternatives that each test one column or one of `anyTests`. Tests on
   * text are then evaluated separately, which is far faster if values repeat.
   */
  either?: readonly string[]
  /** SQL condition on columns of `events` except `params`. Events are filtered before their maps are built. */
  where?: string
  /** Required for `parameters`. */
  form?: ParameterForm
}

/**
 * Form of the relation `parameters`, which counts non-blank parameters of all events except loads of a vendor's code.
 * Its columns are those in `by`, `key` and `PARAMETER_COLUMNS`. Several rows may have the same key and must be added
 * up. An engine may return only some keys at a time, so the query's order and limit apply only to those keys.
 */
export interface ParameterForm {
  /**
   * Columns of `events` to group by; at least one. `samplePart`: the group of the event's unit, as in `samplePartSql`,
   * which must be last and is not an item of `among`.
   */
  by: readonly ('domainId' | 'vendor' | 'event' | 'env' | 'samplePart')[]
  /** Only these keys. */
  only?: readonly string[]
  /** All keys except these. */
  except?: readonly string[]
  /** `values`: a row for each value; `marks`: rows of a sketch that estimates the number of distinct values. */
  as: 'values' | 'marks'
  /**
   * Only for `values`. Restricts these lists, each identified by the values of `by` and a key, to the given values. All
   * other values in such a list share one row in which `value` is NULL.
   */
  among?: readonly { list: readonly string[]; values: readonly string[] }[]
}

/** Masks personal data in the data that a query reads. */
export interface Masking {
  /**
   * Returns `anyTests` and `where` that match at least every event that `mask` changes. They may match other events as
   * well.
   */
  candidates(binder: Binder): Required<Pick<Statement, 'anyTests' | 'where'>>
  /** Returns the event with personal data masked. */
  mask<E extends Omit<StoredEvent, 'orgId'>>(event: E): E
  /** Returns a vendor or event name with personal data masked. */
  maskName(name: string, field: 'vendor' | 'event'): string
}

interface QueryOptions {
  /**
   * Only for `events` and `counts`. The query reads masked values instead of stored ones, so its tests, order and
   * counts reveal nothing that is hidden. Other relations are not affected. If absent, the query reads the stored
   * values.
   */
  masking?: Masking
  /**
   * The relation to read. `events` (default): all events. `counts`: events by minute, with `COUNT_COLUMNS`. `pages`:
   * timings of vendors' code reported by browsers, one row per page view and vendor, with `PAGE_COLUMNS`. `names`: each
   * distinct parameter `name`, possibly including names outside the window (cheaper than reading all keys).
   * `parameters`: counts of parameter values in the statement's `form`.
   */
  over?: 'events' | 'counts' | 'pages' | 'names' | 'parameters'
  /** Organization whose events the query reads; null for all (jobs only). */
  orgId: string | null
  /**
   * Only for `counts`: resolution in milliseconds. The query does not distinguish shorter intervals, and its window is
   * a multiple of the resolution, so rows may cover this much time. Default: one minute.
   */
  stepMs?: number
  /**
   * Restricts the query to events with `from <= receivedAt < to`; for `counts`, to minutes that begin in this range.
   */
  window: { from: Instant; to: Instant }
  /** Writes the SQL. Pure. `binder.dialect` provides syntax that is specific to an engine. */
  write(binder: Binder): Statement
  /**
   * Maps each row of the result, in order. Rows mapped to null are skipped. For filters that SQL can't express. Only a
   * few rows are in memory at a time, and the event loop runs in between.
   */
  read?(row: never): unknown
}

declare const named: unique symbol

/**
 * A query on the event history. The warehouse builds the relation for the query, so the query does not depend on the
 * engine or the files. Only the function `query` creates this type.
 */
export interface Query extends QueryOptions {
  readonly [named]: true
  /** Name of the form `room.noun`, used to list the queries whose results are compared between engines. */
  readonly name: string
}

/** Creates a query. The name must be a literal, so that all names can be listed from the code. */
export function query(name: string, parts: QueryOptions): Query {
  return { name, ...parts } as Query
}

/** Restricts a query to events that pass all tests. Tests are SQL on columns of `events` except `params`. */
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

/** A query in an engine's SQL, with the values of its placeholders. */
export interface WrittenQuery extends Statement {
  params: Readonly<Record<string, SqlValue>>
}

export function writeQuery(query: Query, dialect: Dialect): WrittenQuery {
  const binder = new Binder(dialect)
  return { ...query.write(binder), params: binder.params }
}

/**
 * Longer lists are bound as a single JSON value. Planning a query with 10,000 values takes 0.25 s each time the list
 * occurs.
 */
const MAX_LISTED = 1000

/** Collects bound values while SQL is written, so that external strings never become SQL. */
export class Binder {
  readonly params: Record<string, SqlValue> = {}
  private count = 0

  constructor(
    readonly dialect: Dialect,
    private readonly prefix = 'p',
  ) {}

  /** Returns a placeholder for the value. */
  bind(value: SqlValue): string {
    const name = `${this.prefix}${this.count++}`
    this.params[name] = value
    return this.dialect.placeholder(name, value)
  }

  /**
   * Returns tests (to be joined with AND) that a column has one of these values. An empty list of values means all, and
   * returns no tests.
   */
  among(column: string, values: readonly string[]): string[] {
    if (values.length === 0) return []
    if (values.length <= MAX_LISTED) return [`${column} IN (${values.map((value) => this.bind(value)).join(', ')})`]
    const rows = this.dialect.rowsOfJson(this.bind(JSON.stringify(values.map((one) => ({ one })))), { one: 'text' })
    return [`${column} IN (SELECT one FROM ${rows} AS listed)`]
  }
}
