import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, prefetchPages, sharedQueries } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { SHARED_PARAMS, valuesOf } from '../../url-state/search-params.ts'
import { COMPLIANCE, findingsQueries } from './queries.ts'

const pages = lazyPages(() => import('./compliance-page.tsx'))

export const complianceRoutes = [
  createRoute({
    ...underRoot,
    path: '/compliance',
    ...routeSearch(COMPLIANCE),
    loaderDeps: ({ search }) => search,
    loader({ deps }) {
      const { personal, consent } = findingsQueries(valuesOf({ ...SHARED_PARAMS, ...COMPLIANCE }, deps))
      prefetchPages(personal)
      prefetchPages(consent)
      prefetch(sharedQueries.domains())
    },
    component: lazyRouteComponent(pages, 'CompliancePage'),
  }),
] as const
