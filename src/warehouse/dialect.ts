/**
 * What differs between engines, and nothing else: how to read a parameter, match a pattern, measure a text. Every
 * method takes and gives SQL text; values come in as placeholders of a `Binder`. DuckDB's is the one that stands.
 */
export interface Dialect {
  /** The column that holds one parameter in the relation `events`; NULL where the event lacks it. */
  key(key: string): string
  /** True when `test` holds for the value of at least one parameter. `test` gets the SQL of one value. */
  anyValue(test: (value: string) => string): string
  /** The column that holds a field of the event itself. */
  field(name: string): string
  /**
   * RE2 partial match. The pattern must be one group, `(…)`: DuckDB rewrites others to `LIKE` and loses `^` and `$`
   * from some of them, as in `a$b`.
   */
  matches(text: string, pattern: string): string
  /** Every match of a pattern replaced by a plain text. */
  replaceAll(text: string, pattern: string, replacement: string): string
  /** Percent-encoded ASCII characters decoded, everything else as it was. Never fails. */
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
}

/**
 * A name that stays distinct where identifiers are compared without case, as DuckDB does: `userId` → `user^id`,
 * `^` → `^^`, a capital beyond ASCII its code, `É` → `^201;`, because several have the same small letter. The same name
 * is a column of compacted files.
 */
export function columnName(key: string): string {
  let name = 'p:'
  for (const character of key) {
    const lower = character.toLowerCase()
    if (character === '^') name += '^^'
    else if (!isStorable(character)) name += `^${character.charCodeAt(0)};`
    else if (lower === character) name += character
    else name += character < '\x7f' ? `^${lower}` : `^${character.codePointAt(0)};`
  }
  return name
}

/** The key whose column has this name; null for a name that `columnName` makes for none. */
export function keyOfColumn(name: string): string | null {
  if (!name.startsWith('p:')) return null
  return name
    .slice(2)
    .replaceAll(/\^(?:(\d+);|(.))/gsu, (_, code, letter) =>
      code === undefined ? letter.toUpperCase() : String.fromCodePoint(Number(code)),
    )
}

/** False for a text with NUL or lone surrogates: no stored text has them, and SQL can't spell them. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text literal; only for what cannot be a bound value, such as file names and keys inside `params['…']`. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** See https://duckdb.org/docs/stable/sql/functions/text.html */
export const duckdbDialect: Dialect = {
  key: (key) => quoteName(columnName(key)),
  anyValue: (test) => `coalesce(len(list_filter(map_values(params), lambda v: ${test('v')})), 0) > 0`,
  field: (name) => quoteName(name),
  matches: (text, pattern) => `regexp_matches(${text}, ${pattern})`,
  replaceAll: (text, pattern, replacement) => `regexp_replace(${text}, ${pattern}, ${quoteText(replacement)}, 'g')`,
  // url_decode fails on bytes that are no UTF-8; the escaped `%` keeps all bytes beyond ASCII from it.
  percentDecode: (text) => `url_decode(regexp_replace(${text}, '%([89A-Fa-f][0-9A-Fa-f])', '%25\\1', 'g'))`,
  readNumber: (text) => `try_cast(${text} AS DOUBLE)`,
  // Adding 0 makes 0 of -0.
  numberText: (number) => `regexp_replace(to_json(${number} + 0)::VARCHAR, '\\.0$', '')`,
  codePoints: (text) => `length(${text})`,
  contains: (text, part) => `contains(${text}, ${part})`,
  startsWith: (text, part) => `starts_with(${text}, ${part})`,
  endsWith: (text, part) => `suffix(${text}, ${part})`,
}
