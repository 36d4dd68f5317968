import type { Clock } from '../core/clock.ts'
import { findDomain } from '../domains/store.ts'
import { type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { checkTimes, OrdersAnswerSchema, OrdersInputSchema } from './order.ts'
import { saveOrders } from './store.ts'

/** The route by which a shop says what it sold. */
export function orderRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    route({
      id: 'postOrders',
      method: 'POST',
      path: '/v1/orders',
      access: 'edit',
      tag: 'Orders',
      summary: 'Say what a shop sold, to be held against what its tags told their vendors',
      description:
        'An id that was posted before is replaced. A bad order of the list refuses the whole list. Kept for 400 days. ' +
        '`GET /v1/insights/reconcile` compares.',
      tool: true,
      refusals: ['notFound'],
      body: OrdersInputSchema,
      answer: OrdersAnswerSchema,
      handle({ principal: { orgId }, body: { domainId, orders } }) {
        const now = clock.now()
        findDomain(db, { orgId, id: domainId }, now)
        checkTimes(orders, now)
        return saveOrders(db, domainId, orders)
      },
    }),
  ]
}
