import { textTests } from '../conditions/condition-sql.ts'
import { DAY_MS, MINUTE_MS } from '../core/clock.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import { OTHER } from '../warehouse/relation-columns.ts'
import type { Sources } from './insight.ts'
import { sampleRate, sessionTests } from './sample-estimates.ts'
import { namedTotalsQuery } from './scores.ts'
import { byMoney, isSteady, type KeyFacts, MAX_VALUES } from './suggest-rules.ts'

/**
 * Minimum number of events with one name in a day. Days with fewer are ignored when checking that a key is present
 * every day.
 */
const MIN_DAILY_EVENTS = 20
/** Maximum number of distinct keys examined. Keys related to money take precedence. */
const MAX_KEYS = 60
/** Above this number of events, keys and the types of their values are determined from the last day only. */
const MAX_EVENTS = 500_000
/** Minimum share of sampled events with a key; keys below it are not examined further. */
const LIKELY_PRESENCE = 0.9

interface Name {
  domainId: string
  vendor: string
  event: string
}
interface Key extends Name {
  key: string
}
type NamedWeight = Name & { weight: number }
type NameRow = NamedWeight & { day: number }
type ShapeRow = Key & { weight: number; different: number; numbers: number }
type ValueRow = Key & { value: string; weight: number }

type Window = Query['window']
/** The scope whose parameters are examined. */
export interface Scope {
  orgId: string
  domainIds: readonly string[]
  window: Window
  /** Sampling: one in this many sessions is read. Default: 1, all. */
  oneIn?: number
}

/** Facts about keys. `oneIn`: one in this many sessions was read; the facts count only their events. */
export interface ExaminedKeys {
  facts: KeyFacts[]
  oneIn: number
}

const nameOf = ({ domainId, vendor, event }: Name) => [domainId, vendor, event].join('\0')
const keyOf = (one: Key) => `${nameOf(one)}\0${one.key}`
const weightOf = (rows: readonly { weight: number }[]) => rows.reduce((sum, { weight }) => sum + weight, 0)

/**
 * Returns facts about the keys that were present in events of one name every day, and about their values. Limited to
 * the keys most closely related to money. Events that were sampled on arrival are weighted. Large scopes are sampled by
 * session.
 */
export async function keyFacts(
  sources: Pick<Sources, 'history' | 'maxEventsRead'>,
  orgId: string,
  domainIds: readonly string[],
  window: Window,
): Promise<ExaminedKeys> {
  const { history } = sources
  const oneIn = await sampleRate(sources, { orgId, window }, (binder) => binder.among('domainId', domainIds))
  return { facts: await factsIn(history, { orgId, domainIds, window, oneIn }), oneIn }
}

async function factsIn(history: Sources['history'], scope: Scope & { oneIn: number }): Promise<KeyFacts[]> {
  const { window, oneIn } = scope
  const counted = (await countedNames(history, scope)).map((row) => ({ ...row, weight: row.weight / oneIn }))
  const isSmall = weightOf(counted) <= MAX_EVENTS
  const sample = isSmall ? scope : { ...scope, window: { ...window, from: Math.max(window.from, window.to - DAY_MS) } }
  const sampled = await history.query<NameRow>(namesQuery(sample))
  const areAll = counted.every(({ vendor, event }) => vendor !== OTHER && event !== OTHER)
  const names = isSmall ? sampled : areAll ? counted : await history.query<NameRow>(namesQuery(scope))
  const shapes = await history.query<ShapeRow>(shapesQuery(sample))
  const likely = likelyKeys(names, sampled, shapes)
  const keys = [...new Set(likely.map(({ key }) => key))]
  if (keys.length === 0) return []
  const numeric = new Set(
    likely.filter(({ weight, numbers }) => numbers >= weight * LIKELY_PRESENCE).map(({ key }) => key),
  )
  const had = await history.query<NameRow>(presenceQuery(scope, keys, numeric))
  const few = likely.filter(({ different }) => different <= MAX_VALUES)
  const values =
    few.length > 0 ? await history.query<ValueRow>(valuesQuery(scope, [...new Set(few.map(({ key }) => key))])) : []
  const valuesOf = Map.groupBy(values, keyOf)
  const isFew = new Set(few.map(keyOf))
  return markConstants(
    presenceOf(had, likely, keys)
      .filter(isSteady)
      .sort(byMoney)
      .map((one) => ({ ...one, values: isFew.has(keyOf(one)) ? valuesIn(valuesOf.get(keyOf(one))) : TOO_MANY })),
  )
}

/**
 * Returns the weights of all names. Uses counts, because reading events would take a hundred times as long. The weights
 * may include up to a minute of events before the window.
 */
function countedNames(history: Sources['history'], { orgId, domainIds, window }: Scope): Promise<NamedWeight[]> {
  return history.query(namedTotalsQuery(orgId, domainIds, { ...window, from: window.from - MINUTE_MS }))
}

/** Returns the keys that, in the sample, occur in most events of a frequent name. Keys related to money come first. */
function likelyKeys(
  names: readonly NamedWeight[],
  sampled: readonly NameRow[],
  shapes: readonly ShapeRow[],
): ShapeRow[] {
  const [all, some] = [Map.groupBy(names, nameOf), Map.groupBy(sampled, nameOf)]
  const likely = shapes
    .filter((row) => row.weight >= weightOf(some.get(nameOf(row)) ?? []) * LIKELY_PRESENCE)
    .map((row) => ({ ...row, events: weightOf(all.get(nameOf(row)) ?? []) }))
    .filter((row) => isSteady({ ...row, present: row.events, leastDailyShare: 1 }))
    .sort((a, b) => byMoney({ ...a, present: 0, leastDailyShare: 0 }, { ...b, present: 0, leastDailyShare: 0 }))
  const keys = new Set<string>()
  return likely.filter(({ key }) => {
    if (keys.size < MAX_KEYS) keys.add(key)
    return keys.has(key)
  })
}

/**
 * Returns how often each key was present. `had`: events by name and day. The numbered columns contain the number of
 * events in which a key was present (`had0`) and in which it was a number (`numbers0`).
 */
function presenceOf(
  had: readonly NameRow[],
  likely: readonly Key[],
  keys: readonly string[],
): Omit<KeyFacts, 'values'>[] {
  const ofName = Map.groupBy(had, nameOf)
  return likely.map(({ domainId, vendor, event, key }) => {
    const at = keys.indexOf(key)
    const days = (ofName.get(nameOf({ domainId, vendor, event })) ?? []) as (NameRow & Record<string, number>)[]
    const sum = (column: string) => days.reduce((sum, day) => sum + (day[column] ?? 0), 0)
    const shares = days
      .filter(({ weight }) => weight >= MIN_DAILY_EVENTS)
      .map((day) => (day[`had${at}`] ?? 0) / day.weight)
    return {
      domainId,
      vendor,
      event,
      key,
      events: weightOf(days),
      present: sum(`had${at}`),
      numbers: sum(`numbers${at}`),
      leastDailyShare: Math.min(1, ...shares),
      isConstant: false,
    }
  })
}

/** Represents more values than a rule can list. */
const TOO_MANY = Array.from({ length: MAX_VALUES + 1 }, () => ({ value: '', events: 0 }))

const valuesIn = (rows: readonly ValueRow[] = []) => rows.map(({ value, weight }) => ({ value, events: weight }))

/** Marks the keys that have the same value in all frequent events of their vendor. */
function markConstants(facts: readonly KeyFacts[]): KeyFacts[] {
  const vendorOf = ({ domainId, vendor }: Name) => `${domainId}\0${vendor}`
  const names = Map.groupBy(facts, vendorOf)
  const frequent = new Map([...names].map(([vendor, own]) => [vendor, new Set(own.map(({ event }) => event)).size]))
  const ofKey = Map.groupBy(facts, (one) => `${vendorOf(one)}\0${one.key}`)
  return facts.map((one) => {
    const all = ofKey.get(`${vendorOf(one)}\0${one.key}`) ?? []
    const values = new Set(all.flatMap((other) => other.values.map(({ value }) => value)))
    const events = frequent.get(vendorOf(one)) ?? 0
    return { ...one, isConstant: events > 1 && all.length === events && values.size === 1 && one.values.length === 1 }
  })
}

const scopeSql = ({ domainIds, oneIn = 1 }: Scope, binder: Binder) =>
  [...binder.among('domainId', domainIds), ...sessionTests(oneIn, binder)].join(' AND ')

/** Returns the query for the weights of events by name and UTC day. */
export function namesQuery(scope: Scope): Query {
  return query('insights.daily-names', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({
      sql: `SELECT domainId, vendor, event, ${binder.dialect.quotient('receivedAt', DAY_MS)} AS "day", sum(weight) AS weight
        FROM events WHERE ${scopeSql(scope, binder)} AND kind <> 'library' GROUP BY ALL`,
    }),
  })
}

/** Returns facts about the values of each key. */
export function shapesQuery(scope: Scope): Query {
  return query('insights.value-shapes', {
    over: 'parameters' as const,
    orgId: scope.orgId,
    window: scope.window,
    write(binder) {
      const { isNumber } = textTests(binder)
      return {
        form: { by: ['domainId', 'vendor', 'event'], as: 'values' },
        where: scopeSql(scope, binder),
        sql: `SELECT domainId, vendor, event, key, count(DISTINCT value) AS different, sum(weight) AS weight,
            sum(CASE WHEN ${isNumber('value')} THEN weight ELSE 0 END) AS numbers
          FROM parameters GROUP BY domainId, vendor, event, key`,
      }
    },
  })
}

/**
 * Returns the query for the presence of keys. It reads the events once, with one column per key and a second column per
 * key that may contain numbers.
 */
export function presenceQuery(scope: Scope, keys: readonly string[], numeric: ReadonlySet<string>): Query {
  return query('insights.key-presence', {
    orgId: scope.orgId,
    window: scope.window,
    write(binder) {
      const { dialect } = binder
      const { isBlank, isNumber } = textTests(binder)
      const columns = keys.flatMap((key, at) => {
        const text = dialect.key(key)
        // When most events lack the key, testing for NULL first is a third cheaper than testing for an empty string.
        const had = `sum(CASE WHEN ${text} IS NULL THEN 0 WHEN ${isBlank(text)} THEN 0 ELSE weight END) AS had${at}`
        if (!numeric.has(key)) return [had]
        return [had, `sum(CASE WHEN ${isNumber(text)} THEN weight ELSE 0 END) AS numbers${at}`]
      })
      return {
        keys,
        sql: `SELECT domainId, vendor, event, ${dialect.quotient('receivedAt', DAY_MS)} AS "day", sum(weight) AS weight,
            ${columns.join(', ')}
          FROM events WHERE ${scopeSql(scope, binder)} AND kind <> 'library' GROUP BY ALL`,
      }
    },
  })
}

/**
 * Returns the query for the values of keys. It reads one value more than a rule can list, so that keys with too many
 * values are recognised.
 */
export function valuesQuery(scope: Scope, keys: readonly string[]): Query {
  return query('insights.few-values', {
    over: 'parameters' as const,
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({
      form: { by: ['domainId', 'vendor', 'event'], as: 'values', only: keys },
      where: scopeSql(scope, binder),
      sql: `SELECT * FROM (
          SELECT domainId, vendor, event, key, value, sum(weight) AS weight
          FROM parameters GROUP BY domainId, vendor, event, key, value
        ) AS counted
        QUALIFY row_number() OVER (
          PARTITION BY domainId, vendor, event, key ORDER BY weight DESC, value) <= ${MAX_VALUES + 1}`,
    }),
  })
}
