import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getFlowTestOptions, getRunOptions } from '#client/@tanstack/react-query.gen'
import { prefetch, prefetchPages } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { NEW_TEST, runsQuery, testsQuery } from './queries.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const testsRoutes = [
  createRoute({
    ...underRoot,
    path: '/tests',
    ...routeSearch({}),
    loader: () => prefetchPages(testsQuery()),
    component: lazyRouteComponent(pages, 'TestsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/tests/new',
    ...routeSearch(NEW_TEST),
    component: lazyRouteComponent(pages, 'NewTestPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/tests/$id',
    ...routeSearch({}),
    loader: ({ params: { id } }) => {
      prefetch(getFlowTestOptions({ path: { id } }))
      prefetch(runsQuery(id))
    },
    component: lazyRouteComponent(pages, 'TestPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/tests/runs/$id',
    ...routeSearch({}),
    loader: ({ params: { id } }) => prefetch(getRunOptions({ path: { id } })),
    component: lazyRouteComponent(pages, 'RunPage'),
  }),
] as const
