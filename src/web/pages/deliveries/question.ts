import { listDeliveriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'
import type { DELIVERIES } from './address.ts'

const AT_ONCE = 100

/** The query of the delivery log. */
export function deliveriesAskedFor({ status, issueId, project }: ValuesOf<typeof DELIVERIES & Shared>) {
  const query = {
    limit: AT_ONCE,
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
export const inboxAskedFor = {
  queryKey: [{ _id: 'demoInbox' }],
  async queryFn(): Promise<readonly Message[] | null> {
    const response = await fetch('/demo/inbox', { headers: { accept: 'application/json' } })
    return response.status === 200 ? (await response.json()).messages : null
  },
}
