import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { prefetch, prefetchPages, shared } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'
import { CHANGES, changesQuery } from './queries.ts'

const pages = room(() => import('./pages.ts'))

export const changesRoutes = [
  createRoute({
    ...at,
    path: '/changes',
    ...search(CHANGES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(changesQuery(valuesOf({ ...SHARED, ...CHANGES }, deps)))
      prefetch(shared.domains())
    },
    component: lazyRouteComponent(pages, 'ChangesPage'),
  }),
  createRoute({
    ...at,
    path: '/changes/$id',
    ...search({}),
    component: lazyRouteComponent(pages, 'ChangePage'),
  }),
] as const
