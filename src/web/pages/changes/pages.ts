import { IconArrowsDiff, IconGitCommit } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { sharedQueries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import { lazyViews, page } from '../page.ts'
import { COMPARE } from './compare-sides.ts'
import { CHANGES, changesQuery } from './queries.ts'

const paths = PAGE_PATHS.changes
const view = lazyViews(() => import('./views.ts'))

export const changesPages = [
  page({
    path: paths.list,
    menu: {
      title: () => messages.shell.pages.changes,
      keys: 'g c',
      navigation: { group: 'understand', icon: IconGitCommit },
    },
    search: CHANGES,
    queries: (values) => [changesQuery(values), sharedQueries.domains()],
    view: view('ChangesPage'),
  }),
  page({ path: paths.item, view: view('ChangePage') }),
  page({
    path: paths.compare,
    menu: {
      title: () => messages.shell.pages.compare,
      navigation: { group: 'understand', icon: IconArrowsDiff },
    },
    search: COMPARE,
    queries: () => [sharedQueries.domains()],
    view: view('ComparePage'),
  }),
] as const
