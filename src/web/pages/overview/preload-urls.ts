import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'

/** Number of issues under "Needs attention". */
const SHOWN_ISSUES = 5

/** Parameters of the first requests that the Overview sends for all projects. `queries.ts` uses them too. */
export const FIRST_PARAMS = {
  issues: { status: ['open' as const], limit: SHOWN_ISSUES },
  domains: { limit: MAX_PAGE_SIZE },
  signals: { limit: MAX_PAGE_SIZE },
} satisfies Record<string, object>

const urlOf = (path: string, query: object) =>
  `${path}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`

/**
 * The URLs of these requests. They are written out because the API client, which defines the paths, is too large to
 * include in the preload script.
 */
export const overviewPreloadUrls: readonly string[] = [
  urlOf('/v1/issues', FIRST_PARAMS.issues),
  urlOf('/v1/domains', FIRST_PARAMS.domains),
  urlOf('/v1/auto/signals', FIRST_PARAMS.signals),
]
