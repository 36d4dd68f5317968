import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getFlowTestOptions, getRunOptions } from '#client/@tanstack/react-query.gen'
import { search } from '../../address/page-search.ts'
import { prefetch, prefetchPages } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'
import { NEW_TEST, runsQuery, testsQuery } from './queries.ts'

const pages = room(() => import('./pages.ts'))

export const testsRoutes = [
  createRoute({
    ...at,
    path: '/tests',
    ...search({}),
    loader: () => prefetchPages(testsQuery()),
    component: lazyRouteComponent(pages, 'TestsPage'),
  }),
  createRoute({
    ...at,
    path: '/tests/new',
    ...search(NEW_TEST),
    component: lazyRouteComponent(pages, 'NewTestPage'),
  }),
  createRoute({
    ...at,
    path: '/tests/$id',
    ...search({}),
    loader: ({ params: { id } }) => {
      prefetch(getFlowTestOptions({ path: { id } }))
      prefetch(runsQuery(id))
    },
    component: lazyRouteComponent(pages, 'TestPage'),
  }),
  createRoute({
    ...at,
    path: '/tests/runs/$id',
    ...search({}),
    loader: ({ params: { id } }) => prefetch(getRunOptions({ path: { id } })),
    component: lazyRouteComponent(pages, 'RunPage'),
  }),
] as const
