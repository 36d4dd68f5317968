import { IconCompass } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { DICTIONARY, EVENTS, EXPLORE, exploreQueries, JOURNEYS } from './queries.ts'

const paths = PAGE_PATHS.explore

export const explorePages = [
  page({
    path: paths.dictionary,
    menu: {
      title: () => messages.shell.pages.explore,
      keys: 'g e',
      navigation: { group: 'understand', icon: IconCompass },
    },
    search: DICTIONARY,
    queries: (values) => [exploreQueries.dictionary(values), exploreQueries.flatDictionary(values)],
    view: lazyView(() => import('./dictionary/dictionary-page.tsx'), 'DictionaryPage'),
  }),
  page({ path: paths.events, search: EVENTS, view: lazyView(() => import('./events/events-page.tsx'), 'EventsPage') }),
  page({
    path: paths.journeys,
    search: JOURNEYS,
    queries: (values) => [exploreQueries.flows(values)],
    view: lazyView(() => import('./journeys/journeys-page.tsx'), 'JourneysPage'),
  }),
  page({
    path: paths.performance,
    search: EXPLORE,
    queries: (values) => [exploreQueries.performance(values)],
    view: lazyView(() => import('./tag-performance-page.tsx'), 'PerformancePage'),
  }),
  page({
    path: paths.execution,
    search: EXPLORE,
    queries: (values) => [exploreQueries.execution(values)],
    view: lazyView(() => import('./tag-execution-page.tsx'), 'ExecutionPage'),
  }),
  page({
    path: paths.labels,
    search: EXPLORE,
    view: lazyView(() => import('./event-labels-page.tsx'), 'EventLabelsPage'),
  }),
  page({
    path: paths.orders,
    search: EXPLORE,
    view: lazyView(() => import('./order-reconciliation-page.tsx'), 'OrdersPage'),
  }),
  page({ path: paths.session, view: lazyView(() => import('./events/session-page.tsx'), 'SessionPage') }),
] as const
