import { MAY_HOLD_ADDRESS_PATTERN } from '../conditions/base64.ts'
import { compilePattern } from '../conditions/pattern.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { NUMBER_PATTERN } from '../core/value-type.ts'
import type { Dialect } from '../warehouse/dialect.ts'
import { type Binder, type ParameterForm, type Query, query, type Statement } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'

/** The scope whose parameters are listed. */
export interface ListScope {
  orgId: string
  /** At least one. */
  domainIds: readonly string[]
  vendor?: string | undefined
  event?: string | undefined
  env?: string | undefined
  window: Query['window']
  /** The organization's own patterns for personal data. */
  patterns: readonly string[]
}

export interface ListForm {
  /** Lists are made for each combination of these and the key. */
  by: ParameterForm['by']
  /** Lists with more distinct values than this are not counted value by value. */
  crowdedFrom: number
  /** True to determine the types of the values. */
  typed: boolean
  /** Number of most frequent values returned, and of those that may be personal and may become equal when masked. */
  shown: number
  maybePersonal: number
  /**
   * Sampling of the window for crowded lists: the number of evenly spaced parts, and the approximate number of events
   * in each. Default: one part, the most recent 48th of the window and at least an hour.
   */
  parts?: { count: number; events: number }
  /** SQL that excludes rows; reads `weight`, `key` and the columns of `by`. */
  most: string
}

/** The parameters of one name, of events with equal `by`. Sums are weighted and not rounded. */
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
  /** Number of distinct values, and of those that may be personal. */
  different: number
  suspects: number
  /**
   * The most frequent values of both kinds, in no particular order, with their weights, and 1 for each that may be
   * personal.
   */
  values: string[]
  weights: number[]
  areSuspect: (0 | 1)[]
}

/** Number of most frequent values kept by a sample of a crowded list, as a multiple of those returned. */
const CANDIDATES = 5
const SUSPECT_CANDIDATES = 1000

/**
 * Matches what personal data contains: one of these characters, seven digits, or a match of an own pattern; masked data
 * contains stars.
 */
const PERSONAL_PARTS = ['@', '%', '***']
const SEVEN_DIGITS = '((?:[0-9][^0-9]*){7})'

const SAMPLE_SHARE = 1 / 48

/** A sample of the window: parts of equal length in ms, newest first. */
interface Sample {
  length: number
  ends: Instant[]
}

/** Returns the sample for the form. It ends with the newest event, because traffic may end long before the window. */
async function sampleOf(history: History, scope: ListScope, { parts }: ListForm): Promise<Sample> {
  const { from, to } = scope.window
  const [counted] = await history.query<{ minute: Instant | null; events: number | null }>(
    query('insights.newest-minute', {
      ...{ over: 'counts', orgId: scope.orgId, window: scope.window },
      write: (binder) => ({
        sql: `SELECT max(minute) AS minute, sum(events) AS events FROM counts WHERE ${scopeSql(scope, binder)}`,
      }),
    }),
  )
  const end = Math.min(to, (counted?.minute ?? to) + MINUTE_MS)
  if (!parts) return { length: Math.max(HOUR_MS, (to - from) * SAMPLE_SHARE), ends: [end] }
  const span = end - from
  const length = Math.ceil((span * parts.events) / Math.max(1, counted?.events ?? 0))
  if (length * parts.count >= span) return { length: span, ends: [end] }
  const apart = Math.floor(span / parts.count)
  return { length, ends: Array.from({ length: parts.count }, (_, part) => end - apart * part) }
}

/**
 * Returns the crowded lists: those with too many distinct values in the newest part of the window. Their values are the
 * frequent ones in any part of the sample; everything else is of the newest part only.
 */
export async function crowdedLists(history: History, scope: ListScope, form: ListForm): Promise<ValueList[]> {
  const { length, ends } = await sampleOf(history, scope, form)
  const sampled = {
    ...form,
    shown: CANDIDATES * form.shown,
    maybePersonal: form.typed ? SUSPECT_CANDIDATES : CANDIDATES * form.shown,
  }
  const listsUntil = (end: Instant, most: string, only?: string[]) =>
    history.query<ValueList>(
      query('insights.crowded-parameters', {
        ...{
          over: 'parameters',
          orgId: scope.orgId,
          window: { from: Math.max(scope.window.from, end - length), to: end },
        },
        write: (binder) => ({
          ...formOf(scope, binder, only ? { by: form.by, only } : { by: form.by }),
          sql: `SELECT * FROM (${listsSql(binder, scope, sampled)}) ${most}`,
        }),
      }),
    )
  const [newest = 0, ...earlier] = ends
  const crowded = await listsUntil(newest, `WHERE different > ${form.crowdedFrom}`)
  if (crowded.length === 0 || earlier.length === 0) return crowded
  const values = new Map(crowded.map((list) => [placeOf(list, form), new Set(list.values)]))
  for (const end of earlier) {
    for (const list of await listsUntil(end, '', keysOf(crowded))) {
      const known = values.get(placeOf(list, form))
      if (known) for (const value of list.values) known.add(value)
    }
  }
  return crowded.map((list) => ({ ...list, values: [...(values.get(placeOf(list, form)) ?? [])] }))
}

const placeOf = (list: ValueList, { by }: ListForm) =>
  JSON.stringify([...by, 'key'].map((column) => list[column as 'key'] ?? ''))

/** Returns the lists of all other keys, with exact counts. */
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
 * Returns the lists of these keys, with exact counts. Of crowded lists only values frequent in the newest part are
 * counted, or none unless they are `shown`; the sum includes all values.
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

/** The history to read. */
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

/** Returns a SELECT of one row per list, as `ValueList`. */
function listsSql(binder: Binder, { patterns }: ListScope, { by, typed, shown, maybePersonal }: ListForm): string {
  const { dialect } = binder
  const group = [...by, 'key'].join(', ')
  // All uncounted values form one row without a value, which does not take the place of another. Sums that differ only
  // in their last digits, because of the order of addition, are equal.
  const order = 'value IS NULL, round(weight, 6) DESC, value'
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

/** Distinguishes most texts from numbers by their first character, which is cheaper than a pattern. */
const typeSql = (
  dialect: Dialect,
  text: string,
  number: string,
) => `CASE WHEN ${text} IN ('true', 'false') THEN 'boolean'
  WHEN ${text} >= '+' AND ${text} < ':' THEN CASE WHEN ${dialect.matches(text, number)} THEN 'number' ELSE 'text' END
  ELSE 'text' END`

/** Returns SQL for whether masking may change a value or make another one equal to it; never NULL. */
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
