import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, prefetchPages, sharedQueries } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { SHARED_PARAMS, valuesOf } from '../../url-state/search-params.ts'
import { CHANGES, changesQuery } from './queries.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const changesRoutes = [
  createRoute({
    ...underRoot,
    path: '/changes',
    ...routeSearch(CHANGES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(changesQuery(valuesOf({ ...SHARED_PARAMS, ...CHANGES }, deps)))
      prefetch(sharedQueries.domains())
    },
    component: lazyRouteComponent(pages, 'ChangesPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/changes/$id',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'ChangePage'),
  }),
] as const
