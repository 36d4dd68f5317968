/**
 * Paths of the dashboard's pages, by area and name. `$id` stands for the id of an item. An area is a folder of
 * `src/web/pages`, and its pages are bundled together.
 */
export const PAGE_PATHS = {
  overview: { overview: '/', login: '/login' },
  'sign-in': { setup: '/setup', invite: '/invite', reset: '/reset' },
  issues: { list: '/issues', item: '/issues/$id' },
  alerts: { list: '/alerts', new: '/alerts/new', item: '/alerts/$id' },
  signals: { list: '/signals' },
  domains: {
    list: '/domains',
    new: '/domains/new',
    item: '/domains/$id',
    setup: '/domains/$id/setup',
    live: '/domains/$id/live',
    hostnames: '/domains/$id/hostnames',
    vendors: '/domains/$id/vendors',
    sampling: '/domains/$id/sampling',
    settings: '/domains/$id/settings',
  },
  explore: {
    dictionary: '/explore/dictionary',
    events: '/explore/events',
    journeys: '/explore/journeys',
    performance: '/explore/performance',
    execution: '/explore/execution',
    labels: '/explore/labels',
    orders: '/explore/orders',
    session: '/explore/sessions/$id',
  },
  changes: { list: '/changes', item: '/changes/$id', compare: '/compare', gate: '/gate', 'gate-run': '/gate/$id' },
  compliance: { findings: '/compliance', 'before-consent': '/compliance/before-consent' },
  tests: { list: '/tests', new: '/tests/new', item: '/tests/$id', run: '/tests/runs/$id' },
  audits: { list: '/audits', new: '/audits/new', item: '/audits/$id' },
  integrations: { list: '/integrations', new: '/integrations/new', item: '/integrations/$id' },
  deliveries: { list: '/deliveries', item: '/deliveries/$id' },
  report: { week: '/report' },
  settings: {
    organization: '/settings/organization',
    projects: '/settings/projects',
    maintenance: '/settings/maintenance',
    calendars: '/settings/calendars',
    members: '/settings/members',
    ownership: '/settings/ownership',
    keys: '/settings/keys',
    digest: '/settings/digest',
    escalation: '/settings/escalation',
    usage: '/settings/usage',
    backups: '/settings/backups',
    collectors: '/settings/collectors',
    'audit-log': '/settings/audit-log',
    preferences: '/settings/preferences',
  },
} as const

/** An area of the dashboard, such as `issues`. */
export type PageArea = keyof typeof PAGE_PATHS
/** The path of a page, such as `/issues/$id`. */
export type PagePath = { [Area in PageArea]: (typeof PAGE_PATHS)[Area][keyof (typeof PAGE_PATHS)[Area]] }[PageArea]

const withId = (path: string, id: string) => path.replace('$id', encodeURIComponent(id))

/** URLs of pages to which messages and search results link, relative to the server's URL. Ids are encoded. */
export const pagePath = {
  issue: (id: string) => withId(PAGE_PATHS.issues.item, id),
  alert: (id: string) => withId(PAGE_PATHS.alerts.item, id),
  domain: (id: string) => withId(PAGE_PATHS.domains.item, id),
  change: (id: string) => withId(PAGE_PATHS.changes.item, id),
  gateRun: (id: string) => withId(PAGE_PATHS.changes['gate-run'], id),
  integration: (id: string) => withId(PAGE_PATHS.integrations.item, id),
  /** `query`: filters, such as the vendor. */
  dictionary: (query: Record<string, string>) => `${PAGE_PATHS.explore.dictionary}?${new URLSearchParams(query)}`,
  /** `week`: a week as `2026-W08`. */
  report: (week: string) => `${PAGE_PATHS.report.week}?week=${week}`,
  // Tokens are in the fragment, which browsers don't send to the server.
  setup: (token: string) => `${PAGE_PATHS['sign-in'].setup}#setup=${token}`,
  invite: (token: string) => `${PAGE_PATHS['sign-in'].invite}#invite=${token}`,
  reset: (token: string) => `${PAGE_PATHS['sign-in'].reset}#reset=${token}`,
}
