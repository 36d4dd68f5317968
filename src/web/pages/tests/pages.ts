import { IconFlask } from '@tabler/icons-react'
import { getFlowTestOptions, getRunOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyViews, page } from '../page.ts'
import { NEW_TEST, runsQuery, testsQuery } from './queries.ts'

const paths = PAGE_PATHS.tests
const view = lazyViews(() => import('./views.ts'))

export const testsPages = [
  page({
    path: paths.list,
    menu: {
      title: () => messages.shell.pages.tests,
      keys: 'g t',
      navigation: { group: 'understand', icon: IconFlask },
    },
    queries: () => [testsQuery()],
    view: view('TestsPage'),
  }),
  page({ path: paths.new, search: NEW_TEST, view: view('NewTestPage') }),
  page({
    path: paths.item,
    queries: ({ id }) => [getFlowTestOptions({ path: { id } }), runsQuery(id)],
    view: view('TestPage'),
  }),
  page({
    path: paths.run,
    queries: ({ id }) => [getRunOptions({ path: { id } })],
    view: view('RunPage'),
  }),
] as const
