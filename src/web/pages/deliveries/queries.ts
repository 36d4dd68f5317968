import { queryOptions } from '@tanstack/react-query'
import {
  getDeliveryOptions,
  listAlertsOptions,
  listDeliveriesInfiniteOptions,
  listDeliveryChannelsOptions,
} from '#client/@tanstack/react-query.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { CHANNEL_TYPES } from '../../../contract/products.ts'
import { DELIVERY_STATUSES } from '../../../contract/statuses.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { STALE_MS } from '../../api/queries.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { choice, multiple, nameList, sortParam, text } from '../../url-state/param-types.ts'
import { RANGE_HOURS, RANGES, type SharedParams } from '../../url-state/search-params.ts'

/** Search parameters of the deliveries. `channel`: ids of channels or integrations. */
export const DELIVERIES = {
  range: choice(RANGES, '30d'),
  status: multiple(DELIVERY_STATUSES, []),
  channelType: multiple(CHANNEL_TYPES, []),
  channel: nameList,
  alertId: nameList,
  issueId: text,
  sort: sortParam(['createdAt', 'status', 'channel', 'attempts'], '-createdAt'),
}

type DeliveriesParams = ValuesOf<typeof DELIVERIES & Omit<SharedParams, 'range'>>

const HOUR_MS = 3_600_000
/** The API rejects empty lists, so an empty filter is omitted. */
const nonEmpty = <T>(values: readonly T[]): T[] | undefined => (values.length === 0 ? undefined : [...values])

/** The query of the notification log. A range begins with a full hour, so that the query stays the same for a while. */
export function deliveriesQuery(params: DeliveriesParams) {
  const { range, from, to, status, channelType, channel, alertId, issueId, project, sort } = params
  const start = Math.max(0, Math.floor((to ?? Date.now()) / HOUR_MS - RANGE_HOURS[range])) * HOUR_MS
  return listDeliveriesInfiniteOptions({
    query: {
      limit: PAGE_SIZE,
      sort,
      from: from ?? start,
      ...(to !== null && { to }),
      status: nonEmpty(status),
      channelType: nonEmpty(channelType),
      alertId: nonEmpty(alertId),
      channel: nonEmpty(channel),
      ...(issueId && { issueId }),
      ...(project && { projectId: project }),
    },
  })
}

/** The query of a delivery with its attempts. */
export const deliveryQuery = (id: string) => getDeliveryOptions({ path: { id } })

/** The query of the alerts by which deliveries can be filtered. */
export const alertsQuery = () => ({
  ...listAlertsOptions({ query: { limit: MAX_PAGE_SIZE } }),
  staleTime: STALE_MS.insight,
})

/** The query of the channels that have deliveries. Only members and above can see them. */
export const channelsQuery = () => ({ ...listDeliveryChannelsOptions(), staleTime: STALE_MS.dictionary })

/** A message received by the demo's mail server or webhook receiver. */
interface Message {
  id: string
  at: number
  via: string
  title: string
  text: string
}

/** Messages received by the demo's mail server and webhook receiver; null if the server is not a demo. */
export const inboxQuery = queryOptions({
  queryKey: [{ _id: 'demoInbox' }],
  async queryFn(): Promise<readonly Message[] | null> {
    const response = await fetch('/demo/inbox', { headers: { accept: 'application/json' } })
    return response.status === 200 ? (await response.json()).messages : null
  },
})
