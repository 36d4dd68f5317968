import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { type Binder, type Query, query, type Statement } from '../warehouse/query.ts'
import type { Series, Span } from './series.ts'

/** Number of bits in each of the two numbers per row that store the minutes with events. */
const BITS = 30

/** The counts of one series by row. */
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
    // Rounded, because the last digits of a sum depend on the order of addition.
    this.weights[row] = Math.round(weight * 1e6) / 1e6
    this.counts[row] = events
    this.early[row] = early
    this.late[row] = late
  }

  /** Returns the weighted number of events in the row that begins at `start`; 0 when there are none. */
  weightAt(start: Instant): number {
    return this.weights[this.rowOf(start)] ?? 0
  }

  /** Returns the unweighted number of stored events in the row that begins at `start`. */
  eventsAt(start: Instant): number {
    return this.counts[this.rowOf(start)] ?? 0
  }

  /**
   * Returns the end of the last minute with events before `end` in the row that begins at `start`; null when there is
   * none.
   */
  lastEventAt(start: Instant, end: Instant): Instant | null {
    const row = this.rowOf(start)
    const minutes = Math.floor((end - start) / MINUTE_MS)
    const late = highestBit(this.late[row] ?? 0, minutes - BITS)
    const last = late < 0 ? highestBit(this.early[row] ?? 0, minutes) : BITS + late
    return last < 0 ? null : start + (last + 1) * MINUTE_MS
  }

  /** Returns the lengths of the runs of minutes without events in a row: before, between and after minutes with events. */
  quietRunsAt(start: Instant): number[] {
    const row = this.rowOf(start)
    const [early, late] = [this.early[row] ?? 0, this.late[row] ?? 0]
    const quietRuns: number[] = []
    let quiet = 0
    for (let minute = 0; minute < this.stepMs / MINUTE_MS; minute++) {
      const isBusy = minute < BITS ? (early >> minute) & 1 : (late >> (minute - BITS)) & 1
      if (isBusy) {
        quietRuns.push(quiet)
        quiet = 0
      } else quiet++
    }
    quietRuns.push(quiet)
    return quietRuns
  }

  private rowOf(start: Instant): number {
    return Math.round((start - this.from) / this.stepMs)
  }
}

/** Returns the position of the highest bit set among the first `count` bits; -1 when there is none. */
function highestBit(bits: number, count: number): number {
  if (count <= 0) return -1
  return 31 - Math.clz32(count >= BITS ? bits : bits & ((1 << count) - 1))
}

interface Bucket {
  weight: number
  events: number
  /** Bits of the first 30 minutes of the row and of the remaining minutes; set when the minute has events. */
  early: number
  late: number
}

/**
 * The rows of one series in columnar form. Rows without events are omitted; the remaining rows are in no particular
 * order.
 */
interface Answer {
  /** Index of the series among the queried series. */
  place: number
  /** Indexes of the rows, counted from the first queried row. */
  rows: number[]
  weights: number[]
  counts: number[]
  early: number[]
  late: number[]
}

/** The columns that identify a series of each kind. Other columns are ignored. */
const KINDS = [['domainId'], ['domainId', 'vendor'], ['domainId', 'vendor', 'event']] as const

/**
 * Returns the query for the rows of many series of one organization, with the same row length and offset. `span` begins
 * at the start of a row; the row in which it ends is counted up to the end.
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
    // The engine can skip parts of files only by domain.
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

/**
 * Returns the counts of each series from the result of `rowCountsQuery`, in the order of the series; null for series
 * without events.
 */
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
        weight: weights[at] ?? 0,
        events: events[at] ?? 0,
        early: early[at] ?? 0,
        late: late[at] ?? 0,
      })
    }
    counts[place] = own
  }
  return counts
}
