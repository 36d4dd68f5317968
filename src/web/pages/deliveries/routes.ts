import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { prefetch, prefetchPages } from '../../api/queries.ts'
import { integrationNamesAskedFor } from '../../parts/integration-names.ts'
import { at, room } from '../../shell/root.ts'
import { DELIVERIES, deliveriesQuery, inboxQuery } from './queries.ts'

const pages = room(() => import('./deliveries-page.tsx'))

export const deliveriesRoutes = [
  createRoute({
    ...at,
    path: '/deliveries',
    ...search(DELIVERIES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(deliveriesQuery(valuesOf({ ...SHARED, ...DELIVERIES }, deps)))
      prefetch(inboxQuery)
      prefetch(integrationNamesAskedFor())
    },
    component: lazyRouteComponent(pages, 'DeliveriesPage'),
  }),
] as const
