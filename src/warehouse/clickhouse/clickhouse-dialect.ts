import type { Dialect, SqlValue } from '../dialect.ts'

/** The SQL dialect of ClickHouse: https://clickhouse.com/docs/sql-reference/functions */
export const clickhouseDialect: Dialect = {
  placeholder: (name, value) => (isBindable(name, value) ? `{${name}:${typeOf(value)}}` : literal(value)),
  name: quoteName,

  key: (key) => quoteName(columnName(key)),
  anyValue: (test) => `arrayExists(v -> ${test('v')}, mapValues(params))`,
  anyName: (test) => `arrayExists(k -> ${test('k')}, mapKeys(params))`,
  field: quoteName,

  // By default, `.` also matches line breaks.
  matches: (text, pattern) => `match(${text}, concat('(?-s)', ${pattern}))`,
  replaceAll: (text, pattern, replacement) => `replaceRegexpAll(${text}, ${pattern}, ${quoteText(replacement)})`,
  anyMatch(text, patterns, test) {
    const parts = patterns.map((pattern) => `extractAll(${text}, ${pattern})`).join(', ')
    return `arrayExists(part -> ${test('part')}, arrayConcat(${parts}))`
  },
  base64Decode(text) {
    const padding = `CASE length(${text}) % 4 WHEN 2 THEN '==' WHEN 3 THEN '=' ELSE '' END`
    const bytes = `tryBase64Decode(concat(translate(${text}, '-_', '+/'), ${padding}))`
    const control = quoteText('[\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F]')
    const other = quoteText('[^ !#-&(-\\[\\]-~]')
    return `if(NOT isValidUTF8(${bytes}) OR match(${bytes}, ${control}), '', replaceRegexpAll(${bytes}, ${other}, ' '))`
  },
  // `decodeURLComponent` also decodes invalid UTF-8. Escaping the `%` excludes all non-ASCII bytes.
  percentDecode(text) {
    const escaped = quoteText('\\\\{1,8}u00([0-7][0-9A-Fa-f])')
    const inPercent = `replaceRegexpAll(${text}, ${escaped}, ${quoteText('%\\1')})`
    // After a `%` that does not start a code, the function skips two characters, one of which may start a code.
    const noCode = '%([^0-9A-Fa-f]|[0-9A-Fa-f][^0-9A-Fa-f]|[89A-Fa-f][0-9A-Fa-f])'
    const once = (inner: string) => `replaceRegexpAll(${inner}, '${noCode}', ${quoteText('%25\\1')})`
    return `decodeURLComponent(${once(once(inPercent))})`
  },
  readNumber: (text) => `toFloat64OrNull(${text})`,
  numberText: (number) => `toString(${number} + 0)`,
  codePoints: (text) => `lengthUTF8(${text})`,
  contains: (text, part) => `(position(${text}, ${part}) > 0)`,
  startsWith: (text, part) => `startsWith(${text}, ${part})`,
  endsWith: (text, part) => `endsWith(${text}, ${part})`,
  hash: (text) => `cityHash64(${text})`,
  joined: (separator, texts) => `arrayStringConcat([${texts.join(', ')}], ${quoteText(separator)})`,

  quotient: (number, divisor) => `intDiv(${number}, ${divisor})`,
  bit: (place) => `bitShiftLeft(toInt32(1), toUInt8(${place}))`,

  has: (list, text) => `has(${list}, ${text})`,
  rowsOf(lists) {
    const zipped = Object.values(lists).map((items) => `[${items.join(', ')}]`)
    const columns = Object.keys(lists).map((name, at) => `tupleElement(zipped, ${at + 1}) AS ${name}`)
    return [`arrayJoin(arrayZip(${zipped.join(', ')})) AS zipped`, ...columns].join(', ')
  },
  textRows(fields) {
    const lists = [
      `arrayConcat(mapKeys(params), [${fields.map(quoteText).join(', ')}])`,
      `arrayConcat(mapValues(params), [${fields.join(', ')}])`,
      `arrayConcat(arrayMap(k -> false, mapKeys(params)), [${fields.map(() => 'true').join(', ')}])`,
    ]
    const columns = ['key', 'value', 'isField'].map((name, at) => `tupleElement(zipped, ${at + 1}) AS ${name}`)
    return [`arrayJoin(arrayZip(${lists.join(', ')})) AS zipped`, ...columns].join(', ')
  },
  rowsOfJson(json, columns) {
    const read = { text: 'JSONExtractString', integer: 'JSONExtractInt' }
    const fields = Object.entries(columns).map(([name, type]) => `${read[type]}(item, ${quoteText(name)}) AS ${name}`)
    return `(SELECT ${fields.join(', ')} FROM (SELECT arrayJoin(JSONExtractArrayRaw(${json})) AS item))`
  },

  anyTrue: (test) => `max(${test})`,
  argMax: (value, by) => `argMax(${value}, ${by})`,
  firstValues(value, by, limit) {
    const sorted = `arraySort(groupArrayIf(tuple(${[...by, value].join(', ')}), ${value} IS NOT NULL))`
    return `arraySlice(arrayMap(item -> tupleElement(item, ${by.length + 1}), ${sorted}), 1, ${limit})`
  },
  sortedRows(columns, test) {
    const row = `tuple(${columns.join(', ')})`
    return `arraySort(${test === undefined ? `groupArray(${row})` : `groupArrayIf(${row}, ${test})`})`
  },
  sorted: (list) => `arraySort(${list})`,
  rowsText(list, test, text, separator) {
    const wanted = `arrayFilter(item -> ${test('item')}, ${list})`
    return `arrayStringConcat(arrayMap(item -> ${text('item')}, ${wanted}), ${quoteText(separator)})`
  },

  row: (fields) =>
    `tuple(${Object.entries(fields)
      .map(([name, value]) => `${value} AS ${name}`)
      .join(', ')})`,
  upTo: (count) => `range(1, toUInt64(${count}) + 1)`,
  mapList: (list, item, of) => `arrayMap(${item} -> ${of}, ${list})`,
  filterList: (list, item, test) => `arrayFilter(${item} -> ${test}, ${list})`,
  slice: (list, from, through) => `arraySlice(${list}, ${from}, ${through} - ${from} + 1)`,
  quantile(value, share) {
    const sorted = `arraySort(groupArrayIf(${value}, ${value} IS NOT NULL))`
    return `if(empty(${sorted}), NULL, ${sorted}[toUInt64(ceil(length(${sorted}) * ${share}))])`
  },

  inlined: '',
}

/** Column of a parameter in the relation `events`. */
export const columnName = (key: string) => `p:${key}`

export function quoteName(name: string): string {
  return `"${escaped(name).replaceAll('"', '\\"')}"`
}

export function quoteText(text: string): string {
  return `'${escaped(text).replaceAll("'", "\\'")}'`
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\')

/** Bound values are part of the address of a request, which servers limit to 1 MiB. */
const MAX_BOUND = 200
const MAX_BOUND_LENGTH = 400

/** True if a value is bound. Other values are written as literals. */
export function isBindable(name: string, value: SqlValue): boolean {
  if (typeof value === 'string' && value.length > MAX_BOUND_LENGTH) return false
  return Number(/\d+$/.exec(name)?.[0] ?? 0) < MAX_BOUND
}

function literal(value: SqlValue): string {
  if (typeof value === 'string') return quoteText(value)
  return value === null ? 'NULL' : `CAST(${quoteText(String(value))}, '${typeOf(value)}')`
}

function typeOf(value: SqlValue): string {
  if (typeof value === 'string') return 'String'
  if (typeof value === 'boolean') return 'Bool'
  if (value === null) return 'Nullable(String)'
  return Number.isSafeInteger(value) ? 'Int64' : 'Float64'
}
