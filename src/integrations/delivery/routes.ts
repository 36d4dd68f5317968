import { unsealChannel } from '../../alerts/encrypt-channel-target.ts'
import { CHANNEL_TYPES } from '../../contract/products.ts'
import { DELIVERY_STATUSES } from '../../contract/statuses.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { Closed, InstantInput, OneOf, SeveralOf, SeveralTexts, Type } from '../../core/schema.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { domainIdsNamed } from '../../domains/project-store.ts'
import { NextCursorSchema, pagingFields, sortField } from '../../http/paging.ts'
import { requirePermission } from '../../http/permission.ts'
import { ById, type Route, route } from '../../http/route.ts'
import type { Db } from '../../store/database.ts'
import { DeliveryDetailSchema, describeDeliveryDetail } from './attempt-log.ts'
import { DeliverySchema, describeDelivery } from './delivery.ts'
import { channelIdOf, DELIVERY_SORTS, findDelivery, listChannels, listDeliveries, replay } from './delivery-store.ts'

const tag = 'Notifications'
const DeliveryList = Closed(
  { deliveries: Type.Array(DeliverySchema), nextCursor: NextCursorSchema },
  { $id: 'DeliveryList' },
)
const ChannelList = Closed(
  {
    channels: Type.Array(
      Closed({
        id: Type.String({ description: 'Target with a masked URL; identifies the channel in the list of deliveries' }),
        type: OneOf(CHANNEL_TYPES),
        target: Type.String(),
      }),
    ),
  },
  {
    $id: 'DeliveryChannelList',
    examples: [{ channels: [{ id: 'ann@example.com', type: 'email', target: 'ann@example.com' }] }],
  },
)
const DeliveryQuery = Closed({
  issueId: Type.Optional(Type.String()),
  alertId: Type.Optional(SeveralTexts({ description: 'Alerts, flow tests or audits of the notifications' })),
  channelType: Type.Optional(SeveralOf(CHANNEL_TYPES)),
  channel: Type.Optional(
    SeveralTexts({
      description:
        'Ids of channels, as in `GET /v1/notifications/channels`, or of integrations; requires the member role',
    }),
  ),
  from: Type.Optional(InstantInput({ description: 'Include only deliveries created at or after this time' })),
  to: Type.Optional(InstantInput({ description: 'Include only deliveries created before this time' })),
  projectId: Type.Optional(
    Type.String({ maxLength: 100, description: 'Include only deliveries about issues in this project' }),
  ),
  status: Type.Optional(SeveralOf(DELIVERY_STATUSES)),
  sort: sortField(DELIVERY_SORTS, '-createdAt'),
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
      summary: 'List deliveries with their status, newest first by default',
      description: 'The channel targets are empty for viewers.',
      refusals: ['notFound'],
      tool: true,
      query: DeliveryQuery,
      answer: DeliveryList,
      exports: 'deliveries',
      handle({ principal, query: { projectId, ...query } }) {
        const { orgId } = principal
        if (query.channel !== undefined) requirePermission(principal, 'seeTokens')
        if (query.from !== undefined && query.to !== undefined && query.from >= query.to) {
          throw new AppError('invalid', 'query.from: must be before `to`')
        }
        const domainIds = domainIdsNamed(db, orgId, { projectId })
        const { items, nextCursor } = listDeliveries(db, orgId, { ...query, domainIds })
        return { deliveries: items.map((row) => describeDelivery(box, row, principal)), nextCursor }
      },
    }),
    route({
      id: 'listDeliveryChannels',
      method: 'GET',
      path: '/v1/notifications/channels',
      access: 'seeTokens',
      tag,
      summary: 'List the channels to which notifications were sent, at most 500',
      answer: ChannelList,
      handle: ({ principal: { orgId } }) => ({
        channels: listChannels(db, orgId).map(({ channelType: type, channelTarget }) => {
          const { target } = unsealChannel(box, { type, target: channelTarget })
          return { id: channelIdOf(channelTarget), type, target }
        }),
      }),
    }),
    route({
      id: 'getDelivery',
      method: 'GET',
      path: '/v1/notifications/deliveries/{id}',
      access: 'read',
      tag,
      summary: 'Get a delivery with its attempts',
      description: 'The channel target is empty for viewers. Only admins and owners can see requests and responses.',
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
