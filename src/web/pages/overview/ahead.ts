/** Issues shown under "Needs attention". */
const SHOWN_ISSUES = 5
/** The API answers no more at once. */
const MOST = 200

/** What the Overview of all projects asks first, as `questions.ts` asks it. */
export const FIRST = {
  issues: { status: ['open' as const], limit: SHOWN_ISSUES },
  domains: { limit: MOST },
  signals: { limit: MOST },
} satisfies Record<string, object>

const address = (path: string, query: object) =>
  `${path}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`

/** The addresses of these. The script that asks them ahead has no room for the client of the API, which knows the paths. */
export const askedByOverview: readonly string[] = [
  address('/v1/issues', FIRST.issues),
  address('/v1/domains', FIRST.domains),
  address('/v1/auto/signals', FIRST.signals),
]
