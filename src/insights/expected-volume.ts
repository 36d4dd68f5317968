import type { Instant } from '../core/clock.ts'
import type { Series, Span } from '../signals/series.ts'
import type { SeriesPoint } from '../signals/verdict-row.ts'
import type { Sources } from './insight.ts'
import { signalScope } from './series-scope.ts'

/**
 * Maximum number of domains in a combined expectation. There is a limit because each domain is monitored separately.
 */
const MAX_FOLLOWED = 10

/** Description of `expected` for the API documentation. */
export const EXPECTED_OF_SEVERAL = `For several domains, \`expected\` is the sum, and \`low\` and \`high\` are null. For more than ${MAX_FOLLOWED} domains, all three are null`

/**
 * The same series in several domains. `vendor` is null for all vendors, and `event` is null for all events of the
 * vendor.
 */
export interface Together extends Pick<Series, 'vendor' | 'event' | 'stepMs'> {
  domainIds: readonly string[]
}

type Expected = Pick<SeriesPoint, 'expected' | 'low' | 'high' | 'partial'>

/**
 * Returns a function that gives the combined, unrounded expectation for the row with a given start. For a single
 * domain, it includes bounds. For several domains, the expectation is their sum, or null while any of them is learning.
 * Domains without events are ignored. Throws `unavailable` when the history does.
 */
export async function expectationOf(
  { db, seriesMonitor, watermark }: Pick<Sources, 'db' | 'seriesMonitor' | 'watermark'>,
  orgId: string,
  { domainIds, vendor, event, stepMs }: Together,
  range: Span,
): Promise<(start: Instant) => Expected> {
  const scopes = domainIds.map((domainId) => signalScope(db, { orgId, domainId, vendor, event, stepMs }))
  const charts = scopes.length <= MAX_FOLLOWED ? await seriesMonitor.charts(scopes, range, watermark()) : []
  const known = charts.filter(({ points }) =>
    points.some(({ observed, expected }) => observed > 0 || expected !== null),
  )
  const points = Map.groupBy(
    known.flatMap(({ points }) => points),
    ({ start }) => start,
  )
  return (start) => {
    const own = points.get(start) ?? []
    const isWhole = own.length === known.length && own.length > 0 && own.every(({ expected }) => expected !== null)
    const [only] = domainIds.length === 1 ? own : []
    return {
      expected: isWhole ? own.reduce((sum, { expected }) => sum + (expected ?? 0), 0) : null,
      low: only?.low ?? null,
      high: only?.high ?? null,
      partial: own.some(({ partial }) => partial),
    }
  }
}
