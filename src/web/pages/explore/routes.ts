import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { prefetch } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'
import { DICTIONARY, EVENTS, EXPLORE, exploreQueries as explore, exploreParams, JOURNEYS } from './queries.ts'

const pages = room(() => import('./pages.ts'))

export const exploreRoutes = [
  createRoute({
    ...at,
    path: '/explore/events',
    ...search(EVENTS),
    component: lazyRouteComponent(pages, 'EventsPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/sessions/$id',
    ...search({}),
    component: lazyRouteComponent(pages, 'SessionPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/labels',
    ...search(EXPLORE),
    component: lazyRouteComponent(pages, 'LabelsPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/orders',
    ...search(EXPLORE),
    component: lazyRouteComponent(pages, 'OrdersPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/dictionary',
    ...search(DICTIONARY),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => {
      prefetch(explore.dictionary(deps))
      prefetch(explore.flatDictionary(deps))
    },
    component: lazyRouteComponent(pages, 'DictionaryPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/journeys',
    ...search(JOURNEYS),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => prefetch(explore.flows(deps)),
    component: lazyRouteComponent(pages, 'JourneysPage'),
  }),
  createRoute({
    ...at,
    path: '/explore/performance',
    ...search(EXPLORE),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => prefetch(explore.performance(deps)),
    component: lazyRouteComponent(pages, 'PerformancePage'),
  }),
  createRoute({
    ...at,
    path: '/explore/execution',
    ...search(EXPLORE),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => prefetch(explore.execution(deps)),
    component: lazyRouteComponent(pages, 'ExecutionPage'),
  }),
] as const
