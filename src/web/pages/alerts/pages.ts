import { IconBell } from '@tabler/icons-react'
import { getAlertOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { sharedQueries } from '../../api/queries.ts'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { ALERTS, alertsQuery, NEW_ALERT, suggestionsQuery } from './queries.ts'

const paths = PAGE_PATHS.alerts

export const alertsPages = [
  page({
    path: paths.list,
    menu: { title: () => messages.shell.pages.alerts, keys: 'g a', navigation: { group: 'watch', icon: IconBell } },
    search: ALERTS,
    queries: (values) => [
      alertsQuery(values),
      sharedQueries.domains(),
      sharedQueries.forms(),
      suggestionsQuery(values.project),
    ],
    view: lazyView(() => import('./alerts-page.tsx'), 'AlertsPage'),
  }),
  page({
    path: paths.new,
    menu: {
      title: () => messages.palette.newAlert,
      keywords: () => messages.palette.newAlertKeywords,
      keys: 'c',
      action: 'member',
    },
    search: { ...NEW_ALERT, ...SHOW_PARAM },
    queries: () => [sharedQueries.forms()],
    view: lazyView(() => import('./editor/new-alert-page.tsx'), 'NewAlertPage'),
  }),
  page({
    path: paths.item,
    search: SHOW_PARAM,
    queries: ({ id }) => [getAlertOptions({ path: { id } }), sharedQueries.forms()],
    view: lazyView(() => import('./editor/edit-alert-page.tsx'), 'AlertPage'),
  }),
] as const
