import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { prefetch, prefetchPages, shared } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'
import { SIGNALS, signalsQuery } from './queries.ts'

const pages = room(() => import('./signals-page.tsx'))

export const signalsRoutes = [
  createRoute({
    ...at,
    path: '/signals',
    ...search(SIGNALS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(signalsQuery(valuesOf({ ...SHARED, ...SIGNALS }, deps)))
      prefetch(shared.domains())
    },
    component: lazyRouteComponent(pages, 'SignalsPage'),
  }),
] as const
