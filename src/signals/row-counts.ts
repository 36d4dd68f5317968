import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { type Binder, type Query, query, type Statement } from '../warehouse/query.ts'
import type { Series, Span } from './series.ts'

/** Minutes of a row are told as bits, so many in each of two numbers. */
const BITS = 30

/** What came in each row of one series. */
export class RowCounts {
  private readonly weights: Float64Array
  private readonly counts: Float64Array
  private readonly early: Int32Array
  private readonly late: Int32Array

  constructor(
    private readonly from: Instant,
    private readonly stepMs: number,
    rows: number,
  ) {
    this.weights = new Float64Array(rows)
    this.counts = new Float64Array(rows)
    this.early = new Int32Array(rows)
    this.late = new Int32Array(rows)
  }

  set(row: number, { weight, events, early, late }: Bucket): void {
    // The last digits of a sum depend on the order in which it was made, and must not decide.
    this.weights[row] = Math.round(weight * 1e6) / 1e6
    this.counts[row] = events
    this.early[row] = early
    this.late[row] = late
  }

  /** Weighted events of the row that begins then; 0 where nothing is known of it. */
  weightAt(start: Instant): number {
    return this.weights[this.rowOf(start)] ?? 0
  }

  /** Events of the row that begins then, each once however it was sampled. */
  eventsAt(start: Instant): number {
    return this.counts[this.rowOf(start)] ?? 0
  }

  /** The end of the last minute with events in the row that begins at `start`, as far as it lies before `end`; else null. */
  lastEventAt(start: Instant, end: Instant): Instant | null {
    const row = this.rowOf(start)
    const minutes = Math.floor((end - start) / MINUTE_MS)
    const late = highestBit(this.late[row] ?? 0, minutes - BITS)
    const last = late < 0 ? highestBit(this.early[row] ?? 0, minutes) : BITS + late
    return last < 0 ? null : start + (last + 1) * MINUTE_MS
  }

  private rowOf(start: Instant): number {
    return Math.round((start - this.from) / this.stepMs)
  }
}

/** The highest bit that is set among the first so many; -1 when none is. */
function highestBit(bits: number, count: number): number {
  if (count <= 0) return -1
  return 31 - Math.clz32(count >= BITS ? bits : bits & ((1 << count) - 1))
}

interface Bucket {
  weight: number
  events: number
  /** A bit for each of the first 30 minutes of the row, and for each of the others, set when it has events. */
  early: number
  late: number
}

/** What came in the rows of one series, column by column: rows without events are left out, the others are in no order. */
interface Answer {
  /** Its place among the series that were asked for. */
  place: number
  /** Places of the rows, from the first that was asked for. */
  rows: number[]
  weights: number[]
  counts: number[]
  early: number[]
  late: number[]
}

/** What counts in which series. Columns that a kind has no name for are not looked at. */
const KINDS = [['domainId'], ['domainId', 'vendor'], ['domainId', 'vendor', 'event']] as const

/**
 * Asks for the rows of many series at once: of one organization, and with rows of one length, that all begin at multiples
 * of it and the same offset. `span` begins with a row; of the row in which it ends, what came before that is counted.
 */
export function rowCountsQuery(series: readonly [Series, ...Series[]], { from, to }: Span): Query {
  const [{ orgId }] = series
  const window = { from, to }
  return query('signals.row-counts', { over: 'counts', orgId, window, write: (sql) => rowCountsSql(series, from, sql) })
}

function rowCountsSql(series: readonly [Series, ...Series[]], from: Instant, binder: Binder): Statement {
  const [{ stepMs }] = series
  const { quotient, bit } = binder.dialect
  const into = `(minute - ${from})`
  const bits = (first: number) => {
    const place = `${quotient(`(${into} % ${stepMs})`, MINUTE_MS)} - ${first}`
    return `bit_or(CASE WHEN ${place} BETWEEN 0 AND ${BITS - 1} THEN ${bit(place)} ELSE 0 END)`
  }
  const branches = KINDS.flatMap((names, kind) => {
    const wanted = series.flatMap((one, place) => (kindOf(one) === kind ? [{ one, place }] : []))
    if (wanted.length === 0) return []
    const values = wanted.map(
      ({ one, place }) => `(${[place, ...names.map((name) => binder.bind(one[name] ?? ''))].join(', ')})`,
    )
    // The engine skips parts of files by the domain alone.
    const domains = binder.among('domainId', [...new Set(wanted.map(({ one }) => one.domainId))])
    return `SELECT place, ${quotient(into, stepMs)} AS "row", weight, events, minute FROM counts
      JOIN (VALUES ${values.join(', ')}) AS wanted(place, ${names.join(', ')}) USING (${names.join(', ')})
      WHERE ${domains.join(' AND ')}`
  })
  return {
    sql: `SELECT place, array_agg(CAST("row" AS INTEGER)) AS "rows", array_agg(weight) AS weights,
        array_agg(CAST(events AS DOUBLE)) AS counts, array_agg(early) AS early, array_agg(late) AS late
      FROM (
        SELECT place, "row", sum(weight) AS weight, sum(events) AS events, ${bits(0)} AS early, ${bits(BITS)} AS late
        FROM (${branches.join(' UNION ALL ')}) GROUP BY ALL
      ) GROUP BY place`,
  }
}

const kindOf = ({ vendor, event }: Series) => (vendor === null ? 0 : event === null ? 1 : 2)

/** What the answer to `rowCountsQuery` says of each series, in their order; null where nothing came. */
export function readRowCounts(
  answers: readonly Answer[],
  series: readonly [Series, ...Series[]],
  { from, to }: Span,
): (RowCounts | null)[] {
  const [{ stepMs }] = series
  const counts: (RowCounts | null)[] = series.map(() => null)
  for (const { place, rows, weights, counts: events, early, late } of answers) {
    const own = new RowCounts(from, stepMs, Math.ceil((to - from) / stepMs))
    for (const [at, row] of rows.entries()) {
      own.set(row, {
        ...{ weight: weights[at] ?? 0, events: events[at] ?? 0 },
        ...{ early: early[at] ?? 0, late: late[at] ?? 0 },
      })
    }
    counts[place] = own
  }
  return counts
}
