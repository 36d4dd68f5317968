import { maskUrl, unsealOrMaskTarget } from '../alerts/encrypt-channel-target.ts'
import type { Clock } from '../core/clock.ts'
import { Closed, Nullable, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { ComparedSecretsSchema, compareSecrets, SecretComparisonSchema } from '../http/compare-secrets.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { isFullCredential, may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Enqueue } from '../issues/issue.ts'
import type { Db } from '../store/database.ts'
import type { AddressGuard } from '../transport/address-guard.ts'
import { type ConfigureDeps, createIntegration, replaceIntegration } from './configure-integration.ts'
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
import type { Connector } from './providers/connector.ts'
import {
  deleteIntegration,
  findIntegration,
  hasSecrets,
  listIntegrations,
  openIntegration,
  secretNamesOf,
} from './store.ts'

interface IntegrationRoutesDeps {
  db: Db
  clock: Clock
  box: SecretBox
  dispatcher: Dispatcher
  guard: AddressGuard
  connectors: readonly Connector[]
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  /** URL of the collector for domains without their own collector host. Default: `publicUrl`. */
  collectUrl?: string
  /** Called inside the transaction in which an inbound call changes an issue. */
  enqueue: Enqueue
}

/** Maximum size of a configuration, which may contain keys and certificates. */
const CONFIG_BODY_BYTES = 1024 * 1024
const tag = 'Integrations'
const IntegrationList = Closed(
  { integrations: Type.Array(IntegrationSchema), nextCursor: NextCursorSchema },
  { $id: 'IntegrationList' },
)
const TestResult = Closed(
  {
    ok: Type.Boolean(),
    deliveryId: Nullable(Type.String({ description: 'Null for integrations that do not send notifications' })),
  },
  { $id: 'IntegrationTestResult', examples: [{ ok: true, deliveryId: 'dlv_01ke7k3h40c8s5d2w7y1g9f3qn' }] },
)
/**
 * Adds the configuration. The URL of a receiver is often as sensitive as a password, so only admins see the full URL,
 * and keys without the scope `all` see a masked URL.
 */
function withConfig(box: SecretBox, record: IntegrationRecord, principal: Principal) {
  const { url, ...rest } = record.config
  const shown = () => (isFullCredential(principal) ? unsealOrMaskTarget(box, String(url)) : maskUrl(String(url)))
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

/** Routes under `/v1/integrations`. Secrets are write-only, except that a generated secret is shown once. */
export function integrationRoutes(deps: IntegrationRoutesDeps): Route[] {
  const { operator, transport } = deps.dispatcher.deps
  const known = { ...deps, transport, ...(operator ? { operator } : {}) }
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
      summary: 'List integrations',
      tool: true,
      query: Closed(pagingFields),
      answer: IntegrationList,
      exports: 'integrations',
      handle({ principal: { orgId }, query }) {
        const { items, nextCursor } = listIntegrations(db, orgId, query)
        return { integrations: items.map(describeIntegration), nextCursor }
      },
    }),
    route({
      id: 'getIntegration',
      method: 'GET',
      path: '/v1/integrations/{id}',
      access: 'read',
      tag,
      summary: 'Get an integration; only admins and owners can see its settings',
      params: ById,
      answer: IntegrationDetailSchema,
      handle: ({ principal, params: { id } }) =>
        detailOf(deps, findIntegration(deps.db, { orgId: principal.orgId, id }), principal),
    }),
    route({
      id: 'compareIntegrationSecrets',
      method: 'POST',
      path: '/v1/integrations/{id}/secrets/compare',
      access: 'seeSettings',
      tag,
      summary: 'Compare values with the stored secrets of an integration, without changing or returning them',
      params: ById,
      maxBodyBytes: CONFIG_BODY_BYTES,
      body: SecretComparisonSchema,
      answer: ComparedSecretsSchema,
      handle({ principal: { orgId }, params: { id }, body }) {
        const key = { orgId, id }
        const stored = hasSecrets(db, key) ? openIntegration(db, deps.box, key) : null
        return compareSecrets(body, stored?.settings ?? {})
      },
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
      summary: 'Create an integration; a generated secret is shown only once',
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
      summary: 'Replace the label and settings of an integration; omitted secrets are unchanged',
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
      summary: 'Delete an integration; its pending deliveries fail',
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
      summary: 'Test an integration; returns 502 with the reason if the test fails',
      refusals: ['conflict', 'upstream'],
      asynchronous: true,
      params: ById,
      answer: TestResult,
      async handle({ principal: { orgId }, params: { id } }) {
        const { deliveryId } = await testIntegration(deps, findIntegration(db, { orgId, id }))
        return { ok: true, deliveryId }
      },
    }),
  ]
}
