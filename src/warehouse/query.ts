import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Dialect, SqlValue } from './dialect.ts'

/** A test of which it is asked whether any parameter of an event passes it. */
export interface AnyTest {
  /** The column of `events` that says so. */
  column: string
  /** Of a parameter of this name, null: of any, the test as SQL in which `{value}` stands for its value. */
  of(key: string | null): string
  /**
   * A test of the JSON text of all parameters, for which `{value}` stands, that every event passes of which a parameter
   * passes. Where it is given, and `where` names the column, files that keep that text may answer it in place of `of`: the
   * column is then true for others, too.
   */
  text?: string
}

/** A query in the SQL of one engine, but for its values, which are in the binder that it was written with. */
export interface Statement {
  /**
   * One `SELECT` (no leading `WITH`) over the relation that `over` names. Every placeholder that was bound occurs in it, in
   * `where` or in `anyTests`.
   */
  sql: string
  /** Parameters it reads, each as the column `dialect.key(k)`; only `events` has any. Left out: none. */
  keys?: readonly string[]
  /** True when it reads the whole map `params`, which costs far more than a few keys. */
  wholeParams?: boolean
  /** Tests on any parameter, each as the column that it names. Far cheaper than to look through the map. */
  anyTests?: readonly AnyTest[]
  /**
   * The same as `where`, as tests of which one must hold, each of one column or of `anyTests`. Where tests are answered by a
   * text, they are put one after the other, which costs far less where values repeat.
   */
  either?: readonly string[]
  /** SQL on columns of `events` beside `params`: all other events are left out, before maps are made of them. */
  where?: string
  /** Of `parameters`, which always says it. */
  form?: ParameterForm
}

/**
 * What the relation `parameters` counts: parameters that are not blank, of all events but loads of a vendor's code. Its
 * columns are those of `by`, `key`, and `PARAMETER_COLUMNS`. Several rows may be about the same and are to be added up. An
 * engine may answer for some keys at a time, so that an order or a limit of the query holds for those alone.
 */
export interface ParameterForm {
  /** Columns of `events` that are told apart, one at least. */
  by: readonly ('domainId' | 'vendor' | 'event' | 'env')[]
  /** Only these keys. */
  only?: readonly string[]
  /** All keys but these. */
  except?: readonly string[]
  /** `values`: a row for each value; `marks`: rows from which different values are estimated, however many there are. */
  as: 'values' | 'marks'
  /**
   * Of `values`: of these lists, each named by the values of `by` and a key, only the values that are given for its key have
   * rows of their own; all others of a list are one row with `value` NULL.
   */
  among?: readonly { list: readonly string[]; values: readonly string[] }[]
}

/** How personal data is hidden from a query. */
export interface Masking {
  /** Returns tests that every event passes which `mask` changes; others may pass, too. For `anyTests` and `where` of a statement. */
  candidates(binder: Binder): Required<Pick<Statement, 'anyTests' | 'where'>>
  /** Returns the event with personal data masked. */
  mask<E extends Omit<StoredEvent, 'orgId'>>(event: E): E
  /** Returns a name of a vendor or an event with personal data masked. */
  maskName(name: string, field: 'vendor' | 'event'): string
}

interface QueryOptions {
  /**
   * Of `events` and `counts`: the query sees masked values in place of those that are stored, so its tests, its order and
   * its counts say nothing of what is hidden. Other relations are not affected. Absent: it sees what is stored.
   */
  masking?: Masking
  /**
   * `events` (also when left out); `counts`: events by minute, of which `COUNT_COLUMNS` says what is known; `pages`:
   * what browsers said of the speed of vendors' code, a row a page and vendor, as in `PAGE_COLUMNS`; `names`: each
   * `name` of a parameter that occurs, once, and perhaps some that occur only outside the window (to know which keys to
   * read costs less than to read them all); or `parameters`: how often parameters had which values, as the statement's
   * `form` says.
   */
  over?: 'events' | 'counts' | 'pages' | 'names' | 'parameters'
  /** The organization whose events it sees; null (jobs only): every organization's. */
  orgId: string | null
  /**
   * Of `counts`: nothing shorter is told apart by the query than spans that begin at multiples of so many ms, and the window
   * is made of such; so rows may be of whole ones. Left out: of minutes.
   */
  stepMs?: number
  /** Only events with `from <= receivedAt < to`; of `counts` only minutes that begin there, so these are whole ones. */
  window: { from: Instant; to: Instant }
  /** Pure; what differs between engines comes from `binder.dialect`. */
  write(binder: Binder): Statement
  /**
   * What becomes of a row of the answer, in its order; null: it is left out. For what SQL can't tell: of many rows few are
   * in memory at once, and others have their turn in between.
   */
  read?(row: never): unknown
}

declare const named: unique symbol

/**
 * A query of the event history, as a value. The warehouse builds the relation for it, so that it is written once, whatever
 * engine and files stand behind. Made by `query` only.
 */
export interface Query extends QueryOptions {
  readonly [named]: true
  /** By what it is known in the list of those that every engine answers the same: `room.noun`. */
  readonly name: string
}

/** A query of this name, which is written out where it is called, so that a list of all can be made from the code. */
export function query(name: string, parts: QueryOptions): Query {
  return { name, ...parts } as Query
}

/** The same query without the events that fail one of these tests: SQL on columns of `events` beside `params`. */
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

/** More values are bound as one: to plan a query with ten thousand takes a quarter of a second for each place of it. */
const MAX_LISTED = 1000

/** Collects values while SQL is written for an engine, so that no text from outside ever becomes SQL. */
export class Binder {
  readonly params: Record<string, SqlValue> = {}
  private count = 0

  constructor(
    readonly dialect: Dialect,
    private readonly prefix = 'p',
  ) {}

  /** Answers the placeholder that stands for the value. */
  bind(value: SqlValue): string {
    const name = `${this.prefix}${this.count++}`
    this.params[name] = value
    return this.dialect.placeholder(name, value)
  }

  /** Tests, to be joined by AND, that a column has one of these values: none for an empty list, which means all. */
  among(column: string, values: readonly string[]): string[] {
    if (values.length === 0) return []
    if (values.length <= MAX_LISTED) return [`${column} IN (${values.map((value) => this.bind(value)).join(', ')})`]
    const rows = this.dialect.rowsOfJson(this.bind(JSON.stringify(values.map((one) => ({ one })))), { one: 'text' })
    return [`${column} IN (SELECT one FROM ${rows} AS listed)`]
  }
}
