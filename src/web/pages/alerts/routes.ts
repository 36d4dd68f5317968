import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getAlertOptions } from '#client/@tanstack/react-query.gen'
import { prefetch, prefetchPages, sharedQueries } from '../../api/queries.ts'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { SHARED_PARAMS, valuesOf } from '../../url-state/search-params.ts'
import { ALERTS, alertsQuery, NEW_ALERT, suggestionsQuery } from './queries.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const alertsRoutes = [
  createRoute({
    ...underRoot,
    path: '/alerts',
    ...routeSearch(ALERTS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(alertsQuery(valuesOf({ ...SHARED_PARAMS, ...ALERTS }, deps)))
      prefetch(sharedQueries.domains())
      prefetch(sharedQueries.forms())
      prefetch(suggestionsQuery(deps.project ?? ''))
    },
    component: lazyRouteComponent(pages, 'AlertsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/alerts/new',
    ...routeSearch({ ...NEW_ALERT, ...SHOW_PARAM }),
    loader: () => prefetch(sharedQueries.forms()),
    component: lazyRouteComponent(pages, 'NewAlertPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/alerts/$id',
    ...routeSearch(SHOW_PARAM),
    loader: ({ params: { id } }) => {
      prefetch(getAlertOptions({ path: { id } }))
      prefetch(sharedQueries.forms())
    },
    component: lazyRouteComponent(pages, 'AlertPage'),
  }),
] as const
