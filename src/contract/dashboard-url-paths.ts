/** URL patterns of the dashboard. All of them serve the same page, which selects its content by URL. */
export const DASHBOARD = [
  '/',
  '/setup',
  '/login',
  '/reset',
  '/invite',
  '/issues',
  '/issues/{id}',
  '/alerts',
  '/alerts/{id}',
  '/signals',
  '/domains',
  '/domains/{id}',
  '/domains/{id}/{setup|live|hostnames|vendors|sampling|settings}',
  '/explore/{dictionary|events|journeys|performance|execution|labels|orders}',
  '/explore/sessions/{id}',
  '/changes',
  '/changes/{id}',
  '/compliance',
  '/tests',
  '/tests/{id}',
  '/tests/runs/{id}',
  '/audits',
  '/audits/{id}',
  '/integrations',
  '/integrations/{id}',
  '/deliveries',
  '/report',
  '/settings/{organization|projects|members|keys|digest|usage|audit-log|preferences}',
]

/** Paths of the pages to which messages and search results link. Ids are encoded. */
export const pagePath = {
  issue: (id: string) => `/issues/${encodeURIComponent(id)}`,
  alert: (id: string) => `/alerts/${encodeURIComponent(id)}`,
  domain: (id: string) => `/domains/${encodeURIComponent(id)}`,
  change: (id: string) => `/changes/${encodeURIComponent(id)}`,
  /** `query`: filters, such as the vendor. */
  dictionary: (query: Record<string, string>) => `/explore/dictionary?${new URLSearchParams(query)}`,
  /** `week`: a week as `2026-W08`. */
  report: (week: string) => `/report?week=${week}`,
}
