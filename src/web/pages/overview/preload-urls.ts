/** Number of issues under "Needs attention". */
const SHOWN_ISSUES = 5
/** Maximum page size of the API. */
const MAX_PAGE_SIZE = 200

/** Parameters of the first requests of the Overview for all projects; `queries.ts` sends the same. */
export const FIRST = {
  issues: { status: ['open' as const], limit: SHOWN_ISSUES },
  domains: { limit: MAX_PAGE_SIZE },
  signals: { limit: MAX_PAGE_SIZE },
} satisfies Record<string, object>

const address = (path: string, query: object) =>
  `${path}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`

/** The URLs of these requests. The bootstrap script that preloads them can't afford the API client, which knows the paths. */
export const askedByOverview: readonly string[] = [
  address('/v1/issues', FIRST.issues),
  address('/v1/domains', FIRST.domains),
  address('/v1/auto/signals', FIRST.signals),
]
