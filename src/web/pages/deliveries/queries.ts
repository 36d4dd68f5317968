import { queryOptions } from '@tanstack/react-query'
import { listDeliveriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { DELIVERY_STATUSES } from '../../../contract/statuses.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { optional, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

/** Search parameters of the deliveries. */
export const DELIVERIES = {
  status: optional(DELIVERY_STATUSES),
  issueId: text,
}

/** The query of the notification log. */
export function deliveriesQuery({ status, issueId, project }: ValuesOf<typeof DELIVERIES & SharedParams>) {
  const query = {
    limit: PAGE_SIZE,
    ...(status && { status }),
    ...(issueId && { issueId }),
    ...(project && { projectId: project }),
  }
  return listDeliveriesInfiniteOptions({ query })
}

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
