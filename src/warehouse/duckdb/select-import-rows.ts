import { DAY_MS } from '../../core/clock.ts'
import { EVENT_COLUMNS, EVENT_STATUSES } from '../../core/event.ts'
import { EARLIEST } from '../../core/timestamp.ts'
import { MAX_KEY_LENGTH, MAX_PARAMS, MAX_VALUE_LENGTH } from '../../decoders/params.ts'
import {
  ENVIRONMENTS,
  type ImportRules,
  KINDS,
  MAX_WEIGHT,
  SYSTEM_FIELDS,
  TEXT_LENGTHS,
} from '../../ingest/import-line.ts'
import { CONSENT_STATES, DEVICES, SEGMENT_LENGTHS, VISITORS } from '../../ingest/import-segments.ts'
import { quoteName, quoteText } from './duckdb-dialect.ts'
import { PARAMS } from './spool-relation.ts'

/** Columns of staged events, in order, with their SQL types. `row`: position in the file, starting at 1. */
export const STAGED_COLUMNS: Readonly<Record<string, string>> = {
  row: 'BIGINT',
  ...Object.fromEntries(Object.entries(EVENT_COLUMNS).filter(([name]) => name !== 'seq' && name !== 'violations')),
  params: PARAMS,
}

/** Types of the columns in a Parquet file, by name. */
export type ColumnTypes = ReadonlyMap<string, string>

const IS_TEXT = /^(?:VARCHAR|ENUM\(.*\)|UUID)$/s
const IS_NUMBER = /^(?:U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\))$/
const IS_FLOATING = /^(?:FLOAT|DOUBLE)$/
const IS_TIME = /^TIMESTAMP/
const IS_MAP = /^MAP\(VARCHAR, VARCHAR\)$/
const IS_JSON = /^(?:VARCHAR|JSON)$/

/** SQL for the value of a column, and for the test that it is valid. A failing test must not return NULL. */
interface SelectedColumn {
  value: string
  test: string
}

const raw = (name: string) => `raw.${quoteName(name)}`
const absent = (type: string): SelectedColumn => ({ value: `NULL::${type}`, test: 'true' })
const isAmong = (sql: string, words: readonly string[]) => `${sql} IN (${words.map(quoteText).join(', ')})`
/** True if `cleanText` would not change the string. Strings in the engine are always well-formed. */
const isClean = (sql: string) => `NOT contains(${sql}, chr(0))`

/**
 * Selects the rows of a Parquet file. `fine`: rows that SQL can verify to be valid, as staged columns. `others`: all
 * remaining rows, unchanged, to be parsed like lines. A row may be `fine` only if `readLine` would accept it without
 * changing any of its strings. A valid row may be among `others`.
 */
export function selectRows(path: string, types: ColumnTypes, rules: ImportRules): { fine: string; others: string } {
  const known = { ...textColumns(types), ...numberColumns(types, rules), ...domainColumns(types, rules) }
  const params = paramsOf(types)
  const strange = [...types.keys()].filter((name) => !Object.hasOwn(EVENT_COLUMNS, name) && name !== 'params')
  const tests = [
    ...Object.values(known).map(({ test }) => test),
    params.test,
    ...strange.map((name) => `${raw(name)} IS NULL`),
  ]
  const source = `read_parquet(${quoteText(path)}, file_row_number = true) AS raw ${domainsJoin(types, rules)}`
  const isFine = `coalesce(${tests.filter((test) => test !== 'true').join(' AND ')}, false)`
  const values = { row: 'raw.file_row_number + 1', ...valuesOf(known), params: params.value } as Record<string, string>
  const columns = Object.entries(STAGED_COLUMNS).map(([name, type]) => `(${values[name]})::${type} AS ${name}`)
  return {
    fine: `SELECT ${columns.join(', ')} FROM ${source} WHERE ${isFine}`,
    others: `SELECT raw.file_row_number + 1 AS row, {${lineOf(types)}} AS line FROM ${source} WHERE NOT ${isFine}`,
  }
}

const valuesOf = (columns: Record<string, SelectedColumn>) =>
  Object.fromEntries(Object.entries(columns).map(([name, { value }]) => [name, value]))

function textColumns(types: ColumnTypes): Record<string, SelectedColumn> {
  const column = (name: Exclude<keyof typeof TEXT_LENGTHS, 'customerId'>, absentAs?: string): SelectedColumn => {
    const type = types.get(name)
    if (type === undefined) return { value: absentAs ?? 'NULL', test: 'true' }
    if (!IS_TEXT.test(type)) return { value: absentAs ?? 'NULL', test: `${raw(name)} IS NULL` }
    const sql = type === 'VARCHAR' ? raw(name) : `${raw(name)}::VARCHAR`
    const [least, most] = TEXT_LENGTHS[name]
    // A string has at least as many bytes as UTF-16 units.
    const tests = [`strlen(${sql}) BETWEEN ${least} AND ${most}`, isClean(sql)]
    if (name === 'path') tests.push(`${sql} <> ''`, `NOT regexp_matches(${sql}, '[?#]')`)
    const value = absentAs === undefined ? sql : `coalesce(${sql}, ${absentAs})`
    return { value, test: `(${raw(name)} IS NULL OR (${tests.join(' AND ')}))` }
  }
  const words = (name: string, among: readonly string[], absentAs: string): SelectedColumn => {
    const type = types.get(name)
    if (type === undefined) return { value: absentAs, test: 'true' }
    const sql = `${raw(name)}::VARCHAR`
    return { value: `coalesce(${sql}, ${absentAs})`, test: `(${raw(name)} IS NULL OR ${isAmong(sql, among)})` }
  }
  const vendor = column('vendor')
  return {
    id: column('id'),
    vendor: { ...vendor, test: types.has('vendor') ? `${raw('vendor')} IS NOT NULL AND ${vendor.test}` : 'false' },
    event: column('event', `''`),
    account: column('account'),
    path: column('path'),
    title: column('title'),
    sessionId: column('sessionId'),
    env: words('env', ENVIRONMENTS, `'prod'`),
    kind: words('kind', KINDS, `'event'`),
    status: words('status', EVENT_STATUSES, 'NULL'),
    ...segmentColumns(types),
  }
}

/**
 * Columns for segments. Only values that `importedSegments` would not change are accepted. Records of other exports
 * are left to it.
 */
function segmentColumns(types: ColumnTypes): Record<string, SelectedColumn> {
  const column = (name: string, absentAs: string, test: (sql: string) => string): SelectedColumn => {
    const type = types.get(name)
    if (type === undefined) return { value: absentAs, test: 'true' }
    if (!IS_TEXT.test(type)) return { value: absentAs, test: `${raw(name)} IS NULL` }
    const sql = `${raw(name)}::VARCHAR`
    return { value: `coalesce(${sql}, ${absentAs})`, test: `(${raw(name)} IS NULL OR ${test(sql)})` }
  }
  const text = (name: 'browser' | 'browserVersion' | 'os') => {
    const [least, most] = SEGMENT_LENGTHS[name]
    return column(name, 'NULL', (sql) => `(strlen(${sql}) BETWEEN ${least} AND ${most} AND ${isClean(sql)})`)
  }
  return {
    browser: text('browser'),
    browserVersion: text('browserVersion'),
    os: text('os'),
    device: column('device', 'NULL', (sql) => isAmong(sql, DEVICES)),
    language: column('language', 'NULL', (sql) => `regexp_full_match(${sql}, '[a-z]{2,3}')`),
    country: column('country', 'NULL', (sql) => `regexp_full_match(${sql}, '[A-Z]{2}')`),
    consent: column('consent', `'unknown'`, (sql) => isAmong(sql, CONSENT_STATES)),
    visitor: column('visitor', 'NULL', (sql) => isAmong(sql, VISITORS)),
  }
}

/**
 * SQL for a number or a time in milliseconds; null if the column has another type. Infinite values are treated as
 * unknown.
 */
function numberOf(types: ColumnTypes, name: string): string | null {
  const type = types.get(name) ?? ''
  if (IS_TIME.test(type)) return `epoch_ms(${raw(name)})`
  if (IS_FLOATING.test(type)) return `CASE WHEN isfinite(${raw(name)}) THEN ${raw(name)} END`
  return IS_NUMBER.test(type) ? `${raw(name)}::DOUBLE` : null
}

function numberColumns(types: ColumnTypes, { from, to }: ImportRules): Record<string, SelectedColumn> {
  const column = (name: string, test: (sql: string) => string): SelectedColumn => {
    const sql = numberOf(types, name)
    if (sql === null) return { value: 'NULL', test: types.has(name) ? `${raw(name)} IS NULL` : 'true' }
    return { value: sql, test: `(${sql} IS NULL OR ${test(sql)})` }
  }
  const receivedAt = numberOf(types, 'receivedAt')
  const at = `round(${receivedAt})::BIGINT`
  // Units other than milliseconds, and times that must be replaced, are left to `readLine`.
  const ts = column('ts', (sql) => `${sql} BETWEEN ${EARLIEST} AND ${at} + ${DAY_MS}`)
  const weight = column('weight', (sql) => `${sql} > 0 AND ${sql} <= ${MAX_WEIGHT}`)
  const duration = (name: string) => column(name, (sql) => `${sql} >= 0`)
  return {
    receivedAt: {
      value: receivedAt === null ? 'NULL' : at,
      test:
        receivedAt === null
          ? 'false'
          : `${receivedAt} IS NOT NULL AND ${receivedAt} BETWEEN ${Math.max(from, EARLIEST)} AND ${to}`,
    },
    ts: { ...ts, value: receivedAt === null ? 'NULL' : `least(coalesce(round(${ts.value})::BIGINT, ${at}), ${at})` },
    weight: { ...weight, value: `coalesce(${weight.value}, 1)` },
    execMs: duration('execMs'),
    durMs: duration('durMs'),
    bytes: duration('bytes'),
    version: column('version', () => 'true'),
  }
}

/** Columns that depend on the domain. */
function domainColumns(types: ColumnTypes, { domains }: ImportRules): Record<string, SelectedColumn> {
  const isText = (name: string) => IS_TEXT.test(types.get(name) ?? '')
  const unless = (name: string): SelectedColumn => ({
    value: 'NULL',
    test: types.has(name) ? `${raw(name)} IS NULL` : 'true',
  })
  const denied = [...domains.values()].flatMap(({ id, denied }) =>
    [...denied].map((host) => `(${quoteText(id)}, ${quoteText(host)})`),
  )
  const host = raw('host')
  // True for hostnames that browsers leave unchanged. The last label must not be a number, as in an IP address.
  const isPlain = `(strlen(${host}) <= 253 AND regexp_full_match(${host}, '([a-z0-9-]+\\.)*[a-z][a-z0-9-]*') AND NOT contains(${host}, 'xn--'))`
  const isAllowed = denied.length > 0 ? ` AND (own.domainId, ${host}) NOT IN (VALUES ${denied.join(', ')})` : ''
  const customer = `${raw('customerId')}::VARCHAR`
  const [least, most] = TEXT_LENGTHS.customerId
  return {
    orgId: { value: 'own.orgId', test: 'own.orgId IS NOT NULL' },
    domainId: { value: 'own.domainId', test: 'true' },
    host: isText('host') ? { value: host, test: `(${host} IS NULL OR (${isPlain}${isAllowed}))` } : unless('host'),
    customerId: isText('customerId')
      ? {
          value: `CASE WHEN ${customer} IS NOT NULL THEN sha256(concat(own.salt, chr(0), ${customer}))[1:32] END`,
          test: `(${customer} IS NULL OR (strlen(${customer}) BETWEEN ${least} AND ${most} AND ${isClean(customer)}))`,
        }
      : unless('customerId'),
  }
}

/** SQL that joins the domain to each row: `own.domainId`, `own.orgId`, `own.salt`; NULL if there is none. */
function domainsJoin(types: ColumnTypes, { domains, domainId }: ImportRules): string {
  const rows = [...domains.values()]
    .filter(({ id }) => domainId === null || id === domainId)
    .map((one) => `(${[one.id, one.orgId, one.customerSalt].map(quoteText).join(', ')})`)
  const own = `(VALUES ${[...rows, '(NULL, NULL, NULL)'].join(', ')}) AS own(domainId, orgId, salt)`
  if (domainId !== null) return `JOIN ${own} ON own.domainId = ${quoteText(domainId)}`
  const isText = IS_TEXT.test(types.get('domainId') ?? '')
  return `LEFT JOIN ${own} ON own.domainId = ${isText ? `${raw('domainId')}::VARCHAR` : 'NULL'}`
}

function paramsOf(types: ColumnTypes): SelectedColumn {
  const type = types.get('params')
  const none = `MAP([]::VARCHAR[], []::VARCHAR[])`
  if (type === undefined) return { value: none, test: 'true' }
  const column = raw('params')
  if (IS_MAP.test(type))
    return { value: `coalesce(${column}, ${none})`, test: `(${column} IS NULL OR ${isFlat(column)})` }
  if (!IS_JSON.test(type)) return { ...absent(PARAMS), value: none, test: `${column} IS NULL` }
  const [text, json] = [`${column}::VARCHAR`, `TRY_CAST(${column} AS JSON)`]
  const map = `TRY_CAST(${json} AS ${PARAMS})`
  // In a CASE branch, because the engine fails when it converts a string that is not an object to a map.
  const isFine = `CASE WHEN json_type(${json}) = 'OBJECT'
    THEN NOT list_has_any(json_type(${json}, '$.*'), ['OBJECT', 'ARRAY', 'NULL'])
      AND NOT regexp_matches(${text}, ${quoteText(UNUSUAL_NUMBER)}) AND ${isFlat(map)}
    ELSE false END`
  return { value: `coalesce(${map}, ${none})`, test: `(${column} IS NULL OR ${isFine})` }
}

/** Numbers that JavaScript and the engine format differently: -0, exponents, many digits, trailing zeros. */
const UNUSUAL_NUMBER = String.raw`:\s*(?:-0[\s,}]|-?[0-9.]*[eE]|-?[0-9.]{16}|-?[0-9]+\.[0-9]*0\s*[,}]|-?0\.00000)`

/** SQL test that a map is within all limits. */
function isFlat(map: string): string {
  const bad = [
    `strlen(e.key) > ${MAX_KEY_LENGTH}`,
    'e.value IS NULL',
    `strlen(e.value) > ${MAX_VALUE_LENGTH}`,
    'contains(e.value, chr(0))',
    'contains(e.key, chr(0))',
  ]
  return `cardinality(${map}) <= ${MAX_PARAMS}
      AND len(list_filter(map_entries(${map}), lambda e: ${bad.join(' OR ')})) = 0
      AND list_unique(map_keys(${map})) = cardinality(${map})`
}

/** SQL that returns the row as a struct, like a line of JSON. */
function lineOf(types: ColumnTypes): string {
  const fields = [...types].flatMap(([name, type]) => {
    if (SYSTEM_FIELDS.some((own) => own === name)) return []
    const isDecimal = type.startsWith('DECIMAL')
    const sql =
      IS_TIME.test(type) || IS_FLOATING.test(type)
        ? numberOf(types, name)
        : isDecimal
          ? `${raw(name)}::DOUBLE`
          : raw(name)
    return [`${quoteName(name)}: ${IS_MAP.test(type) ? `to_json(${raw(name)})` : sql}`]
  })
  return fields.length > 0 ? fields.join(', ') : 'nothing: NULL'
}
