import type { Clock } from '../core/clock.ts'
import { requireDomain } from '../domains/store.ts'
import { type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { checkTimes, OrdersAnswerSchema, OrdersInputSchema } from './order.ts'
import { saveOrders } from './store.ts'

/** The route to which a shop posts its orders. */
export function orderRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    route({
      id: 'postOrders',
      method: 'POST',
      path: '/v1/orders',
      access: 'edit',
      tag: 'Orders',
      summary: 'Post the orders of a shop to compare them with those reported by its tags',
      description:
        'An existing id is replaced. If one order is invalid, the whole list is rejected. Orders are stored for 400 days. ' +
        '`GET /v1/insights/reconcile` compares.',
      tool: true,
      isFeed: true,
      refusals: ['notFound'],
      body: OrdersInputSchema,
      answer: OrdersAnswerSchema,
      handle({ principal: { orgId }, body: { domainId, orders } }) {
        requireDomain(db, { orgId, id: domainId })
        checkTimes(orders, clock.now())
        return saveOrders(db, { domainId, orders, now: clock.now() })
      },
    }),
  ]
}
