import { createRouter } from '@tanstack/react-router'
import { focusNextHeading } from './components/page-header.tsx'
import { alertsRoutes } from './pages/alerts/routes.ts'
import { auditsRoutes } from './pages/audits/routes.ts'
import { changesRoutes } from './pages/changes/routes.ts'
import { complianceRoutes } from './pages/compliance/routes.ts'
import { deliveriesRoutes } from './pages/deliveries/routes.ts'
import { domainsRoutes } from './pages/domains/routes.ts'
import { exploreRoutes } from './pages/explore/routes.ts'
import { integrationsRoutes } from './pages/integrations/routes.ts'
import { issuesRoutes } from './pages/issues/routes.ts'
import { overviewRoutes } from './pages/overview/routes.ts'
import { reportRoutes } from './pages/report/routes.ts'
import { settingsRoutes } from './pages/settings/routes.ts'
import { signInRoutes } from './pages/sign-in/routes.ts'
import { signalsRoutes } from './pages/signals/routes.ts'
import { testsRoutes } from './pages/tests/routes.ts'
import { PageError } from './shell/error-pages.tsx'
import { root } from './shell/root-route.ts'
import { parseSearch, writeSearch } from './url-state/search-params.ts'

/** The routes of all pages. */
export const router = createRouter({
  routeTree: root.addChildren([
    ...overviewRoutes,
    ...issuesRoutes,
    ...alertsRoutes,
    ...changesRoutes,
    ...complianceRoutes,
    ...deliveriesRoutes,
    ...testsRoutes,
    ...auditsRoutes,
    ...exploreRoutes,
    ...integrationsRoutes,
    ...reportRoutes,
    ...signalsRoutes,
    ...domainsRoutes,
    ...settingsRoutes,
    ...signInRoutes,
  ]),
  parseSearch,
  stringifySearch: writeSearch,
  // Rendered within the shell, so that navigation remains available.
  defaultErrorComponent: PageError,
  defaultPreload: 'intent',
  // TanStack Query handles staleness.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // Resets local state when another resource is opened.
  defaultRemountDeps: ({ params }) => params,
})

router.subscribe('onBeforeNavigate', ({ pathChanged, fromLocation }) => {
  if (pathChanged && fromLocation) focusNextHeading()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
