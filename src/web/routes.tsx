import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import {
  getAlertOptions,
  getAuditOptions,
  getFlowTestOptions,
  getRunOptions,
  listFormsOptions,
} from '#client/@tanstack/react-query.gen'
import { search } from './address/page-search.ts'
import { parseSearch, SHARED, valuesOf, writeSearch } from './address/search.ts'
import { preload, preloadPages } from './api/queries.ts'
import { SHOW } from './charts/address.ts'
import { ALERTS, NEW_ALERT } from './pages/alerts/address.ts'
import { alertsAskedFor } from './pages/alerts/question.ts'
import { CHANGES } from './pages/changes/address.ts'
import { changesAskedFor } from './pages/changes/question.ts'
import { COMPLIANCE } from './pages/compliance/address.ts'
import { DELIVERIES } from './pages/deliveries/address.ts'
import { deliveriesAskedFor } from './pages/deliveries/question.ts'
import { DOMAINS } from './pages/domains/address.ts'
import { DICTIONARY, EVENTS, EXPLORE, JOURNEYS } from './pages/explore/address.ts'
import { askedOf, questions as explore } from './pages/explore/questions.ts'
import { CONNECT } from './pages/integrations/address.ts'
import { preloadIssue } from './pages/issue/question.ts'
import { ISSUES } from './pages/issues/address.ts'
import { issuesAskedFor } from './pages/issues/question.ts'
import { preloadOverview } from './pages/overview/questions.ts'
import { REPORT } from './pages/report/address.ts'
import { SIGNALS } from './pages/signals/address.ts'
import { signalsAskedFor } from './pages/signals/question.ts'
import { testsQuery } from './pages/tests/question.ts'
import { focusNextHeading } from './parts/page-head.tsx'
import { Failed, NotFound } from './shell/faults.tsx'
import { Gate } from './shell/gate.tsx'

const root = createRootRoute({ component: Gate, notFoundComponent: NotFound, errorComponent: Failed })
const at = { getParentRoute: () => root }

// The code of a page is a file of its own, loaded while the pointer nears its link.
const pages = [
  createRoute({
    ...at,
    path: '/',
    ...search(SHOW),
    loaderDeps: ({ search }) => ({ project: search.project ?? '' }),
    loader: ({ deps }) => preloadOverview(deps.project),
    component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    ...at,
    path: '/issues',
    ...search(ISSUES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => preloadPages(issuesAskedFor(valuesOf({ ...SHARED, ...ISSUES }, deps))),
    component: lazyRouteComponent(() => import('./pages/issues/issues-page.tsx'), 'IssuesPage'),
  }),
  createRoute({
    ...at,
    path: '/issues/$id',
    ...search(SHOW),
    loader: ({ params: { id } }) => preloadIssue(id),
    component: lazyRouteComponent(() => import('./pages/issue/issue-page.tsx'), 'IssuePage'),
  }),
  createRoute({
    ...at,
    path: '/alerts',
    ...search(ALERTS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => preloadPages(alertsAskedFor(valuesOf({ ...SHARED, ...ALERTS }, deps))),
    component: lazyRouteComponent(() => import('./pages/alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    ...at,
    path: '/alerts/new',
    ...search({ ...NEW_ALERT, ...SHOW }),
    loader: () => preload(listFormsOptions()),
    component: lazyRouteComponent(() => import('./pages/alert/new-alert-page.tsx'), 'NewAlertPage'),
  }),
  createRoute({
    ...at,
    path: '/alerts/$id',
    ...search(SHOW),
    loader: ({ params: { id } }) => {
      preload(getAlertOptions({ path: { id } }))
      preload(listFormsOptions())
    },
    component: lazyRouteComponent(() => import('./pages/alert/alert-page.tsx'), 'AlertPage'),
  }),
  createRoute({
    ...at,
    path: '/changes',
    ...search(CHANGES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => preloadPages(changesAskedFor(valuesOf({ ...SHARED, ...CHANGES }, deps))),
    component: lazyRouteComponent(() => import('./pages/changes/changes-page.tsx'), 'ChangesPage'),
  }),
  createRoute({
    ...at,
    path: '/changes/$id',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/changes/change-page.tsx'), 'ChangePage'),
  }),
  createRoute({
    ...at,
    path: '/compliance',
    ...search(COMPLIANCE),
    component: lazyRouteComponent(() => import('./pages/compliance/compliance-page.tsx'), 'CompliancePage'),
  }),
  createRoute({
    ...at,
    path: '/deliveries',
    ...search(DELIVERIES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => preloadPages(deliveriesAskedFor(valuesOf({ ...SHARED, ...DELIVERIES }, deps))),
    component: lazyRouteComponent(() => import('./pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    ...at,
    path: '/tests',
    ...search({}),
    loader: () => preloadPages(testsQuery()),
    component: lazyRouteComponent(() => import('./pages/tests/tests-page.tsx'), 'TestsPage'),
  }),
  createRoute({
    ...at,
    path: '/tests/new',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/tests/new-test-page.tsx'), 'NewTestPage'),
  }),
  createRoute({
    ...at,
    path: '/tests/$id',
    ...search({}),
    loader: ({ params: { id } }) => preload(getFlowTestOptions({ path: { id } })),
    component: lazyRouteComponent(() => import('./pages/tests/test-page.tsx'), 'TestPage'),
  }),
  createRoute({
    ...at,
    path: '/tests/runs/$id',
    ...search({}),
    loader: ({ params: { id } }) => preload(getRunOptions({ path: { id } })),
    component: lazyRouteComponent(() => import('./pages/run/run-page.tsx'), 'RunPage'),
  }),
  createRoute({
    ...at,
    path: '/audits',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/audits/audits-page.tsx'), 'AuditsPage'),
  }),
  createRoute({
    ...at,
    path: '/audits/new',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/audits/new-audit-page.tsx'), 'NewAuditPage'),
  }),
  createRoute({
    ...at,
    path: '/audits/$id',
    ...search({}),
    loader: ({ params: { id } }) => preload(getAuditOptions({ path: { id } })),
    component: lazyRouteComponent(() => import('./pages/audits/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/events',
    ...search(EVENTS),
    component: lazyRouteComponent(() => import('./pages/explore/events-page.tsx'), 'EventsPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/sessions/$id',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/explore/session-page.tsx'), 'SessionPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/labels',
    ...search(EXPLORE),
    component: lazyRouteComponent(() => import('./pages/explore/labels-page.tsx'), 'LabelsPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/orders',
    ...search(EXPLORE),
    component: lazyRouteComponent(() => import('./pages/explore/orders-page.tsx'), 'OrdersPage'),
  }),
  createRoute({
    ...at,
    path: '/integrations',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/integrations/integrations-page.tsx'), 'IntegrationsPage'),
  }),
  createRoute({
    ...at,
    path: '/integrations/new',
    ...search(CONNECT),
    component: lazyRouteComponent(() => import('./pages/integrations/connect-page.tsx'), 'ConnectPage'),
  }),
  createRoute({
    ...at,
    path: '/integrations/$id',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/integrations/integration-page.tsx'), 'IntegrationPage'),
  }),
  createRoute({
    ...at,
    path: '/report',
    ...search({ ...REPORT, ...SHOW }),
    component: lazyRouteComponent(() => import('./pages/report/report-page.tsx'), 'ReportPage'),
  }),
  createRoute({
    ...at,
    path: '/signals',
    ...search(SIGNALS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => preloadPages(signalsAskedFor(valuesOf({ ...SHARED, ...SIGNALS }, deps))),
    component: lazyRouteComponent(() => import('./pages/signals/signals-page.tsx'), 'SignalsPage'),
  }),
  createRoute({
    ...at,
    path: '/domains',
    ...search(DOMAINS),
    component: lazyRouteComponent(() => import('./pages/domains/domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/domains/$id/live', params, replace: true })
    },
  }),
  createRoute({
    ...at,
    path: '/domains/new',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/domains/add-domain-page.tsx'), 'AddDomainPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/setup',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/domain/setup-page.tsx'), 'DomainSetupPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/live',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/domain/live-page.tsx'), 'DomainLivePage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/hostnames',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/domain/hostnames-page.tsx'), 'DomainHostnamesPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/vendors',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/domain/vendors-page.tsx'), 'DomainVendorsPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/sampling',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/domain/sampling-page.tsx'), 'DomainSamplingPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/settings',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/domain/settings-page.tsx'), 'DomainSettingsPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/dictionary',
    ...search(DICTIONARY),
    loaderDeps: ({ search }) => askedOf(search),
    loader: ({ deps }) => preload(explore.dictionary(deps)),
    component: lazyRouteComponent(() => import('./pages/explore/dictionary-page.tsx'), 'DictionaryPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/journeys',
    ...search(JOURNEYS),
    loaderDeps: ({ search }) => askedOf(search),
    loader: ({ deps }) => preload(explore.flows(deps)),
    component: lazyRouteComponent(() => import('./pages/explore/journeys-page.tsx'), 'JourneysPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/performance',
    ...search(EXPLORE),
    loaderDeps: ({ search }) => askedOf(search),
    loader: ({ deps }) => preload(explore.performance(deps)),
    component: lazyRouteComponent(() => import('./pages/explore/performance-page.tsx'), 'PerformancePage'),
  }),
  createRoute({
    ...at,
    path: '/explore/execution',
    ...search(EXPLORE),
    loaderDeps: ({ search }) => askedOf(search),
    loader: ({ deps }) => preload(explore.execution(deps)),
    component: lazyRouteComponent(() => import('./pages/explore/execution-page.tsx'), 'ExecutionPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/organization',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/organization-page.tsx'), 'OrganizationPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/projects',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/projects-page.tsx'), 'ProjectsPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/members',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/keys',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/digest',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/digest-page.tsx'), 'DigestPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/usage',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    ...at,
    path: '/settings/audit-log',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/audit-log-page.tsx'), 'AuditLogPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/preferences',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/settings/preferences-page.tsx'), 'PreferencesPage'),
  }),
  createRoute({
    ...at,
    path: '/setup',
    component: lazyRouteComponent(() => import('./pages/sign-in/set-up.tsx'), 'SetUpPage'),
  }),
  createRoute({
    ...at,
    path: '/invite',
    component: lazyRouteComponent(() => import('./pages/sign-in/set-up.tsx'), 'InvitePage'),
  }),
  createRoute({
    ...at,
    path: '/reset',
    component: lazyRouteComponent(() => import('./pages/sign-in/reset.tsx'), 'ResetPage'),
  }),
  createRoute({
    ...at,
    path: '/login',
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true })
    },
  }),
] as const

/** All pages by their addresses. */
export const router = createRouter({
  routeTree: root.addChildren(pages),
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  // TanStack Query decides what is fresh.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
})

router.subscribe('onBeforeNavigate', ({ pathChanged, fromLocation }) => {
  if (pathChanged && fromLocation) focusNextHeading()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
