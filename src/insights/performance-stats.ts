import { MAX_HOURS } from '../contract/limits.ts'
import { DAY_MS } from '../core/clock.ts'
import { FAILED_SQL } from '../core/event.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { roundEvents } from '../signals/chart-point.ts'
import { type Query, query } from '../warehouse/query.ts'
import { insight } from './insight.ts'
import { domainFields, hoursIn, percentOf, rangeFields, requestedDomains, windowOf } from './query-params.ts'
import { maskFor } from './response-mask.ts'

const DEFAULT_HOURS = 24

const Input = Closed({ ...rangeFields(DEFAULT_HOURS, MAX_HOURS.performance), ...domainFields })

const VendorStats = Closed({
  vendor: Type.String(),
  events: Int({ description: 'Weighted count' }),
  avgExecMs: Type.Number({
    description: 'Weighted mean duration of events that report up to one day; 0 when none do',
  }),
  maxExecMs: Type.Number({ description: 'Maximum duration of the same events' }),
  failures: Int({ description: 'Weighted number of events with status `failure`, `exception` or `timeout`' }),
  failurePct: Type.Number({
    description: 'Percentage of failures among events with a known status; 0 when there are none',
  }),
})

const Output = Closed(
  {
    windowHours: Int(),
    vendors: Type.Array(VendorStats, { description: 'Sorted by number of events, largest first' }),
  },
  {
    $id: 'PerformanceStats',
    examples: [
      {
        windowHours: 24,
        vendors: [{ vendor: 'Meta Pixel', events: 1200, avgExecMs: 12.5, maxExecMs: 340, failures: 24, failurePct: 2 }],
      },
    ],
  },
)

/** Sums for one vendor's events. */
interface VendorRow {
  vendor: string
  weight: number
  failed: number
  /** Weight of events with a known status. */
  known: number
  /** Sum of weight times duration, and the weight of events with a duration. */
  execSum: number
  execWeight: number
  maxExecMs: number
}

/** Failure rates and durations of each vendor's tags. */
export const performanceStats = insight({
  id: 'getPerformanceStats',
  summary: 'Show how often tags of each vendor fail and how long they take',
  description: 'Counts are weighted and exclude library loads.',
  path: '/stats/performance',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  exports: 'vendors',
  async answer(sources, input, { principal, now }) {
    const window = windowOf(input, { byDefault: DEFAULT_HOURS, maximum: MAX_HOURS.performance, now })
    const windowHours = hoursIn(window)
    const domainIds = requestedDomains(sources, principal.orgId, input).map(({ id }) => id)
    if (domainIds.length === 0) return { windowHours, vendors: [] }
    const rows = await sources.history.query<VendorRow>(statsQuery(principal.orgId, domainIds, window))
    const mask = maskFor(sources)
    const vendors = [...Map.groupBy(rows, ({ vendor }) => mask(vendor, '$vendor'))].map(([vendor, same]) =>
      statsOf(vendor, same),
    )
    return {
      windowHours,
      vendors: vendors.sort((a, b) => b.events - a.events || (a.vendor < b.vendor ? -1 : 1)),
    }
  },
})

/** Durations above one day are ignored, because a single one would distort an average. */
const IS_TIME = `execMs >= 0 AND execMs <= ${DAY_MS}`

function statsQuery(orgId: string, domainIds: readonly string[], window: Query['window']): Query {
  return query('insights.performance', {
    orgId,
    window,
    write: (binder) => ({
      sql: `SELECT vendor, sum(weight) AS weight,
          coalesce(sum(weight) FILTER (WHERE ${FAILED_SQL}), 0) AS failed,
          coalesce(sum(weight) FILTER (WHERE status IS NOT NULL), 0) AS known,
          coalesce(round(sum(weight * execMs) FILTER (WHERE ${IS_TIME}), 3), 0) AS execSum,
          coalesce(sum(weight) FILTER (WHERE ${IS_TIME}), 0) AS execWeight,
          coalesce(max(execMs) FILTER (WHERE ${IS_TIME}), 0) AS maxExecMs
        FROM events WHERE ${["kind <> 'library'", ...binder.among('domainId', domainIds)].join(' AND ')} GROUP BY vendor`,
    }),
  })
}

function statsOf(vendor: string, rows: readonly VendorRow[]) {
  const sum = (of: (row: VendorRow) => number) => rows.reduce((total, row) => total + of(row), 0)
  const [failed, execWeight] = [sum((row) => row.failed), sum((row) => row.execWeight)]
  return {
    vendor,
    events: roundEvents(sum((row) => row.weight)),
    avgExecMs: execWeight > 0 ? Math.round((sum((row) => row.execSum) / execWeight) * 1000) / 1000 : 0,
    maxExecMs: Math.max(...rows.map((row) => row.maxExecMs)),
    failures: roundEvents(failed),
    failurePct: percentOf(
      failed,
      sum((row) => row.known),
    ),
  }
}
