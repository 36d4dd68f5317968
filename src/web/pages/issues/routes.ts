import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, prefetchPages, sharedQueries } from '../../api/queries.ts'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { SHARED_PARAMS, valuesOf } from '../../url-state/search-params.ts'
import { ISSUES, issuesQuery, preloadIssue } from './queries.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const issuesRoutes = [
  createRoute({
    ...underRoot,
    path: '/issues',
    ...routeSearch(ISSUES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(issuesQuery(valuesOf({ ...SHARED_PARAMS, ...ISSUES }, deps)))
      prefetch(sharedQueries.domains())
    },
    component: lazyRouteComponent(pages, 'IssuesPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/issues/$id',
    ...routeSearch(SHOW_PARAM),
    loader: ({ params: { id } }) => preloadIssue(id),
    component: lazyRouteComponent(pages, 'IssuePage'),
  }),
] as const
