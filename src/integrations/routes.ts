import { AppError } from '../core/error.ts'
import { Closed, Nullable, OneOf, Type } from '../core/schema.ts'
import { type Authenticate, controller } from '../http/controller.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import { atLeast, type Principal } from '../http/principal.ts'
import type { AddressGuard } from './address-guard.ts'
import { type Delivering, sendTest } from './deliver.ts'
import { DELIVERY_STATUSES, DeliverySchema, describeDelivery } from './delivery.ts'
import { listDeliveries, replay } from './delivery-log.ts'
import {
  DEFAULT_LABEL,
  describeIntegration,
  type IntegrationDetail,
  IntegrationDetailSchema,
  type IntegrationInput,
  IntegrationInputSchema,
  type IntegrationRecord,
  IntegrationSchema,
  NewIntegrationSchema,
  providerChannel,
  splitSettings,
} from './integration.ts'
import {
  createIntegration,
  deleteIntegration,
  findIntegration,
  type IntegrationKey,
  listIntegrations,
  openSettings,
  updateIntegration,
} from './store.ts'

export interface IntegrationParts extends Delivering {
  authenticate: Authenticate
  guard: AddressGuard
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
}

const ById = Closed({ id: Type.String() })
const Ok = Closed({ ok: Type.Boolean() })
const nextCursor = Nullable(Type.String())
const IntegrationList = Closed({ integrations: Type.Array(IntegrationSchema), nextCursor }, { $id: 'IntegrationList' })
const DeliveryList = Closed({ deliveries: Type.Array(DeliverySchema), nextCursor }, { $id: 'DeliveryList' })
const TestResult = Closed({ ok: Type.Boolean(), deliveryId: Type.String() }, { $id: 'IntegrationTestResult' })
const DeliveryQuery = Closed({
  issueId: Type.Optional(Type.String()),
  status: Type.Optional(OneOf(DELIVERY_STATUSES)),
  ...pagingFields,
})

/** URLs of receivers are often as good as a password: only admins see them. */
function detailOf(record: IntegrationRecord, { role }: Principal): IntegrationDetail {
  return { ...describeIntegration(record), config: atLeast(role, 'admin') ? record.config : null }
}

function create({ db, box, clock, guard }: IntegrationParts, orgId: string, input: IntegrationInput) {
  const channel = providerChannel(input.provider)
  const settings: Record<string, unknown> = { ...channel.prepare(input.config, guard) }
  const { provider, label = DEFAULT_LABEL } = input
  const split = splitSettings(settings, channel.secrets)
  const record = createIntegration(db, box, { orgId, provider, label, ...split, createdAt: clock.now() })
  const made = channel.secrets.find((name) => input.config[name] === undefined)
  return { record, secret: made === undefined ? null : String(settings[made]) }
}

function replace(
  { db, box, guard }: IntegrationParts,
  key: IntegrationKey,
  input: IntegrationInput,
): IntegrationRecord {
  const present = findIntegration(db, key)
  if (input.provider !== present.provider) {
    throw new AppError('invalid', `provider: is ${present.provider} and stays so; create another integration`)
  }
  const channel = providerChannel(present.provider)
  const { secrets } = splitSettings(openSettings(db, box, key), channel.secrets)
  const settings = channel.prepare({ ...secrets, ...input.config }, guard)
  return updateIntegration(db, box, key, {
    label: input.label ?? DEFAULT_LABEL,
    ...splitSettings(settings, channel.secrets),
  })
}

/** Integrations: `/v1/integrations`. Secrets come in and never go out, but for one that was made, once. */
export function integrationRoutes(parts: IntegrationParts) {
  const { db } = parts
  const tags = ['Integrations']
  return controller(parts.authenticate)
    .get(
      '/integrations',
      ({ principal: { orgId }, query: { cursor, limit = DEFAULT_LIMIT } }) => {
        const after = decodeCursor(cursor, 1)?.[0] ?? null
        const { items, nextCursor } = page(listIntegrations(db, orgId, { after, limit }), limit, ({ id }) => [id])
        return { integrations: items.map(describeIntegration), nextCursor }
      },
      {
        access: 'read',
        query: Closed(pagingFields),
        response: { 200: IntegrationList },
        detail: { summary: 'Connected products', tags },
      },
    )
    .post(
      '/integrations',
      ({ principal, body, status }) => {
        const { record, secret } = create(parts, principal.orgId, body)
        return status(201, { ...detailOf(record, principal), ...(secret === null ? {} : { secret }) })
      },
      {
        access: 'admin',
        body: IntegrationInputSchema,
        response: { 201: NewIntegrationSchema },
        detail: { summary: 'Connect a product; a secret that is made is shown once', tags },
      },
    )
    .get(
      '/integrations/:id',
      ({ principal, params: { id } }) => detailOf(findIntegration(db, { orgId: principal.orgId, id }), principal),
      {
        access: 'read',
        params: ById,
        response: { 200: IntegrationDetailSchema },
        detail: { summary: 'An integration, with its settings for admins', tags },
      },
    )
    .put(
      '/integrations/:id',
      ({ principal, params: { id }, body }) =>
        detailOf(replace(parts, { orgId: principal.orgId, id }, body), principal),
      {
        access: 'admin',
        params: ById,
        body: IntegrationInputSchema,
        response: { 200: IntegrationDetailSchema },
        detail: { summary: 'Replace label and settings; a secret that is left out stays', tags },
      },
    )
    .delete(
      '/integrations/:id',
      ({ principal: { orgId }, params: { id } }) => {
        deleteIntegration(db, { orgId, id })
        return { ok: true }
      },
      {
        access: 'admin',
        params: ById,
        response: { 200: Ok },
        detail: { summary: 'Disconnect a product; what still waits for it is refused', tags },
      },
    )
    .post(
      '/integrations/:id/test',
      async ({ principal: { orgId }, params: { id } }) => {
        const { deliveryId } = await sendTest(parts, findIntegration(db, { orgId, id }), parts.publicUrl)
        return { ok: true, deliveryId }
      },
      {
        access: 'admin',
        params: ById,
        response: { 200: TestResult },
        detail: { summary: 'Send a test now; 502 with the reason when it does not arrive', tags },
      },
    )
}

/** The log of deliveries: `/v1/notifications/deliveries`. */
export function deliveryRoutes({ db, clock, authenticate }: Pick<IntegrationParts, 'db' | 'clock' | 'authenticate'>) {
  const tags = ['Notifications']
  return controller(authenticate)
    .get(
      '/notifications/deliveries',
      ({ principal: { orgId }, query: { cursor, limit = DEFAULT_LIMIT, ...filter } }) => {
        const after = decodeCursor(cursor, 1)?.[0] ?? null
        const rows = listDeliveries(db, orgId, filter, { after, limit })
        const { items, nextCursor } = page(rows, limit, ({ seq }) => [seq])
        return { deliveries: items.map(describeDelivery), nextCursor }
      },
      {
        access: 'read',
        query: DeliveryQuery,
        response: { 200: DeliveryList },
        detail: { summary: 'What was sent, to whom, and how it went; newest first', tags },
      },
    )
    .post(
      '/notifications/deliveries/:id/replay',
      ({ principal: { orgId }, params: { id } }) => describeDelivery(replay(db, orgId, id, clock.now())),
      {
        access: 'member',
        params: ById,
        response: { 200: DeliverySchema },
        detail: { summary: 'Send a delivery again, with the same id', tags },
      },
    )
}
