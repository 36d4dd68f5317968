import { HOUR_MS } from '../core/clock.ts'
import { unitSql } from '../warehouse/dialect.ts'
import { type Binder, type Query, query, type Statement } from '../warehouse/query.ts'
import type { PairedDimension } from './find-segments.ts'
import { DIMENSIONS, type Dimension, SESSION_CAP, type SegmentKey, type Tally } from './segment.ts'

/** Value of events for which a property is unknown. */
export const UNKNOWN = 'unknown'
/** Maximum number of values of a dimension that are compared: those with the most violations and events. */
const MAX_VALUES = 200

/** SQL on the compared relation, with its values in the given binder. */
export type EventTest = (binder: Binder) => Pick<Statement, 'sql' | 'keys' | 'wholeParams'>

/** The events that are compared. */
export interface SegmentScope {
  orgId: string
  window: Query['window']
  /** The compared relation, with the same columns as `events`. Default: `events`. */
  relation?(binder: Binder): Statement
  /** True for the events that are compared. */
  includes: EventTest
  /** True for violating events; never NULL. */
  violates: EventTest
  /** SQL for the weight of an event. Default: the stored weight. */
  weight?(binder: Binder): string
  /** Maximum number of events that a session contributes to capped sums. Default: `SESSION_CAP`. */
  sessionCap?: number
}

/** How the events are sampled. A sampled event represented for several. */
export interface SegmentSampling {
  /** One in this many sessions is read; 1: all. */
  oneIn: number
  /** True if violating events are read in all sessions. */
  keepsViolating: boolean
}

export interface SizeRow {
  /** Number of stored events, unweighted. */
  events: number
  violatingEvents: number
  /** Weighted sums. */
  total: number
  violating: number
}

const storedWeight = () => 'weight'

/** Writes the parts of a scope. `reads`: what the parts need. */
function scopeSql({ relation, includes, violates, weight = storedWeight }: SegmentScope, binder: Binder) {
  const [compared, included, violating] = [relation?.(binder), includes(binder), violates(binder)]
  const parts: readonly Statement[] = [...(compared ? [compared] : []), included, violating]
  return {
    from: compared ? `(${compared.sql}) AS compared` : 'events',
    included: included.sql,
    violating: violating.sql,
    weight: weight(binder),
    reads: {
      keys: [...new Set(parts.flatMap(({ keys = [] }) => keys))],
      wholeParams: parts.some(({ wholeParams = false }) => wholeParams),
      anyTests: parts.flatMap(({ anyTests = [] }) => anyTests),
    },
  }
}

/** Returns the query for the number of events in the scope. */
export function sizeQuery(scope: SegmentScope): Query {
  return query('segments.size', {
    orgId: scope.orgId,
    window: scope.window,
    write(binder) {
      const { from, included, violating, weight, reads } = scopeSql(scope, binder)
      return {
        sql: `SELECT count(*) AS events, coalesce(sum(CASE WHEN violates THEN 1 ELSE 0 END), 0) AS "violatingEvents",
            coalesce(sum(represented), 0) AS total, coalesce(sum(CASE WHEN violates THEN represented ELSE 0 END), 0) AS violating
          FROM (SELECT ${weight} AS represented, ${violating} AS violates FROM ${from} WHERE ${included}) AS tested`,
        ...reads,
      }
    },
  })
}

/** Value of each dimension, never NULL. */
function valueSql(dimension: Dimension, { dialect: { quotient } }: Binder): string {
  if (dimension === 'hour') {
    const hour = `${quotient('receivedAt', HOUR_MS)} % 24`
    return `concat(CASE WHEN ${hour} < 10 THEN '0' ELSE '' END, CAST(${hour} AS VARCHAR), ':00')`
  }
  if (dimension !== 'browserVersion') return `coalesce(nullif(${dimension}, ''), '${UNKNOWN}')`
  return `CASE WHEN browser <> '' AND browserVersion <> '' THEN browser || ' ' || browserVersion ELSE '${UNKNOWN}' END`
}

/** Sums over the events with these values; without dimensions, over all events. */
export type TallyRow = Tally & { dimensions: readonly Dimension[]; values: readonly string[] }

interface Grouping {
  sampling: SegmentSampling
  /** Events of these segments are not read. */
  without: readonly SegmentKey[]
  sets: readonly (readonly Dimension[])[]
  /** Values to distinguish, by dimension; all others become the empty string. Empty: all values. */
  among: readonly PairedDimension[]
}

/** Returns the query for the sums by value of every dimension, and over all events. */
export function singlesQuery(scope: SegmentScope, options: Pick<Grouping, 'sampling' | 'without'>): Query {
  const sets = [[], ...DIMENSIONS.map((dimension) => [dimension])]
  return query('segments.singles', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => talliesSql(scope, { ...options, sets, among: [] }, binder),
    read: (row: RawRow) => tallyOf(row, DIMENSIONS),
  })
}

/** Returns the query for the sums by pair of values. */
export function pairsQuery(scope: SegmentScope, options: Omit<Grouping, 'sets'>): Query {
  const { among } = options
  const sets = among.flatMap(({ dimension }, at) => among.slice(at + 1).map((other) => [dimension, other.dimension]))
  return query('segments.pairs', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => talliesSql(scope, { ...options, sets }, binder),
    read: (row: RawRow) =>
      tallyOf(
        row,
        among.map(({ dimension }) => dimension),
      ),
  })
}

function talliesSql(scope: SegmentScope, { sampling, without, sets, among }: Grouping, binder: Binder): Statement {
  const { from, included, violating, weight: stored, reads } = scopeSql(scope, binder)
  const used = among.length > 0 ? among.map(({ dimension }) => dimension) : DIMENSIONS
  const excluded = without.map((key) => `NOT (${keySql(key, binder)})`)
  const columns = DIMENSIONS.map((dimension) => `${valueSql(dimension, binder)} AS ${columnOf(dimension)}`)
  const grouped = used.map((dimension) => {
    const values = among.find((one) => one.dimension === dimension)?.values
    const column = columnOf(dimension)
    return values
      ? `CASE WHEN ${binder.among(column, values).join('') || 'false'} THEN ${column} ELSE '' END AS ${column}`
      : column
  })
  const { sampled, weight } = samplingSql(sampling, violating, binder)
  // Rounded, because engines add in different orders.
  const sum = (name: string, sql: string) => `round(coalesce(sum(${sql}), 0), 6) AS "${name}"`
  return {
    sql: `SELECT * FROM (
      WITH seen AS MATERIALIZED (
        SELECT domainId, sender, ${weight} AS represented, violates, ${used.map(columnOf).join(', ')} FROM (
          SELECT domainId, ${stored} AS counted, ${SENDER} AS sender,
            ${violating} AS violates, ${columns.join(', ')}
          FROM ${from} WHERE ${[`(${included})`, ...sampled].join(' AND ')}
        ) AS tested WHERE ${['true', ...excluded].join(' AND ')}
      ),
      sessions AS MATERIALIZED (
        SELECT domainId, sender, sum(represented) AS ofSession,
          sum(CASE WHEN violates THEN represented ELSE 0 END) AS violatingOfSession, least(1.0, ${scope.sessionCap ?? SESSION_CAP}.0 / count(*)) AS part
        FROM seen GROUP BY domainId, sender
      ),
      parts AS (
        SELECT CASE WHEN violates THEN represented ELSE 0 END AS hit, represented, part, ofSession, violatingOfSession, ${grouped.join(', ')}
        FROM seen JOIN sessions USING (domainId, sender)
      ),
      sums AS (
        SELECT grouping(${used.map(columnOf).join(', ')}) AS grouped,
          ${used.map(columnOf).join(', ')},
          ${sum('violating', 'hit')}, ${sum('total', 'represented')},
          ${sum('cappedViolating', 'hit * part')}, ${sum('cappedTotal', 'represented * part')},
          ${sum('violatingSquares', 'hit * violatingOfSession * part * part')},
          ${sum('products', '(hit * ofSession + represented * violatingOfSession) * part * part / 2')},
          ${sum('totalSquares', 'represented * ofSession * part * part')}
        FROM parts GROUP BY GROUPING SETS (${sets.map((set) => `(${set.map(columnOf).join(', ')})`).join(', ')})
      )
      SELECT grouped, ${used.map((dimension) => `coalesce(${columnOf(dimension)}, '') AS "${dimension}"`).join(', ')}, violating, total,
        "cappedViolating", "cappedTotal", "violatingSquares", products, "totalSquares"
      FROM sums
      QUALIFY row_number() OVER (
        PARTITION BY grouped ORDER BY "cappedViolating" DESC, total DESC, ${used.map(columnOf).join(', ')}
      ) <= ${MAX_VALUES}
    )`,
    ...reads,
  }
}

const columnOf = (dimension: Dimension) => `${dimension}Value`

/** Returns SQL that is true for the events of the segment. */
function keySql({ dimensions, values }: SegmentKey, binder: Binder): string {
  return dimensions.map((dimension, at) => `${columnOf(dimension)} = ${binder.bind(values[at] ?? '')}`).join(' AND ')
}

/** An event without a session counts as one session. */
const UNIT = ['sessionId', `concat('#', CAST(seq AS VARCHAR))`]
const SENDER = unitSql(UNIT)

/**
 * Returns the tests that select the sample, and the weight of an event in it. The tests are on columns of `events`,
 * because the engine otherwise computes the values of all events first, which takes five times as long.
 */
function samplingSql(
  { oneIn, keepsViolating }: SegmentSampling,
  violates: string,
  { dialect }: Binder,
): { sampled: string[]; weight: string } {
  if (oneIn === 1) return { sampled: [], weight: 'counted' }
  const isDrawn = dialect.sampled(UNIT, oneIn)
  if (!keepsViolating) return { sampled: [isDrawn], weight: `counted * ${oneIn}` }
  return {
    sampled: [`(${violates} OR ${isDrawn})`],
    weight: `CASE WHEN violates THEN counted ELSE counted * ${oneIn} END`,
  }
}

type RawRow = Tally &
  Readonly<Record<Dimension, string>> & {
    /** `GROUPING` of the used dimensions: the bit of a dimension that is not grouped is 1; the last one has bit 0. */
    grouped: number
  }

/** Null for a pair in which a value is none of those told apart. */
function tallyOf({ grouped, ...row }: RawRow, used: readonly Dimension[]): TallyRow | null {
  const dimensions = used.filter((_, at) => (grouped & (1 << (used.length - 1 - at))) === 0)
  const values = dimensions.map((dimension) => row[dimension])
  if (values.includes('')) return null
  const { violating, total, cappedViolating, cappedTotal, violatingSquares, products, totalSquares } = row
  return {
    dimensions,
    values,
    violating,
    total,
    cappedViolating,
    cappedTotal,
    violatingSquares,
    products,
    totalSquares,
  }
}

/**
 * Returns the query for the weighted events of these segments, in one row: for segment 0, `violating0` and `healthy0`,
 * and so on.
 */
export function segmentTotalsQuery(scope: SegmentScope, keys: readonly SegmentKey[]): Query {
  return query('segments.totals', {
    orgId: scope.orgId,
    window: scope.window,
    write(binder) {
      const { from, included, violating, weight, reads } = scopeSql(scope, binder)
      const used = [...new Set(keys.flatMap(({ dimensions }) => [...dimensions]))]
      const columns = used.map((dimension) => `${valueSql(dimension, binder)} AS ${columnOf(dimension)}`)
      const sums = keys.flatMap((key, at) => {
        const own = keySql(key, binder)
        const sum = (test: string) => `coalesce(sum(CASE WHEN ${test} AND ${own} THEN represented ELSE 0 END), 0)`
        return [`${sum('violates')} AS "violating${at}"`, `${sum('NOT violates')} AS "healthy${at}"`]
      })
      return {
        sql: `SELECT ${sums.join(', ')} FROM (
          SELECT ${weight} AS represented, ${violating} AS violates, ${columns.join(', ')}
          FROM ${from} WHERE ${included}
        ) AS seen`,
        ...reads,
      }
    },
  })
}
