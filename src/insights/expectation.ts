import type { Instant } from '../core/clock.ts'
import type { Series, Span } from '../signals/series.ts'
import type { SeriesPoint } from '../signals/verdict-row.ts'
import type { Sources } from './insight.ts'
import { signalScope } from './series-scope.ts'

/** Of more domains no expectation is told: each is followed by itself. */
const MAX_FOLLOWED = 10

/** What descriptions say of `expected`. */
export const EXPECTED_OF_SEVERAL = `\`expected\`: of several domains their sum, without \`low\` and \`high\`; of more than ${MAX_FOLLOWED} null`

/** The same series of several domains: of one vendor, or all when null; of one event of the vendor, or all when null. */
export interface Together extends Pick<Series, 'vendor' | 'event' | 'stepMs'> {
  domainIds: readonly string[]
}

type Expected = Pick<SeriesPoint, 'expected' | 'low' | 'high' | 'partial'>

/**
 * Returns what was expected of these domains together in the row that begins at an instant, not rounded: of one its
 * bounds, of several a sum, which is null while one of them is learning. Domains of which nothing came do not count. Fails with
 * `unavailable` as the history does.
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
