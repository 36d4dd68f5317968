import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { prefetch, prefetchPages, shared } from '../../api/queries.ts'
import { SHOW } from '../../charts/address.ts'
import { at, room } from '../../shell/root.ts'
import { ISSUES, issuesQuery, preloadIssue } from './queries.ts'

const pages = room(() => import('./pages.ts'))

export const issuesRoutes = [
  createRoute({
    ...at,
    path: '/issues',
    ...search(ISSUES),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => {
      prefetchPages(issuesQuery(valuesOf({ ...SHARED, ...ISSUES }, deps)))
      prefetch(shared.domains())
    },
    component: lazyRouteComponent(pages, 'IssuesPage'),
  }),
  createRoute({
    ...at,
    path: '/issues/$id',
    ...search(SHOW),
    loader: ({ params: { id } }) => preloadIssue(id),
    component: lazyRouteComponent(pages, 'IssuePage'),
  }),
] as const
