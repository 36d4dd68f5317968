export type SqlValue = string | number | boolean | null

/**
 * The SQL that differs between engines. Every method takes and returns SQL; values are placeholders of a `Binder`. All
 * other syntax that queries use works in both DuckDB and ClickHouse: `FILTER`, `QUALIFY`, `GROUP BY ALL`, windows,
 * `any_value`, `array_agg`, `unnest`, `VALUES` and subqueries in `FROM` and `JOIN` with an alias, materialized CTEs.
 */
export interface Dialect {
  /** The placeholder of a bound value. */
  placeholder(name: string, value: SqlValue): string
  /** A quoted column name. */
  name(name: string): string

  /** The column of a parameter in the relation `events`; NULL where the event lacks it. */
  key(key: string): string
  /** True when `test` holds for the value of at least one parameter. `test` gets the SQL of one value. */
  anyValue(test: (value: string) => string): string
  /** True when `test` holds for the name of at least one parameter of the map `params`. `test` gets the SQL of one name. */
  anyName(test: (name: string) => string): string
  /** The column of an event field. */
  field(name: string): string

  /** RE2 partial match, in which `.` does not match a line break. The pattern must be one group, `(…)`. */
  matches(text: string, pattern: string): string
  /** Replaces every match of a pattern with a plain text. */
  replaceAll(text: string, pattern: string, replacement: string): string
  /** True when `test` holds for any match of any of the patterns. `test` gets the SQL of the match. */
  anyMatch(text: string, patterns: readonly string[], test: (part: string) => string): string
  /**
   * Decodes unpadded Base64 of either alphabet, whose length must not be a multiple of four plus one. Quotes, backslashes
   * and bytes other than printable ASCII become spaces. Empty when the bytes are not UTF-8 text.
   */
  base64Decode(text: string): string
  /** Decodes percent-encoded ASCII characters and those written as `\\u0040`; leaves the rest unchanged. Never fails. */
  percentDecode(text: string): string
  /** Parses a decimal number as a double, infinite on overflow; NULL when it is not a number. */
  readNumber(text: string): string
  /** Formats a number as in JSON, without `.0` and without `+` in the exponent. */
  numberText(number: string): string
  /** Length in code points. */
  codePoints(text: string): string
  contains(text: string, part: string): string
  startsWith(text: string, part: string): string
  endsWith(text: string, part: string): string
  /** A deterministic hash from 0 to below 2^64. Engines use different functions. */
  hash(text: string): string
  /** Joins the texts that are not NULL; the separator is a plain text. */
  joined(separator: string, texts: readonly string[]): string

  /** Integer division of non-negative numbers. */
  quotient(number: string, divisor: number): string
  /** The number with only the bit at this position set, 0 to 30. */
  bit(position: string): string

  /** True when a list contains the text; false when the list is NULL. */
  has(list: string, text: string): string
  /** SELECT items that unnest lists of equal length in parallel, under these names. */
  rowsOf(lists: Readonly<Record<string, readonly string[]>>): string
  /**
   * SELECT items that make a row for each parameter of `params` and for each of these text columns: `key` (or the column's
   * name), `value` (a column's may be NULL) and `isField`.
   */
  textRows(fields: readonly string[]): string
  /** An unnamed relation with one row for each object of a list that is bound as JSON. */
  rowsOfJson(json: string, columns: Readonly<Record<string, 'text' | 'integer'>>): string

  /** Aggregate: true when the test is true in any row. The test must not be NULL. */
  anyTrue(test: string): string
  /** Aggregate: the value in the row with the largest `by`, of rows in which neither is NULL. */
  argMax(value: string, by: string): string
  /** Aggregate: list of the first `limit` values in the order of `by`. NULL values are skipped. */
  firstValues(value: string, by: readonly string[], limit: number): string
  /**
   * Aggregate: list of rows of these columns, sorted by the columns in turn. With `test`, only rows for which it holds; NULL
   * or an empty list without any.
   */
  sortedRows(columns: readonly string[], test?: string): string
  /** Sorts a list of such rows in the same order. */
  sorted(list: string): string
  /**
   * Joins the text of each row of such a list for which `test` holds. Both get a name whose fields (`row.seq`) are the
   * columns. Empty when the list is NULL.
   */
  rowsText(list: string, test: (row: string) => string, text: (row: string) => string, separator: string): string

  /** A row with these fields, which are accessed as `row.field`. */
  row(fields: Readonly<Record<string, string>>): string
  /** List of the numbers from 1 to `count`; empty for 0. */
  upTo(count: string): string
  /** Maps each item of a list. `item` is its name in SQL; nested lists need different names. */
  mapList(list: string, item: string, of: string): string
  /** The items of a list for which `test` holds. */
  filterList(list: string, item: string, test: string): string
  /** The items of a list from one position through another, starting at 1. */
  slice(list: string, from: string, through: string): string
  /** Aggregate: discrete quantile of the values that are not NULL; NULL without any. */
  quantile(value: string, share: number): string

  /** Keyword before the parentheses of a CTE that is to be inlined wherever it is used. */
  readonly inlined: string
}

/** Start of the time bucket of this length that contains an instant. */
export function bucketOf({ quotient }: Pick<Dialect, 'quotient'>, instant: string, lengthMs: number): string {
  return `${quotient(instant, lengthMs)} * ${lengthMs}`
}

/** False for a text with NUL or lone surrogates, which stored texts never contain and SQL can't express. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
