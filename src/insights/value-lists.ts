import { MAY_HOLD_ADDRESS_PATTERN } from '../conditions/base64.ts'
import { compilePattern } from '../conditions/pattern.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { NUMBER_PATTERN } from '../core/value.ts'
import type { Dialect } from '../warehouse/dialect.ts'
import { type Binder, type ParameterForm, type Query, query, type Statement } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'

/** Whose parameters are listed. */
export interface ListScope {
  orgId: string
  /** At least one. */
  domainIds: readonly string[]
  vendor?: string | undefined
  event?: string | undefined
  env?: string | undefined
  window: Query['window']
  /** Own patterns of the organization for personal data. */
  patterns: readonly string[]
}

export interface ListForm {
  /** Lists are made for each of these and key. */
  by: ParameterForm['by']
  /** Lists with more different values than this are too long to be counted value by value. */
  crowdedFrom: number
  /** Whether it is said what types the values have. */
  typed: boolean
  /** So many of the most frequent values, and of those that may be personal, which masking may make equal. */
  shown: number
  maybePersonal: number
  /** SQL that leaves rows out; reads `weight`, `key` and what `by` names. */
  most: string
}

/** The parameters of one name, of events that are alike in `by`. Sums are weighted and not rounded. */
export interface ValueList {
  domainId?: string
  vendor: string
  event?: string
  key: string
  weight: number
  /** Weights of numbers, and of `true` and `false`. */
  numbers: number
  booleans: number
  lastAt: Instant
  /** Different values, and those among them that may be personal. */
  different: number
  suspects: number
  /** The most frequent values of both kinds, in no order, with their weights, and 1 for each that may be personal. */
  values: string[]
  weights: number[]
  areSuspect: (0 | 1)[]
}

/** Of a list that is too long so many of the most frequent values are looked for, as a multiple of those shown. */
const CANDIDATES = 2
const SUSPECT_CANDIDATES = 1000

/** What is personal contains one of these, seven digits, or what an own pattern matches; what is masked contains stars. */
const PERSONAL_PARTS = ['@', '%', '***']
const SEVEN_DIGITS = '((?:[0-9][^0-9]*){7})'

/** Crowded lists are found in this share of the window, before its newest event, and at least in an hour of it. */
const SAMPLE_SHARE = 1 / 48

/** Returns the newest part of the window in which something came in, because traffic may have ended long before the window does. */
async function sampleOf(history: History, scope: ListScope): Promise<Query['window']> {
  const { from, to } = scope.window
  const [newest] = await history.query<{ minute: Instant | null }>(
    query('insights.newest-minute', {
      ...{ over: 'counts', orgId: scope.orgId, window: scope.window },
      write: (binder) => ({ sql: `SELECT max(minute) AS minute FROM counts WHERE ${scopeSql(scope, binder)}` }),
    }),
  )
  const end = Math.min(to, (newest?.minute ?? to) + MINUTE_MS)
  return { from: Math.max(from, end - Math.max(HOUR_MS, (to - from) * SAMPLE_SHARE)), to: end }
}

/**
 * Returns the lists that are crowded: those with too many different values in the newest part of the
 * window. What they say is of that part alone.
 */
export async function crowdedLists(history: History, scope: ListScope, form: ListForm): Promise<ValueList[]> {
  const window = await sampleOf(history, scope)
  const sampled = {
    ...form,
    shown: CANDIDATES * form.shown,
    maybePersonal: form.typed ? SUSPECT_CANDIDATES : CANDIDATES * form.shown,
  }
  return history.query<ValueList>(
    query('insights.crowded-parameters', {
      ...{ over: 'parameters', orgId: scope.orgId, window },
      write: (binder) => ({
        ...formOf(scope, binder, { by: form.by }),
        sql: `SELECT * FROM (${listsSql(binder, scope, sampled)}) WHERE different > ${form.crowdedFrom}`,
      }),
    }),
  )
}

/** Returns the lists of all keys but these, with exact counts. */
export function exactLists(history: History, scope: ListScope, form: ListForm, except: readonly string[]) {
  return history.query<ValueList>(
    query('insights.parameter-values', {
      ...{ over: 'parameters', orgId: scope.orgId, window: scope.window },
      write: (binder) => ({
        ...formOf(scope, binder, { by: form.by, except }),
        sql: `SELECT * FROM (${listsSql(binder, scope, form)}) ${form.most}`,
      }),
    }),
  )
}

/**
 * Returns the lists of these keys, with exact counts. Of those that are crowded only the values are counted that are
 * frequent in the newest part, or none where they are not `shown`; the sum is of all.
 */
export function listsAmong(
  history: History,
  scope: ListScope,
  form: ListForm,
  { keys, crowded, shown }: { keys: readonly string[]; crowded: readonly ValueList[]; shown: boolean },
) {
  const among = crowded.map((one) => ({
    list: [...form.by, 'key'].map((column) => one[column as 'key'] ?? ''),
    values: shown ? one.values : [],
  }))
  return history.query<ValueList>(
    query('insights.frequent-values', {
      ...{ over: 'parameters', orgId: scope.orgId, window: scope.window },
      write: (binder) => ({
        ...formOf(scope, binder, { by: form.by, only: keys, among }),
        sql: `SELECT * FROM (${listsSql(binder, scope, form)}) ${form.most}`,
      }),
    }),
  )
}

export const keysOf = (lists: readonly Pick<ValueList, 'key'>[]) => [...new Set(lists.map(({ key }) => key))].sort()

/** What of the history is read. */
export function formOf(
  scope: ListScope,
  binder: Binder,
  form: Omit<ParameterForm, 'as'> & Partial<Pick<ParameterForm, 'as'>>,
): Pick<Statement, 'form' | 'where'> {
  return { where: scopeSql(scope, binder), form: { as: 'values', ...form } }
}

export function scopeSql({ domainIds, vendor, event, env }: ListScope, binder: Binder): string {
  const named = Object.entries({ vendor, event, env }).flatMap(([column, value]) =>
    value === undefined ? [] : [`${column} = ${binder.bind(value)}`],
  )
  return [...binder.among('domainId', domainIds), ...named].join(' AND ')
}

/** A SELECT of one row a list, as `ValueList`. */
function listsSql(binder: Binder, { patterns }: ListScope, { by, typed, shown, maybePersonal }: ListForm): string {
  const { dialect } = binder
  const group = [...by, 'key'].join(', ')
  // Sums that differ in their last digits only, by the order of addition, are equal.
  const order = 'round(weight, 6) DESC, value'
  const listed = (column: string) =>
    `coalesce(array_agg(${column}) FILTER (WHERE value IS NOT NULL AND place <= CASE WHEN isSuspect THEN ${maybePersonal} ELSE ${shown} END), [])`
  const sumOf = (type: string) => (typed ? `coalesce(sum(weight) FILTER (WHERE type = '${type}'), 0)` : '0')
  const type = typed ? `${typeSql(dialect, 'value', binder.bind(`(${NUMBER_PATTERN})`))} AS type, ` : ''
  return `SELECT ${group}, sum(weight) AS weight, max(lastAt) AS lastAt, ${sumOf('number')} AS numbers,
      ${sumOf('boolean')} AS booleans, count(value) AS different, count(*) FILTER (WHERE isSuspect) AS suspects,
      ${listed('value')} AS "values", ${listed('weight')} AS weights, ${listed('CASE WHEN isSuspect THEN 1 ELSE 0 END')} AS areSuspect
    FROM (
      SELECT *, row_number() OVER (PARTITION BY ${group}, isSuspect ORDER BY ${order}) AS place
      FROM (
        SELECT *, ${type}${suspectSql(binder, 'value', patterns)} AS isSuspect
        FROM (SELECT ${group}, value, sum(weight) AS weight, max(lastAt) AS lastAt FROM parameters GROUP BY ${group}, value)
      )
    ) GROUP BY ${group}`
}

/** Most texts are told from numbers by their first letter, which costs less than a pattern. */
const typeSql = (
  dialect: Dialect,
  text: string,
  number: string,
) => `CASE WHEN ${text} IN ('true', 'false') THEN 'boolean'
  WHEN ${text} >= '+' AND ${text} < ':' THEN CASE WHEN ${dialect.matches(text, number)} THEN 'number' ELSE 'text' END
  ELSE 'text' END`

/** Whether masking may change a value, or make another one equal to it; never NULL. */
function suspectSql(binder: Binder, text: string, patterns: readonly string[]): string {
  const { dialect } = binder
  const tests = [
    ...PERSONAL_PARTS.map((part) => dialect.contains(text, `'${part}'`)),
    dialect.contains(text, binder.bind('\\u00')),
    ...[
      SEVEN_DIGITS,
      `(${MAY_HOLD_ADDRESS_PATTERN})`,
      ...patterns.map((pattern) => compilePattern(pattern).portable),
    ].map((pattern) => dialect.matches(text, binder.bind(pattern))),
  ]
  return `(${text} IS NOT NULL AND (${tests.join(' OR ')}))`
}
