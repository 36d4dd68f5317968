import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { DICTIONARY, EVENTS, EXPLORE, exploreQueries as explore, exploreParams, JOURNEYS } from './queries.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const exploreRoutes = [
  createRoute({
    ...underRoot,
    path: '/explore/events',
    ...routeSearch(EVENTS),
    component: lazyRouteComponent(pages, 'EventsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/explore/sessions/$id',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'SessionPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/explore/labels',
    ...routeSearch(EXPLORE),
    component: lazyRouteComponent(pages, 'EventLabelsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/explore/orders',
    ...routeSearch(EXPLORE),
    component: lazyRouteComponent(pages, 'OrdersPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/explore/dictionary',
    ...routeSearch(DICTIONARY),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => {
      prefetch(explore.dictionary(deps))
      prefetch(explore.flatDictionary(deps))
    },
    component: lazyRouteComponent(pages, 'DictionaryPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/explore/journeys',
    ...routeSearch(JOURNEYS),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => prefetch(explore.flows(deps)),
    component: lazyRouteComponent(pages, 'JourneysPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/explore/performance',
    ...routeSearch(EXPLORE),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => prefetch(explore.performance(deps)),
    component: lazyRouteComponent(pages, 'PerformancePage'),
  }),
  createRoute({
    ...underRoot,
    path: '/explore/execution',
    ...routeSearch(EXPLORE),
    loaderDeps: ({ search }) => exploreParams(search),
    loader: ({ deps }) => prefetch(explore.execution(deps)),
    component: lazyRouteComponent(pages, 'ExecutionPage'),
  }),
] as const
