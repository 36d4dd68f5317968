export type SqlValue = string | number | boolean | null

/**
 * What differs between engines, and nothing else. Every method takes and gives SQL; values come in as placeholders of a
 * `Binder`. What queries use beside it, both DuckDB and ClickHouse understand: `FILTER`, `QUALIFY`, `GROUP BY ALL`, windows,
 * `any_value`, `array_agg`, `unnest`, `VALUES` and subqueries in `FROM` and `JOIN` with an alias, materialized CTEs.
 */
export interface Dialect {
  /** What stands for a bound value. */
  placeholder(name: string, value: SqlValue): string
  /** A name of a column. */
  name(name: string): string

  /** The column that holds one parameter in the relation `events`; NULL where the event lacks it. */
  key(key: string): string
  /** True when `test` holds for the value of at least one parameter. `test` gets the SQL of one value. */
  anyValue(test: (value: string) => string): string
  /** True when `test` holds for the name of at least one parameter of the map `params`. `test` gets the SQL of one name. */
  anyName(test: (name: string) => string): string
  /** The column that holds a field of the event itself. */
  field(name: string): string

  /** RE2 partial match, in which `.` is no line break. The pattern must be one group, `(…)`. */
  matches(text: string, pattern: string): string
  /** Every match of a pattern replaced by a plain text. */
  replaceAll(text: string, pattern: string, replacement: string): string
  /** Whether `test` holds for one of the parts that match one of the patterns; it gets the SQL of the part. */
  anyMatch(text: string, patterns: readonly string[], test: (part: string) => string): string
  /**
   * Base64 of either alphabet without its padding, whose length is no multiple of four plus one. Bytes that are no printable
   * ASCII, and quotes and backslashes, become spaces. Empty when the bytes are no text in UTF-8.
   */
  base64Decode(text: string): string
  /** Percent-encoded ASCII characters, and those written as `\\u0040`, decoded, everything else as it was. Never fails. */
  percentDecode(text: string): string
  /** The text as a double, infinite when there is none so large; NULL for what is no decimal number. */
  readNumber(text: string): string
  /** The text of a number as JSON spells it, without `.0` and without `+` in the exponent. */
  numberText(number: string): string
  /** Length in code points. */
  codePoints(text: string): string
  contains(text: string, part: string): string
  startsWith(text: string, part: string): string
  endsWith(text: string, part: string): string
  /** A whole number from 0 to below 2^64, always the same for the same text; which one is the engine's own. */
  hash(text: string): string
  /** Those of these texts that are not NULL, in one; the separator is a plain text. */
  joined(separator: string, texts: readonly string[]): string

  /** How often a whole number goes into another; neither is negative. */
  quotient(number: string, divisor: number): string
  /** The number of which the one bit at a place, 0 to 30, is set. */
  bit(place: string): string

  /** Whether a list of texts has this one; false where the list is NULL. */
  has(list: string, text: string): string
  /** Items of a SELECT that make a row for each place of lists, all of one length, with the lists' items under these names. */
  rowsOf(lists: Readonly<Record<string, readonly string[]>>): string
  /**
   * Items of a SELECT that make a row for each parameter of `params` and for each of these columns of text: `key` (a column:
   * its name), `value` (of a column NULL, too) and `isField`.
   */
  textRows(fields: readonly string[]): string
  /** A relation without a name: one row for each object of a list that is bound as JSON. */
  rowsOfJson(json: string, columns: Readonly<Record<string, 'text' | 'integer'>>): string

  /** Aggregate: whether this is true in any row; it is never NULL. */
  anyTrue(test: string): string
  /** Aggregate: the value in the row in which `by` is largest, of rows in which neither is NULL. */
  argMax(value: string, by: string): string
  /** Aggregate: the values of so many rows, the first in the order of `by`, as a list; rows where the value is NULL are left out. */
  firstValues(value: string, by: readonly string[], limit: number): string
  /**
   * Aggregate: rows of these columns as a list, in the order of the first column, then of the second, and so on. `test`:
   * only rows for which it holds; none of them make NULL or an empty list.
   */
  sortedRows(columns: readonly string[], test?: string): string
  /** The same order for a list of such rows. */
  sorted(list: string): string
  /**
   * A text made of each row of such a list for which `test` holds, in one; both get a name whose fields (`row.seq`) are the
   * columns. Empty where the list is NULL.
   */
  rowsText(list: string, test: (row: string) => string, text: (row: string) => string, separator: string): string

  /** A row of these fields, which are read as `row.field`. */
  row(fields: Readonly<Record<string, string>>): string
  /** The numbers from 1 up to this one as a list; empty for 0. */
  upTo(count: string): string
  /** What becomes of each item of a list. `item`: its name in SQL; lists within one another need different ones. */
  mapList(list: string, item: string, of: string): string
  /** The items of a list for which `test` holds. */
  filterList(list: string, item: string, test: string): string
  /** The items of a list from one place, from 1, through another. */
  slice(list: string, from: string, through: string): string
  /** Aggregate: of the values that are not NULL, the smallest that is no smaller than this share of them; NULL of none. */
  quantile(value: string, share: number): string

  /** What stands before the parentheses of a CTE that is to be written anew wherever it is used. */
  readonly inlined: string
}

/** The start of the stretch of time of this length that an instant lies in. */
export function bucketOf({ quotient }: Pick<Dialect, 'quotient'>, instant: string, lengthMs: number): string {
  return `${quotient(instant, lengthMs)} * ${lengthMs}`
}

/** False for a text with NUL or lone surrogates: no stored text has them, and SQL can't spell them. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
