import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getAlertOptions } from '#client/@tanstack/react-query.gen'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { preload, preloadPages, shared } from '../../api/queries.ts'
import { SHOW } from '../../charts/address.ts'
import { at, room } from '../../shell/root.ts'
import { ALERTS, NEW_ALERT } from './address.ts'
import { alertsAskedFor, suggestionsAskedFor } from './question.ts'

const pages = room(() => import('./pages.ts'))

export const alertsRoutes = [
  createRoute({
    ...at,
    path: '/alerts',
    ...search(ALERTS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      preloadPages(alertsAskedFor(valuesOf({ ...SHARED, ...ALERTS }, deps)))
      preload(shared.domains())
      preload(shared.forms())
      preload(suggestionsAskedFor(deps.project ?? ''))
    },
    component: lazyRouteComponent(pages, 'AlertsPage'),
  }),
  createRoute({
    ...at,
    path: '/alerts/new',
    ...search({ ...NEW_ALERT, ...SHOW }),
    loader: () => preload(shared.forms()),
    component: lazyRouteComponent(pages, 'NewAlertPage'),
  }),
  createRoute({
    ...at,
    path: '/alerts/$id',
    ...search(SHOW),
    loader: ({ params: { id } }) => {
      preload(getAlertOptions({ path: { id } }))
      preload(shared.forms())
    },
    component: lazyRouteComponent(pages, 'AlertPage'),
  }),
] as const
