import { IconPlug } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { sharedQueries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import { lazyViews, page } from '../page.ts'
import { CONNECT, integrationsQuery } from './queries.ts'

const paths = PAGE_PATHS.integrations
const view = lazyViews(() => import('./views.ts'))

export const integrationsPages = [
  page({
    path: paths.list,
    menu: {
      title: () => messages.shell.pages.integrations,
      keys: 'g n',
      navigation: { group: 'connect', icon: IconPlug },
    },
    queries: () => [integrationsQuery(), sharedQueries.forms()],
    view: view('IntegrationsPage'),
  }),
  page({ path: paths.new, search: CONNECT, view: view('ConnectPage') }),
  page({ path: paths.item, view: view('IntegrationPage') }),
] as const
