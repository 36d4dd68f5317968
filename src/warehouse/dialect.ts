import { PAGE_GROUP_STEPS } from '../core/derived-segments.ts'
import { EVENT_COLUMNS, SEGMENTS, type Segment } from '../core/event.ts'

export type SqlValue = string | number | boolean | null

/**
 * The SQL that differs between engines. Every method takes and returns SQL; values are placeholders of a `Binder`. All
 * other syntax used in queries works in both DuckDB and ClickHouse: `FILTER`, `QUALIFY`, `GROUP BY ALL`, window
 * functions, `any_value`, `array_agg`, `unnest`, `VALUES` and subqueries with an alias in `FROM` and `JOIN`, and
 * materialized CTEs.
 */
export interface Dialect {
  /** The placeholder of a bound value. */
  placeholder(name: string, value: SqlValue): string
  /** A quoted column name. */
  name(name: string): string

  /** The column for a parameter in the relation `events`; NULL if the event lacks the parameter. */
  key(key: string): string
  /** True if `test` is true for the value of at least one parameter. `test` receives the SQL of the value. */
  anyValue(test: (value: string) => string): string
  /**
   * True if `test` is true for the name of at least one parameter in the map `params`. `test` receives the SQL of the
   * name.
   */
  anyName(test: (name: string) => string): string
  /** The column for an event field. */
  field(name: string): string

  /** Partial RE2 match in which `.` does not match a line break. The pattern must be a single group, `(…)`. */
  matches(text: string, pattern: string): string
  /** Replaces every match of a pattern with a literal string. */
  replaceAll(text: string, pattern: string, replacement: string): string
  /** True if `test` is true for any match of any pattern. `test` receives the SQL of the match. */
  anyMatch(text: string, patterns: readonly string[], test: (part: string) => string): string
  /**
   * Decodes unpadded Base64 in the standard or URL-safe alphabet. The length must not be one more than a multiple of
   * four. Quotes, backslashes and non-printable or non-ASCII bytes become spaces. Empty if the bytes are not valid
   * UTF-8.
   */
  base64Decode(text: string): string
  /**
   * Decodes ASCII characters that are percent-encoded or written as `\\u0040`, and leaves everything else unchanged.
   * Never fails.
   */
  percentDecode(text: string): string
  /** Parses a decimal number as a double, infinite on overflow; NULL if the input is not a number. */
  readNumber(text: string): string
  /** Formats a number as in JSON, without `.0` and without `+` in the exponent. */
  numberText(number: string): string
  /** Length in code points. */
  codePoints(text: string): string
  contains(text: string, part: string): string
  startsWith(text: string, part: string): string
  endsWith(text: string, part: string): string
  /** A deterministic hash, at least 0 and less than 2^64. Each engine uses a different function. */
  hash(text: string): string
  /**
   * True for one in `oneIn` (at least 2) units, chosen by their hash. The unit of a row is the first of these texts that
   * is neither NULL nor empty, such as `EVENT_UNIT`; the last one never is. Deterministic: all rows of a unit get the
   * same result, and the units of a sample are also in all larger samples. The result is independent of the remainder
   * of the unit's hash divided by a power of two.
   */
  sampled(unit: readonly string[], oneIn: number): string
  /** Joins the strings that are not NULL. The separator is a literal string. */
  joined(separator: string, texts: readonly string[]): string

  /** Integer division of non-negative numbers. */
  quotient(number: string, divisor: number): string
  /** A number in which only the bit at this position (0 to 30) is set. */
  bit(position: string): string

  /** True if a list contains the string; false if the list is NULL. */
  has(list: string, text: string): string
  /** SELECT items that unnest lists of equal length in parallel, with these column names. */
  rowsOf(lists: Readonly<Record<string, readonly string[]>>): string
  /**
   * SELECT items that produce one row for each parameter in `params` and one for each of these text columns: `key` (the
   * parameter or column name), `value` (may be NULL for a column) and `isField`.
   */
  textRows(fields: readonly string[]): string
  /** An unnamed relation with one row for each object in a list bound as JSON. */
  rowsOfJson(json: string, columns: Readonly<Record<string, 'text' | 'integer'>>): string

  /** Aggregate: true if the test is true in any row. The test must not be NULL. */
  anyTrue(test: string): string
  /** Aggregate: the value in the row with the largest `by`. Ignores rows in which the value or `by` is NULL. */
  argMax(value: string, by: string): string
  /** Aggregate: list of the first `limit` values, ordered by `by`. NULL values are skipped. */
  firstValues(value: string, by: readonly string[], limit: number): string
  /**
   * Aggregate: list of rows with these columns, sorted by each column in turn. With `test`, only rows for which the
   * test is true. NULL or an empty list if there are no rows.
   */
  sortedRows(columns: readonly string[], test?: string): string
  /** Sorts a list returned by `sortedRows` in the same order. */
  sorted(list: string): string
  /**
   * Concatenates the text of each row for which `test` is true, in a list returned by `sortedRows`. `test` and `text`
   * receive the name of the row, whose fields (`row.seq`) are the columns. Empty if the list is NULL.
   */
  rowsText(list: string, test: (row: string) => string, text: (row: string) => string, separator: string): string

  /** A row with these fields, which are accessed as `row.field`. */
  row(fields: Readonly<Record<string, string>>): string
  /** List of the numbers from 1 to `count`; empty for 0. */
  upTo(count: string): string
  /** Maps each item of a list. `item` is the item's name in SQL; nested lists require different names. */
  mapList(list: string, item: string, of: string): string
  /** The items of a list for which `test` is true. */
  filterList(list: string, item: string, test: string): string
  /** The items of a list from one position to another, inclusive. Positions start at 1. */
  slice(list: string, from: string, through: string): string
  /** Aggregate: discrete quantile of the non-NULL values; NULL if there are none. */
  quantile(value: string, share: number): string

  /** Keyword before the parentheses of a CTE that must be inlined wherever it is used. */
  readonly inlined: string
}

/**
 * The unit in which events are sampled: the session, or the event itself if it has none. For `Dialect.sampled`. An event
 * is identified by its number, because reading all ids would cost more than the rest of the test.
 */
export const EVENT_UNIT: readonly string[] = ['sessionId', 'CAST(seq AS VARCHAR)']

/** SQL for the unit of a row, as in `Dialect.sampled`. */
export function unitSql(unit: readonly string[]): string {
  const texts = unit.map((text, at) => (at < unit.length - 1 ? `nullif(${text}, '')` : text))
  return texts.length === 1 ? texts.join('') : `coalesce(${texts.join(', ')})`
}

/** Number of groups into which sampled units are divided to estimate the variance of a sum. */
export const SAMPLE_PARTS = 32

/** SQL for the group of an event's unit, from 0 to `SAMPLE_PARTS` - 1. Independent of `sampled`. */
export const samplePartSql = ({ hash }: Pick<Dialect, 'hash'>): string =>
  `${hash(unitSql(EVENT_UNIT))} % ${SAMPLE_PARTS}`

/** Upper end, exclusive, of the hashes of one in `oneIn` units. */
export const sampleEnd = (oneIn: number): string => String(2n ** 64n / BigInt(oneIn))

/** Start of the time bucket of this length that contains the instant. */
export function bucketOf({ quotient }: Pick<Dialect, 'quotient'>, instant: string, lengthMs: number): string {
  return `${quotient(instant, lengthMs)} * ${lengthMs}`
}

/** SELECT items for the columns of `events` that are computed from stored columns. */
export function derivedColumns({ numberText, replaceAll }: Pick<Dialect, 'numberText' | 'replaceAll'>): string {
  // The patterns contain no quotes.
  const pageGroup = PAGE_GROUP_STEPS.reduce(
    (group, [pattern, replacement]) => replaceAll(group, `'${pattern}'`, replacement),
    'path',
  )
  return `${numberText('version')} AS release, ${pageGroup} AS pageGroup`
}

/** SELECT items for a complete event (`StoredEvent`) of the relation `events`. Requires `wholeParams`. */
export function wholeEvent({ row }: Pick<Dialect, 'row'>): string {
  const segments = Object.fromEntries(SEGMENTS.map((name) => [name, name])) as Record<Segment, string>
  const own = Object.keys(EVENT_COLUMNS).filter((name) => !Object.hasOwn(segments, name))
  return [...own, `${row(segments)} AS segments`, 'params'].join(', ')
}

/** False for a string with NUL or lone surrogates. Stored strings never contain them, and SQL can't express them. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
