import { type Dialect, isStorable, sampleEnd, unitSql } from '../dialect.ts'

/**
 * Escapes a key so that it stays distinct when DuckDB compares identifiers case-insensitively: `userId` → `user^id`,
 * `^` → `^^`. A non-ASCII capital becomes its code point (`É` → `^201;`), because several capitals share a lowercase
 * letter. Compacted files use the same column names.
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

/** Returns the key for a column name; null if the column does not belong to a key. */
export function keyOfColumn(name: string): string | null {
  if (!name.startsWith('p:')) return null
  return name
    .slice(2)
    .replaceAll(/\^(?:(\d+);|(.))/gsu, (_, code, letter) =>
      code === undefined ? letter.toUpperCase() : String.fromCodePoint(Number(code)),
    )
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A string literal. Only for strings that can't be bound, such as file names and keys in `params['…']`. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

const TYPES = { text: 'VARCHAR', integer: 'BIGINT' }

/** A non-ASCII character in UTF-8, as printed when a BLOB is cast to VARCHAR. */
const UTF8 = String.raw`\\x[CD].\\x[89AB].|\\xE.(?:\\x[89AB].){2}|\\xF.(?:\\x[89AB].){3}`
/** Matches an entire string that contains a byte that is neither ASCII text nor part of such a character. */
const BINARY = String.raw`^.*\\x(?:[189A-F].|0[0-8BCEF]|7F).*$`
const ESCAPED_BYTE = String.raw`\\x[0-9A-F]{2}`
const ESCAPED_CHARACTER = String.raw`\\{1,8}u00([0-7][0-9A-Fa-f])`

/** See https://duckdb.org/docs/stable/sql/functions/overview.html */
export const duckdbDialect: Dialect = {
  placeholder: (name) => `$${name}`,
  name: quoteName,

  key: (key) => quoteName(columnName(key)),
  anyValue: (test) => `coalesce(len(list_filter(map_values(params), lambda v: ${test('v')})), 0) > 0`,
  anyName: (test) => `coalesce(len(list_filter(map_keys(params), lambda k: ${test('k')})), 0) > 0`,
  field: quoteName,

  // DuckDB rewrites a pattern that is not a group to `LIKE`, which loses `^` and `$` in patterns such as `a$b`.
  matches: (text, pattern) => `regexp_matches(${text}, ${pattern})`,
  replaceAll: (text, pattern, replacement) => `regexp_replace(${text}, ${pattern}, ${quoteText(replacement)}, 'g')`,
  anyMatch(text, patterns, test) {
    const parts = patterns.map((pattern) => `regexp_extract_all(${text}, ${pattern})`).join(', ')
    return `len(list_filter(list_concat(${parts}), lambda part: ${test('part')})) > 0`
  },
  // The cast never fails: it writes non-printable bytes as `\xE9`.
  base64Decode(text) {
    const padding = `CASE length(${text}) % 4 WHEN 2 THEN '==' WHEN 3 THEN '=' ELSE '' END`
    const bytes = `from_base64(concat(translate(${text}, '-_', '+/'), ${padding}))::VARCHAR`
    const ascii = `regexp_replace(regexp_replace(${bytes}, '${UTF8}', ' ', 'g'), '${BINARY}', '')`
    return `regexp_replace(${ascii}, '${ESCAPED_BYTE}', ' ', 'g')`
  },
  // `url_decode` fails on invalid UTF-8, so the `%` of non-ASCII bytes is escaped first.
  percentDecode(text) {
    const inPercent = `regexp_replace(${text}, '${ESCAPED_CHARACTER}', '%\\1', 'g')`
    return `url_decode(regexp_replace(${inPercent}, '%([89A-Fa-f][0-9A-Fa-f])', '%25\\1', 'g'))`
  },
  readNumber: (text) => `try_cast(${text} AS DOUBLE)`,
  // Adding 0 turns -0 into 0.
  numberText: (number) => `regexp_replace(to_json(${number} + 0)::VARCHAR, '\\.0$', '')`,
  codePoints: (text) => `length(${text})`,
  contains: (text, part) => `contains(${text}, ${part})`,
  startsWith: (text, part) => `starts_with(${text}, ${part})`,
  endsWith: (text, part) => `suffix(${text}, ${part})`,
  hash: (text) => `hash(${text})`,
  sampled: (unit, oneIn) => `hash(${unitSql(unit)}) < ${sampleEnd(oneIn)}::UBIGINT`,
  joined: (separator, texts) => `concat_ws(${quoteText(separator)}, ${texts.join(', ')})`,

  quotient: (number, divisor) => `${number} // ${divisor}`,
  bit: (place) => `1 << (${place})::INTEGER`,

  has: (list, text) => `coalesce(list_contains(${list}, ${text}), false)`,
  rowsOf: (lists) =>
    Object.entries(lists)
      .map(([name, items]) => `unnest([${items.join(', ')}]) AS ${name}`)
      .join(', '),
  textRows(fields) {
    const names = fields.map(quoteText).join(', ')
    return [
      `unnest(list_concat(map_keys(params), [${names}]::VARCHAR[])) AS key`,
      `unnest(list_concat(map_values(params), [${fields.join(', ')}]::VARCHAR[])) AS value`,
      `unnest(list_concat(list_transform(map_keys(params), lambda k: false), [${fields.map(() => 'true').join(', ')}]::BOOLEAN[])) AS isField`,
    ].join(', ')
  },
  rowsOfJson(json, columns) {
    const types = Object.entries(columns).map(([name, type]) => `"${name}": "${TYPES[type]}"`)
    return `(SELECT unnest(from_json(${json}, ${quoteText(`[{${types.join(', ')}}]`)}), recursive := true))`
  },

  anyTrue: (test) => `bool_or(${test})`,
  argMax: (value, by) => `arg_max(${value}, ${by})`,
  firstValues(value, by, limit) {
    const order = by.map((item, at) => `by${at}: ${item}`)
    return `coalesce(arg_min(${value}, {${order.join(', ')}}, ${limit}) FILTER (WHERE ${value} IS NOT NULL), [])`
  },
  sortedRows(columns, test) {
    const row = `{${columns.map((name) => `${name}: ${name}`).join(', ')}}`
    return `list_sort(list(${row})${test === undefined ? '' : ` FILTER (WHERE ${test})`})`
  },
  sorted: (list) => `list_sort(${list})`,
  rowsText(list, test, text, separator) {
    const wanted = `list_filter(${list}, lambda item: ${test('item')})`
    const texts = `list_transform(${wanted}, lambda item: ${text('item')})`
    return `coalesce(array_to_string(${texts}, ${quoteText(separator)}), '')`
  },

  row: (fields) =>
    `{${Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}`)
      .join(', ')}}`,
  upTo: (count) => `generate_series(1, ${count})`,
  mapList: (list, item, of) => `list_transform(${list}, lambda ${item}: ${of})`,
  filterList: (list, item, test) => `list_filter(${list}, lambda ${item}: ${test})`,
  slice: (list, from, through) => `list_slice(${list}, ${from}, ${through})`,
  quantile: (value, share) => `quantile_disc(${value}, ${share})`,

  inlined: 'NOT MATERIALIZED',
}
