import { IconCompass } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyViews, page } from '../page.ts'
import { DICTIONARY, EVENTS, EXPLORE, exploreQueries, JOURNEYS } from './queries.ts'

const paths = PAGE_PATHS.explore
const view = lazyViews(() => import('./views.ts'))

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
    view: view('DictionaryPage'),
  }),
  page({ path: paths.events, search: EVENTS, view: view('EventsPage') }),
  page({
    path: paths.journeys,
    search: JOURNEYS,
    queries: (values) => [exploreQueries.flows(values)],
    view: view('JourneysPage'),
  }),
  page({
    path: paths.performance,
    search: EXPLORE,
    queries: (values) => [exploreQueries.performance(values)],
    view: view('PerformancePage'),
  }),
  page({
    path: paths.execution,
    search: EXPLORE,
    queries: (values) => [exploreQueries.execution(values)],
    view: view('ExecutionPage'),
  }),
  page({ path: paths.labels, search: EXPLORE, view: view('EventLabelsPage') }),
  page({ path: paths.orders, search: EXPLORE, view: view('OrdersPage') }),
  page({ path: paths.session, view: view('SessionPage') }),
] as const
