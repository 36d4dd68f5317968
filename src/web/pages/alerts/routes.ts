import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getAlertOptions } from '#client/@tanstack/react-query.gen'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { prefetch, prefetchPages, shared } from '../../api/queries.ts'
import { SHOW } from '../../charts/address.ts'
import { at, room } from '../../shell/root.ts'
import { ALERTS, alertsQuery, NEW_ALERT, suggestionsQuery } from './queries.ts'

const pages = room(() => import('./pages.ts'))

export const alertsRoutes = [
  createRoute({
    ...at,
    path: '/alerts',
    ...search(ALERTS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(alertsQuery(valuesOf({ ...SHARED, ...ALERTS }, deps)))
      prefetch(shared.domains())
      prefetch(shared.forms())
      prefetch(suggestionsQuery(deps.project ?? ''))
    },
    component: lazyRouteComponent(pages, 'AlertsPage'),
  }),
  createRoute({
    ...at,
    path: '/alerts/new',
    ...search({ ...NEW_ALERT, ...SHOW }),
    loader: () => prefetch(shared.forms()),
    component: lazyRouteComponent(pages, 'NewAlertPage'),
  }),
  createRoute({
    ...at,
    path: '/alerts/$id',
    ...search(SHOW),
    loader: ({ params: { id } }) => {
      prefetch(getAlertOptions({ path: { id } }))
      prefetch(shared.forms())
    },
    component: lazyRouteComponent(pages, 'AlertPage'),
  }),
] as const
