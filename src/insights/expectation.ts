import type { Instant } from '../core/clock.ts'
import type { Series, Span } from '../signals/series.ts'
import type { SeriesPoint } from '../signals/verdict-row.ts'
import type { Sources } from './insight.ts'
import { signalScope } from './series-scope.ts'

/** Above this number of domains there is no expectation, because each is monitored separately. */
const MAX_FOLLOWED = 10

/** Describes `expected` in the API. */
export const EXPECTED_OF_SEVERAL = `For several domains, \`expected\` is their sum, without \`low\` and \`high\`; for more than ${MAX_FOLLOWED} it is null`

/**
 * The same series in several domains: of one vendor, or all when null; of one event of the vendor, or all when null.
 */
export interface Together extends Pick<Series, 'vendor' | 'event' | 'stepMs'> {
  domainIds: readonly string[]
}

type Expected = Pick<SeriesPoint, 'expected' | 'low' | 'high' | 'partial'>

/**
 * Returns the expectation of these domains together in the row that begins at an instant, not rounded: for one domain
 * with its bounds, for several the sum, which is null while one of them is learning. Domains without events do not
 * count. Throws `unavailable` like the history.
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
      ...{ low: only?.low ?? null, high: only?.high ?? null },
      partial: own.some(({ partial }) => partial),
    }
  }
}
