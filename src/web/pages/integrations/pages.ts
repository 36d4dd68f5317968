import { IconPlug } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { sharedQueries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { CONNECT, integrationsQuery } from './queries.ts'

const paths = PAGE_PATHS.integrations

export const integrationsPages = [
  page({
    path: paths.list,
    menu: {
      title: () => messages.shell.pages.integrations,
      keys: 'g n',
      navigation: { group: 'connect', icon: IconPlug },
    },
    queries: () => [integrationsQuery(), sharedQueries.forms()],
    view: lazyView(() => import('./integrations-page.tsx'), 'IntegrationsPage'),
  }),
  page({ path: paths.new, search: CONNECT, view: lazyView(() => import('./connect-page.tsx'), 'ConnectPage') }),
  page({ path: paths.item, view: lazyView(() => import('./integration-page.tsx'), 'IntegrationPage') }),
] as const
