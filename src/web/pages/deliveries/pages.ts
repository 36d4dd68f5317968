import { IconSend } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { integrationNamesQuery } from '../../components/integration-names-query.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { alertsQuery, DELIVERIES, deliveriesQuery, deliveryQuery, inboxQuery } from './queries.ts'

export const deliveriesPages = [
  page({
    path: PAGE_PATHS.deliveries.list,
    menu: {
      title: () => messages.shell.pages.deliveries,
      keys: 'g l',
      navigation: { group: 'connect', icon: IconSend },
    },
    search: DELIVERIES,
    queries: (values) => [deliveriesQuery(values), inboxQuery, integrationNamesQuery(), alertsQuery()],
    view: lazyView(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  page({
    path: PAGE_PATHS.deliveries.item,
    queries: ({ id }) => [deliveryQuery(id), integrationNamesQuery()],
    view: lazyView(() => import('./delivery-page.tsx'), 'DeliveryPage'),
  }),
] as const
