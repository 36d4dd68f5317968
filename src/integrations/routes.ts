import { maskUrl, unsealOrMaskTarget } from '../alerts/channel-target.ts'
import type { Clock } from '../core/clock.ts'
import { Closed, Nullable, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Enqueue } from '../issues/issue.ts'
import type { Db } from '../store/database.ts'
import { type ConfigureDeps, createIntegration, replaceIntegration } from './configure.ts'
import type { Dispatcher } from './delivery/dispatcher.ts'
import { testIntegration } from './delivery/send-test.ts'
import {
  DEFAULT_LABEL,
  describeIntegration,
  type IntegrationDetail,
  IntegrationDetailSchema,
  IntegrationInputSchema,
  type IntegrationRecord,
  IntegrationSchema,
  NewIntegrationSchema,
} from './integration.ts'
import { providerRoutes } from './provider-routes.ts'
import { deleteIntegration, findIntegration, listIntegrations, secretNamesOf } from './store.ts'
import type { AddressGuard } from './transport/address-guard.ts'

export interface IntegrationRoutesDeps {
  db: Db
  clock: Clock
  box: SecretBox
  dispatcher: Dispatcher
  guard: AddressGuard
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
  /** Address of the collector, where a domain has no other; by default that of the server. */
  collectUrl?: string
  /** Called inside the transaction in which somebody at another side changes an issue. */
  enqueue: Enqueue
}

/** Of a body with a configuration: texts, keys, certificates. */
const CONFIG_BODY_BYTES = 1024 * 1024
const tag = 'Integrations'
const nextCursor = Nullable(Type.String())
const IntegrationList = Closed({ integrations: Type.Array(IntegrationSchema), nextCursor }, { $id: 'IntegrationList' })
const TestResult = Closed(
  {
    ok: Type.Boolean(),
    deliveryId: Nullable(Type.String({ description: 'Null for an integration that is no channel' })),
  },
  { $id: 'IntegrationTestResult', examples: [{ ok: true, deliveryId: 'dlv_01ke7k3h40c8s5d2w7y1g9f3qn' }] },
)
/** URLs of receivers are often as good as a password: only admins see them, and read-only keys see them masked. */
function withConfig(box: SecretBox, record: IntegrationRecord, principal: Principal) {
  const { url, ...rest } = record.config
  const shown = () => (principal.readOnly ? maskUrl(String(url)) : unsealOrMaskTarget(box, String(url)))
  const config = url === undefined ? rest : { url: shown(), ...rest }
  return { ...describeIntegration(record), config: may(principal, 'seeSettings') ? config : null }
}

function detailOf(
  { db, box }: Pick<IntegrationRoutesDeps, 'db' | 'box'>,
  record: IntegrationRecord,
  principal: Principal,
): IntegrationDetail {
  const secrets = may(principal, 'seeSettings') ? secretNamesOf(db, box, record) : null
  return { ...withConfig(box, record, principal), secrets }
}

/** Integrations: `/v1/integrations`. Secrets come in and never go out, but for one that was made, once. */
export function integrationRoutes(deps: IntegrationRoutesDeps): Route[] {
  const { operator, providers, transport } = deps.dispatcher.deps
  const known = { ...deps, transport, ...(providers ? { providers } : {}), ...(operator ? { operator } : {}) }
  return [...readingRoutes(deps), ...writingRoutes(deps, known), ...providerRoutes(known)]
}

function readingRoutes(deps: Pick<IntegrationRoutesDeps, 'db' | 'box'>): Route[] {
  const { db } = deps
  return [
    route({
      id: 'listIntegrations',
      method: 'GET',
      path: '/v1/integrations',
      access: 'read',
      tag,
      summary: 'Connected products',
      tool: true,
      query: Closed(pagingFields),
      answer: IntegrationList,
      handle({ principal: { orgId }, query: { cursor, limit = DEFAULT_LIMIT } }) {
        const after = decodeCursor(cursor, 1)?.[0] ?? null
        const { items, nextCursor } = page(listIntegrations(db, orgId, { after, limit }), limit, ({ id }) => [id])
        return { integrations: items.map(describeIntegration), nextCursor }
      },
    }),
    route({
      id: 'getIntegration',
      method: 'GET',
      path: '/v1/integrations/{id}',
      access: 'read',
      tag,
      summary: 'An integration, with its settings for admins',
      params: ById,
      answer: IntegrationDetailSchema,
      handle: ({ principal, params: { id } }) =>
        detailOf(deps, findIntegration(deps.db, { orgId: principal.orgId, id }), principal),
    }),
  ]
}

function writingRoutes(deps: IntegrationRoutesDeps, known: ConfigureDeps): Route[] {
  const { db } = deps
  return [
    route({
      id: 'createIntegration',
      method: 'POST',
      path: '/v1/integrations',
      access: 'configure',
      tag,
      summary: 'Connect a product; a secret that is made is shown once',
      maxBodyBytes: CONFIG_BODY_BYTES,
      body: IntegrationInputSchema,
      status: 201,
      answer: NewIntegrationSchema,
      handle({ principal, body }) {
        const { record, shown } = createIntegration(known, principal.orgId, body)
        return { ...withConfig(deps.box, record, principal), ...shown }
      },
      note: ({ body: { provider, label = DEFAULT_LABEL } }) => ({ provider, label }),
    }),
    route({
      id: 'replaceIntegration',
      method: 'PUT',
      path: '/v1/integrations/{id}',
      access: 'configure',
      tag,
      summary: 'Replace label and settings; a secret that is left out stays',
      params: ById,
      maxBodyBytes: CONFIG_BODY_BYTES,
      body: IntegrationInputSchema,
      answer: IntegrationDetailSchema,
      handle: ({ principal, params: { id }, body }) =>
        detailOf(deps, replaceIntegration(known, { orgId: principal.orgId, id }, body), principal),
      note: ({ body: { label = DEFAULT_LABEL } }) => ({ label }),
    }),
    route({
      id: 'deleteIntegration',
      method: 'DELETE',
      path: '/v1/integrations/{id}',
      access: 'configure',
      tag,
      summary: 'Disconnect a product; what still waits for it is refused',
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id } }) {
        deleteIntegration(db, { orgId, id })
        return OK
      },
    }),
    route({
      id: 'testIntegration',
      method: 'POST',
      path: '/v1/integrations/{id}/test',
      access: 'configure',
      tag,
      summary: 'Send a test now; 502 with the reason when it does not arrive',
      refusals: ['conflict', 'upstream'],
      asynchronous: true,
      params: ById,
      answer: TestResult,
      async handle({ principal: { orgId }, params: { id } }) {
        const { deliveryId } = await testIntegration(
          deps.dispatcher,
          findIntegration(db, { orgId, id }),
          deps.publicUrl,
        )
        return { ok: true, deliveryId }
      },
    }),
  ]
}
