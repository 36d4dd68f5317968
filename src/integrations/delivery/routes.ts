import { DELIVERY_STATUSES } from '../../contract/statuses.ts'
import type { Clock } from '../../core/clock.ts'
import { Closed, OneOf, Type } from '../../core/schema.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { domainIdsNamed } from '../../domains/project-store.ts'
import { NextCursorSchema, pagingFields } from '../../http/paging.ts'
import { ById, type Route, route } from '../../http/route.ts'
import type { Db } from '../../store/database.ts'
import { DeliveryDetailSchema, describeDeliveryDetail } from './attempt-log.ts'
import { DeliverySchema, describeDelivery } from './delivery.ts'
import { findDelivery, listDeliveries, replay } from './delivery-store.ts'

const tag = 'Notifications'
const DeliveryList = Closed(
  { deliveries: Type.Array(DeliverySchema), nextCursor: NextCursorSchema },
  { $id: 'DeliveryList' },
)
const DeliveryQuery = Closed({
  issueId: Type.Optional(Type.String()),
  projectId: Type.Optional(
    Type.String({ maxLength: 100, description: 'Include only deliveries about issues in this project' }),
  ),
  status: Type.Optional(OneOf(DELIVERY_STATUSES)),
  ...pagingFields,
})

/** Routes under `/v1/notifications/deliveries`. */
export function deliveryRoutes({ db, box, clock }: { db: Db; box: SecretBox; clock: Clock }): Route[] {
  return [
    route({
      id: 'listDeliveries',
      method: 'GET',
      path: '/v1/notifications/deliveries',
      access: 'read',
      tag,
      summary: 'List deliveries with their status, newest first',
      description: 'The channel targets are empty for viewers.',
      refusals: ['notFound'],
      tool: true,
      query: DeliveryQuery,
      answer: DeliveryList,
      handle({ principal, query: { projectId, ...query } }) {
        const { orgId } = principal
        const domainIds = domainIdsNamed(db, orgId, { projectId })
        const { items, nextCursor } = listDeliveries(db, orgId, { ...query, domainIds })
        return { deliveries: items.map((row) => describeDelivery(box, row, principal)), nextCursor }
      },
    }),
    route({
      id: 'getDelivery',
      method: 'GET',
      path: '/v1/notifications/deliveries/{id}',
      access: 'read',
      tag,
      summary: 'Get a delivery with its attempts',
      description: 'The channel target is empty for viewers. Only admins and owners can see responses.',
      tool: true,
      params: ById,
      answer: DeliveryDetailSchema,
      handle: ({ principal, params: { id } }) =>
        describeDeliveryDetail({ db, box }, findDelivery(db, principal.orgId, id), principal),
    }),
    route({
      id: 'replayDelivery',
      method: 'POST',
      path: '/v1/notifications/deliveries/{id}/replay',
      access: 'edit',
      tag,
      summary: 'Resend a delivery with the same id',
      refusals: ['conflict'],
      tool: true,
      params: ById,
      answer: DeliverySchema,
      handle: ({ principal, params: { id } }) =>
        describeDelivery(box, replay(db, principal.orgId, id, clock.now()), principal),
    }),
  ]
}
