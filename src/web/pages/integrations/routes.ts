import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, prefetchPages, sharedQueries } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { CONNECT, integrationsQuery } from './queries.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const integrationsRoutes = [
  createRoute({
    ...underRoot,
    path: '/integrations',
    ...routeSearch({}),
    loader() {
      prefetchPages(integrationsQuery())
      prefetch(sharedQueries.forms())
    },
    component: lazyRouteComponent(pages, 'IntegrationsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/integrations/new',
    ...routeSearch(CONNECT),
    component: lazyRouteComponent(pages, 'ConnectPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/integrations/$id',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'IntegrationPage'),
  }),
] as const
