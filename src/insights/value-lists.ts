import type { Condition } from '../conditions/condition.ts'
import { filtersSql } from '../conditions/condition-sql.ts'
import { MAY_HOLD_ADDRESS_PATTERN } from '../conditions/find-base64-runs.ts'
import { compilePattern } from '../conditions/pattern.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { NUMBER_PATTERN } from '../core/value-type.ts'
import type { Dialect } from '../warehouse/dialect.ts'
import { type Binder, type ParameterForm, type Query, query, type Statement } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Sources } from './insight.ts'
import { type PartSums, sampleRate, sessionTests } from './sample-estimates.ts'

/** The scope whose parameters are listed. */
export interface ListScope {
  orgId: string
  /** At least one id. */
  domainIds: readonly string[]
  vendor?: string | undefined
  event?: string | undefined
  env?: string | undefined
  /** Conditions on segments of the events, all of which must be true. Default: none. */
  segment?: readonly Condition[]
  window: Query['window']
  /** Sampling: one in this many sessions is read. Default: 1, all. */
  oneIn?: number
  /** The organization's custom patterns for personal data. */
  patterns: readonly string[]
}

export interface ListForm {
  /** Columns to group by. Each combination of these columns and the key has its own list. */
  by: ParameterForm['by']
  /** Lists with more distinct values than this are crowded: their values are not counted individually. */
  crowdedFrom: number
  /** True when the types of the values are needed. */
  typed: boolean
  /** True when `ValueList.parts` is needed. */
  parted?: boolean
  /**
   * Maximum number of most frequent values to return. `maybePersonal` is a separate limit for values that may be
   * personal, because masking may merge them.
   */
  shown: number
  maybePersonal: number
  /**
   * How the window is sampled for crowded lists: the number of evenly spaced parts, and the approximate number of
   * events per part. Default: one part, which is the most recent 48th of the window and at least one hour.
   */
  parts?: { count: number; events: number }
  /** SQL that limits the rows. It can read `weight`, `key` and the columns of `by`. */
  most: string
}

/** The values of one parameter name in events with equal `by` columns. Sums are weighted and not rounded. */
export interface ValueList {
  domainId?: string
  vendor: string
  event?: string
  key: string
  weight: number
  /** Weight of values that are numbers, and of the values `true` and `false`. */
  numbers: number
  booleans: number
  lastAt: Instant
  /** Number of distinct values, and of those that may be personal. */
  different: number
  suspects: number
  /**
   * The most frequent values, both plain and possibly personal, in no particular order. The arrays below contain, for
   * each value, its weight and 1 if it may be personal.
   */
  values: string[]
  weights: number[]
  areSuspect: (0 | 1)[]
  /**
   * Only when sessions are sampled: sums of the squares of the weights by part of the sample, of all values and of each
   * value in `values`; with `parted`, the weights by part.
   */
  squares?: number
  valueSquares?: number[]
  parts?: PartSums
}

/**
 * Returns the scope, sampled if it has more events than a query may read, according to the stored counts, or if a
 * smaller sample was requested. Throws `AppError('invalid')` if `asked` is not a power of two.
 */
export async function sampledScope(
  sources: Pick<Sources, 'history' | 'maxEventsRead'>,
  scope: ListScope,
  asked = 1,
): Promise<ListScope> {
  if (!Number.isInteger(Math.log2(asked))) throw new AppError('invalid', 'query.oneIn: must be a power of two')
  const rate = await sampleRate(sources, scope, (binder) => [namesSql(scope, binder)])
  return { ...scope, oneIn: Math.max(asked, rate) }
}

/** Number of most frequent values read from a sample of a crowded list, as a multiple of the number returned. */
const CANDIDATES = 5
const SUSPECT_CANDIDATES = 1000

/**
 * Strings that indicate personal data, including the stars of masked data. Seven digits or a match of a custom pattern
 * also indicate it.
 */
const PERSONAL_PARTS = ['@', '%', '***']
const SEVEN_DIGITS = '((?:[0-9][^0-9]*){7})'

const SAMPLE_SHARE = 1 / 48

/** A sample of the window. All parts have the same length in ms. They are sorted newest first. */
interface Sample {
  length: number
  ends: Instant[]
}

/** Returns the sample. Its end is the newest event, because traffic may stop long before the end of the window. */
async function sampleOf(history: History, scope: ListScope, { parts }: ListForm): Promise<Sample> {
  const { from, to } = scope.window
  const [counted] = await history.query<{ minute: Instant | null; events: number | null }>(
    query('insights.newest-minute', {
      over: 'counts',
      orgId: scope.orgId,
      window: scope.window,
      write: (binder) => ({
        sql: `SELECT max(minute) AS minute, sum(events) AS events FROM counts WHERE ${namesSql(scope, binder)}`,
      }),
    }),
  )
  const end = Math.min(to, (counted?.minute ?? to) + MINUTE_MS)
  if (!parts) return { length: Math.max(HOUR_MS, (to - from) * SAMPLE_SHARE), ends: [end] }
  const span = end - from
  const events = (counted?.events ?? 0) / (scope.oneIn ?? 1)
  const length = Math.ceil((span * parts.events) / Math.max(1, events))
  if (length * parts.count >= span) return { length: span, ends: [end] }
  const apart = Math.floor(span / parts.count)
  return { length, ends: Array.from({ length: parts.count }, (_, part) => end - apart * part) }
}

/**
 * Returns the crowded lists, which have too many distinct values in the newest part of the window. They contain the
 * values that are frequent in any part of the sample. All other facts are from the newest part only.
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
        over: 'parameters',
        orgId: scope.orgId,
        window: { from: Math.max(scope.window.from, end - length), to: end },
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

/** Returns the lists of all other keys with exact counts. */
export function exactLists(history: History, scope: ListScope, form: ListForm, except: readonly string[]) {
  return history.query<ValueList>(
    query('insights.parameter-values', {
      over: 'parameters',
      orgId: scope.orgId,
      window: scope.window,
      write: (binder) => ({
        ...formOf(scope, binder, { by: form.by, except }),
        sql: `SELECT * FROM (${listsSql(binder, scope, form)}) ${form.most}`,
      }),
    }),
  )
}

/**
 * Returns the lists of these keys with exact counts. In crowded lists, only the values that are frequent in the newest
 * part are counted, or none without `shown`. The total includes all values.
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
      over: 'parameters',
      orgId: scope.orgId,
      window: scope.window,
      write: (binder) => ({
        ...formOf(scope, binder, { by: form.by, only: keys, among }),
        sql: `SELECT * FROM (${listsSql(binder, scope, form)}) ${form.most}`,
      }),
    }),
  )
}

export const keysOf = (lists: readonly Pick<ValueList, 'key'>[]) => [...new Set(lists.map(({ key }) => key))].sort()

/** Returns which part of the history to read. */
export function formOf(
  scope: ListScope,
  binder: Binder,
  { by, as = 'values', ...form }: Omit<ParameterForm, 'as'> & Partial<Pick<ParameterForm, 'as'>>,
): Pick<Statement, 'form' | 'where'> {
  const isParted = isSampled(scope) && as === 'values'
  return { where: scopeSql(scope, binder), form: { ...form, as, by: isParted ? [...by, 'samplePart'] : by } }
}

const isSampled = ({ oneIn = 1 }: ListScope) => oneIn > 1

export function scopeSql(scope: ListScope, binder: Binder): string {
  const { segment = [], oneIn = 1 } = scope
  return [
    namesSql(scope, binder),
    ...(segment.length > 0 ? [filtersSql(segment, binder).sql] : []),
    ...sessionTests(oneIn, binder),
  ].join(' AND ')
}

/** Like `scopeSql` without segments, which counts do not have. */
function namesSql({ domainIds, vendor, event, env }: ListScope, binder: Binder): string {
  const named = Object.entries({ vendor, event, env }).flatMap(([column, value]) =>
    value === undefined ? [] : [`${column} = ${binder.bind(value)}`],
  )
  return [...binder.among('domainId', domainIds), ...named].join(' AND ')
}

/** Returns a SELECT with one row per list, with the columns of `ValueList`. */
function listsSql(binder: Binder, scope: ListScope, form: ListForm): string {
  if (!isSampled(scope)) return countedListsSql(binder, scope, form, { from: 'parameters', more: '' })
  const group = [...form.by, 'key'].join(', ')
  const lists = countedListsSql(binder, scope, form, { from: 'parted', more: ', sum(weight * weight) AS squares' })
  const parts = form.parted ? `, ${binder.dialect.sortedRows(['samplePart', 'weight'])} AS parts` : ''
  return `WITH parted AS MATERIALIZED (
      SELECT ${group}, samplePart, value, sum(weight) AS weight, max(lastAt) AS lastAt FROM parameters
      GROUP BY ${group}, samplePart, value
    )
    SELECT * FROM (${lists}) AS lists JOIN (
      SELECT ${group}, sum(weight * weight) AS squares${parts} FROM (
        SELECT ${group}, samplePart, sum(weight) AS weight FROM parted GROUP BY ${group}, samplePart
      ) AS sums GROUP BY ${group}
    ) AS totals USING (${group})`
}

/** `from`: the counts to add up. `more`: further sums of each value. */
function countedListsSql(
  binder: Binder,
  { patterns }: ListScope,
  { by, typed, shown, maybePersonal }: ListForm,
  { from, more }: { from: string; more: string },
): string {
  const { dialect } = binder
  const group = [...by, 'key'].join(', ')
  // All uncounted values form one row without a value. It is sorted last, so that it does not replace a value. Sums
  // that differ only in their last digits, because of the order of addition, are treated as equal.
  const order = 'value IS NULL, round(weight, 6) DESC, value'
  const listed = (column: string) =>
    `coalesce(array_agg(${column}) FILTER (WHERE value IS NOT NULL AND place <= CASE WHEN isSuspect THEN ${maybePersonal} ELSE ${shown} END), [])`
  const sumOf = (type: string) => (typed ? `coalesce(sum(weight) FILTER (WHERE type = '${type}'), 0)` : '0')
  const type = typed ? `${typeSql(dialect, 'value', binder.bind(`(${NUMBER_PATTERN})`))} AS type, ` : ''
  return `SELECT ${group}, sum(weight) AS weight, max(lastAt) AS lastAt, ${sumOf('number')} AS numbers,
      ${sumOf('boolean')} AS booleans, count(value) AS different, count(*) FILTER (WHERE isSuspect) AS suspects,
      ${listed('value')} AS "values", ${listed('weight')} AS weights, ${listed('CASE WHEN isSuspect THEN 1 ELSE 0 END')} AS areSuspect${more ? `, ${listed('squares')} AS valueSquares` : ''}
    FROM (
      SELECT *, row_number() OVER (PARTITION BY ${group}, isSuspect ORDER BY ${order}) AS place
      FROM (
        SELECT *, ${type}${suspectSql(binder, 'value', patterns)} AS isSuspect
        FROM (SELECT ${group}, value, sum(weight) AS weight, max(lastAt) AS lastAt${more} FROM ${from} GROUP BY ${group}, value)
      )
    ) GROUP BY ${group}`
}

/**
 * Returns SQL for the type of a value. The first character already excludes most non-numbers, which is cheaper than a
 * pattern.
 */
const typeSql = (
  dialect: Dialect,
  text: string,
  number: string,
) => `CASE WHEN ${text} IN ('true', 'false') THEN 'boolean'
  WHEN ${text} >= '+' AND ${text} < ':' THEN CASE WHEN ${dialect.matches(text, number)} THEN 'number' ELSE 'text' END
  ELSE 'text' END`

/** Returns SQL that is true when masking may change a value or make another value equal to it. Never NULL. */
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
