import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, prefetchPages, sharedQueries } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { SHARED_PARAMS, valuesOf } from '../../url-state/search-params.ts'
import { SIGNALS, signalsQuery } from './queries.ts'

const pages = lazyPages(() => import('./signals-page.tsx'))

export const signalsRoutes = [
  createRoute({
    ...underRoot,
    path: '/signals',
    ...routeSearch(SIGNALS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(signalsQuery(valuesOf({ ...SHARED_PARAMS, ...SIGNALS }, deps)))
      prefetch(sharedQueries.domains())
    },
    component: lazyRouteComponent(pages, 'SignalsPage'),
  }),
] as const
