import { DAY_MS } from '../core/clock.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { Sources } from './insight.ts'
import { byMoney, isSteady, type KeyFacts, MAX_VALUES, NOT_NUMBER, type Presence } from './suggestion.ts'

/** Days with fewer events of a name say nothing of how steady its keys are. */
const MIN_DAILY_EVENTS = 20
/** The most keys whose values are looked at: what money depends on first. */
const MAX_KEYS = 200
/** Of more events than this only the last day's values say what kinds of values a key has. */
const MAX_EVENTS = 500_000

interface Name {
  domainId: string
  vendor: string
  event: string
}
type NameRow = Name & { day: number; weight: number }
type KeyRow = Name & { key: string; weight: number }
type ShapeRow = KeyRow & { different: number; numbers: number }
type ValueRow = KeyRow & { value: string }

type Window = Query['window']
/** Whose parameters are looked at. */
interface Scope {
  orgId: string
  domainIds: readonly string[]
  window: Window
}

const nameOf = ({ domainId, vendor, event }: Name) => [domainId, vendor, event].join('\0')
const keyOf = (row: Name & { key: string }) => `${nameOf(row)}\0${row.key}`

/**
 * Returns the keys that every event of their name has had, day after day, with what is known of their values; the 200
 * that money depends on most. Of events that were sampled each counts by its weight.
 */
export async function keyFacts(
  { history }: Pick<Sources, 'history'>,
  orgId: string,
  domainIds: readonly string[],
  window: Window,
): Promise<KeyFacts[]> {
  const scope = { orgId, domainIds, window }
  const names = await history.query<NameRow>(namesQuery(scope))
  const days: { day: number; rows: KeyRow[] }[] = []
  for (const day of new Set(names.map((row) => row.day))) {
    const rows = await history.query<KeyRow>(presenceQuery({ ...scope, window: within(window, day) }))
    days.push({ day, rows })
  }
  const steady = presenceOf(names, days).filter(isSteady).sort(byMoney).slice(0, MAX_KEYS)
  if (steady.length === 0) return []
  const events = names.reduce((sum, { weight }) => sum + weight, 0)
  return withValues(history, scope, steady, events <= MAX_EVENTS ? window : { ...window, from: window.to - DAY_MS })
}

const within = ({ from, to }: Window, day: number): Window => ({
  from: Math.max(from, day * DAY_MS),
  to: Math.min(to, (day + 1) * DAY_MS),
})

function presenceOf(names: readonly NameRow[], days: readonly { day: number; rows: readonly KeyRow[] }[]): Presence[] {
  const ofName = Map.groupBy(names, nameOf)
  const ofKey = Map.groupBy(
    days.flatMap(({ day, rows }) => rows.map((row) => ({ ...row, day }))),
    keyOf,
  )
  return [...ofKey.values()].flatMap((rows): Presence[] => {
    const [first] = rows
    const own = first && ofName.get(nameOf(first))
    if (!own) return []
    const had = new Map(rows.map(({ day, weight }) => [day, weight]))
    const shares = own
      .filter(({ weight }) => weight >= MIN_DAILY_EVENTS)
      .map(({ day, weight }) => (had.get(day) ?? 0) / weight)
    const { domainId, vendor, event, key } = first
    return [
      {
        ...{ domainId, vendor, event, key },
        events: own.reduce((sum, { weight }) => sum + weight, 0),
        present: rows.reduce((sum, { weight }) => sum + weight, 0),
        leastDailyShare: Math.min(1, ...shares),
      },
    ]
  })
}

/** Adds values: of keys with few of them all, of keys that hold numbers how many do. `sample`: where that is looked at first. */
async function withValues(
  history: Sources['history'],
  scope: Scope,
  steady: readonly Presence[],
  sample: Window,
): Promise<KeyFacts[]> {
  const keys = [...new Set(steady.map(({ key }) => key))]
  const shapes = await history.query<ShapeRow>(shapesQuery({ ...scope, window: sample }, keys))
  const shapeOf = new Map(shapes.map((row) => [keyOf(row), row]))
  const isFew = (one: Presence) => (shapeOf.get(keyOf(one))?.different ?? Number.POSITIVE_INFINITY) <= MAX_VALUES
  const few = [...new Set(steady.filter(isFew).map(({ key }) => key))]
  const values = few.length > 0 ? await history.query<ValueRow>(valuesQuery(scope, few)) : []
  const valuesOf = Map.groupBy(values, keyOf)
  const facts = steady.map((one): KeyFacts => {
    const shape = shapeOf.get(keyOf(one))
    const own = isFew(one) ? (valuesOf.get(keyOf(one)) ?? []) : []
    return {
      ...one,
      // Of a sample, as if the rest were alike: the backtest looks at all of it.
      numbers: shape && shape.weight > 0 ? (shape.numbers / shape.weight) * one.present : 0,
      values: own.length > 0 ? own.map(({ value, weight }) => ({ value, events: weight })) : TOO_MANY,
      isConstant: false,
    }
  })
  return markConstants(facts)
}

/** More values than a rule can list, whichever they are. */
const TOO_MANY = Array.from({ length: MAX_VALUES + 1 }, () => ({ value: '', events: 0 }))

/** Marks keys that all frequent events of their vendor have, always with one and the same value. */
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

function namesQuery({ orgId, domainIds, window }: Scope): Query {
  return query('insights.daily-names', {
    ...{ orgId, window },
    write: (binder) => ({
      sql: `SELECT domainId, vendor, event, ${binder.dialect.quotient('receivedAt', DAY_MS)} AS "day", sum(weight) AS weight
        FROM events WHERE ${binder.among('domainId', domainIds).join('')} AND kind <> 'library' GROUP BY ALL`,
    }),
  })
}

const NAME_COLUMNS = ['domainId', 'vendor', 'event'] as const

/** Rare keys are left out: no rule can come of them. */
function presenceQuery({ orgId, domainIds, window }: Scope): Query {
  return query('insights.key-presence', {
    ...{ over: 'parameters' as const, orgId, window },
    write: (binder) => ({
      form: { by: NAME_COLUMNS, as: 'values', among: [] },
      where: binder.among('domainId', domainIds).join(''),
      sql: 'SELECT domainId, vendor, event, key, sum(weight) AS weight FROM parameters GROUP BY ALL',
    }),
  })
}

function shapesQuery({ orgId, domainIds, window }: Scope, keys: readonly string[]): Query {
  return query('insights.value-shapes', {
    ...{ over: 'parameters' as const, orgId, window },
    write(binder) {
      const isNumber = `NOT (${binder.dialect.matches('value', binder.bind(`(${NOT_NUMBER})`))})`
      return {
        form: { by: NAME_COLUMNS, as: 'values', only: keys },
        where: binder.among('domainId', domainIds).join(''),
        sql: `SELECT domainId, vendor, event, key, count(DISTINCT value) AS different, sum(weight) AS weight,
            sum(CASE WHEN ${isNumber} THEN weight ELSE 0 END) AS numbers
          FROM parameters GROUP BY domainId, vendor, event, key`,
      }
    },
  })
}

/** One value more than a rule lists, so that too many are seen to be so. */
function valuesQuery({ orgId, domainIds, window }: Scope, keys: readonly string[]): Query {
  return query('insights.few-values', {
    ...{ over: 'parameters' as const, orgId, window },
    write: (binder) => ({
      form: { by: NAME_COLUMNS, as: 'values', only: keys },
      where: binder.among('domainId', domainIds).join(''),
      sql: `SELECT * FROM (
          SELECT domainId, vendor, event, key, value, sum(weight) AS weight
          FROM parameters GROUP BY domainId, vendor, event, key, value
        )
        QUALIFY row_number() OVER (
          PARTITION BY domainId, vendor, event, key ORDER BY weight DESC, value) <= ${MAX_VALUES + 1}
        ORDER BY domainId, vendor, event, key, weight DESC, value`,
    }),
  })
}
