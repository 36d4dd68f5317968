import { IconLayoutDashboard } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { overviewQueries } from './queries.ts'

export const overviewPages = [
  page({
    path: PAGE_PATHS.overview.overview,
    menu: {
      title: () => messages.shell.pages.overview,
      keys: 'g o',
      navigation: { group: 'first', icon: IconLayoutDashboard },
    },
    search: SHOW_PARAM,
    queries: ({ project }) => Object.values(overviewQueries).map((query) => query(project)),
    view: lazyView(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const
