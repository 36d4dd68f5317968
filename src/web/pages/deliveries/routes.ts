import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, prefetchPages } from '../../api/queries.ts'
import { integrationNamesQuery } from '../../components/integration-names-query.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { SHARED_PARAMS, valuesOf } from '../../url-state/search-params.ts'
import { DELIVERIES, deliveriesQuery, inboxQuery } from './queries.ts'

const pages = lazyPages(() => import('./deliveries-page.tsx'))

export const deliveriesRoutes = [
  createRoute({
    ...underRoot,
    path: '/deliveries',
    ...routeSearch(DELIVERIES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(deliveriesQuery(valuesOf({ ...SHARED_PARAMS, ...DELIVERIES }, deps)))
      prefetch(inboxQuery)
      prefetch(integrationNamesQuery())
    },
    component: lazyRouteComponent(pages, 'DeliveriesPage'),
  }),
] as const
