import { IconActivity } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { sharedQueries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { SIGNALS, signalsQuery } from './queries.ts'

export const signalsPages = [
  page({
    path: PAGE_PATHS.signals.list,
    menu: {
      title: () => messages.shell.pages.signals,
      keys: 'g s',
      navigation: { group: 'watch', icon: IconActivity },
    },
    search: SIGNALS,
    queries: (values) => [signalsQuery(values), sharedQueries.domains()],
    view: lazyView(() => import('./signals-page.tsx'), 'SignalsPage'),
  }),
] as const
