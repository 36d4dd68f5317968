import { IconAlertTriangle } from '@tabler/icons-react'
import { getIssueOptions, investigateIssueOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { membersQuery } from '../../api/members.ts'
import { sharedQueries } from '../../api/queries.ts'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { ISSUES, issuesQuery } from './queries.ts'

const paths = PAGE_PATHS.issues

export const issuesPages = [
  page({
    path: paths.list,
    menu: {
      title: () => messages.shell.pages.issues,
      keys: 'g i',
      navigation: { group: 'first', icon: IconAlertTriangle },
    },
    search: ISSUES,
    queries: (values) => [issuesQuery(values), sharedQueries.domains(), membersQuery()],
    view: lazyView(() => import('./issues-page.tsx'), 'IssuesPage'),
  }),
  page({
    path: paths.item,
    search: SHOW_PARAM,
    queries: ({ id }) => [getIssueOptions({ path: { id } }), investigateIssueOptions({ path: { id } })],
    view: lazyView(() => import('./issue/issue-page.tsx'), 'IssuePage'),
  }),
] as const
