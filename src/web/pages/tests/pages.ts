import { IconFlask } from '@tabler/icons-react'
import { getFlowTestOptions, getRunOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { NEW_TEST, runsQuery, testsQuery } from './queries.ts'

const paths = PAGE_PATHS.tests

export const testsPages = [
  page({
    path: paths.list,
    menu: {
      title: () => messages.shell.pages.tests,
      keys: 'g t',
      navigation: { group: 'understand', icon: IconFlask },
    },
    queries: () => [testsQuery()],
    view: lazyView(() => import('./tests-page.tsx'), 'TestsPage'),
  }),
  page({ path: paths.new, search: NEW_TEST, view: lazyView(() => import('./new-test-page.tsx'), 'NewTestPage') }),
  page({
    path: paths.item,
    queries: ({ id }) => [getFlowTestOptions({ path: { id } }), runsQuery(id)],
    view: lazyView(() => import('./test-page.tsx'), 'TestPage'),
  }),
  page({
    path: paths.run,
    queries: ({ id }) => [getRunOptions({ path: { id } })],
    view: lazyView(() => import('./run/run-page.tsx'), 'RunPage'),
  }),
] as const
