import { listDeliveriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import { optional, text } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'

/** Search parameters of the deliveries. */
export const DELIVERIES = {
  status: optional(['pending', 'sending', 'delivered', 'failed', 'withdrawn']),
  issueId: text,
}

const PAGE_SIZE = 100

/** The query of the delivery log. */
export function deliveriesQuery({ status, issueId, project }: ValuesOf<typeof DELIVERIES & Shared>) {
  const query = {
    limit: PAGE_SIZE,
    ...(status && { status }),
    ...(issueId && { issueId }),
    ...(project && { projectId: project }),
  }
  return { ...listDeliveriesInfiniteOptions({ query }), ...PAGED }
}

/** A message received by the demo's mail server or webhook receiver. */
interface Message {
  id: string
  at: number
  via: string
  title: string
  text: string
}

/** Messages received by the demo's mail server and webhook receiver; null without a demo. */
export const inboxQuery = {
  queryKey: [{ _id: 'demoInbox' }],
  async queryFn(): Promise<readonly Message[] | null> {
    const response = await fetch('/demo/inbox', { headers: { accept: 'application/json' } })
    return response.status === 200 ? (await response.json()).messages : null
  },
}
