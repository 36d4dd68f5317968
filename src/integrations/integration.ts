import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Type } from '../core/schema.ts'

/** What can be connected; `PROVIDERS` has those of this version. */
const PROVIDER_TYPES = ['tag_manager', 'team_chat', 'office_chat', 'issue_tracker', 'webhook', 'email_digest'] as const
export type ProviderType = (typeof PROVIDER_TYPES)[number]

/**
 * `failing`: the last attempt through it failed. Nothing goes through one that is `incomplete` (something has to be
 * chosen), `reauth_required` (somebody has to sign in at the other side) or `disabled` (the other side wants no more).
 */
const INTEGRATION_STATUSES = ['connected', 'failing', 'incomplete', 'reauth_required', 'disabled'] as const
export type IntegrationStatus = (typeof INTEGRATION_STATUSES)[number]

export const DEFAULT_LABEL = 'default'

export const IntegrationInputSchema = Closed(
  {
    provider: OneOf(PROVIDER_TYPES, {
      description: 'All of them are available in this version',
      examples: ['webhook'],
    }),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: DEFAULT_LABEL })),
    config: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'For webhook: {url, secret?}; for office_chat: {webhookUrl} or {appId, appPassword, tenantId?}; for team_chat: {webhookUrl} or {botToken, appToken?}; for issue_tracker: {url, email?, apiToken, project, issueType?, fields?, pollSeconds?}; for tag_manager: {serviceAccount} or {clientId, clientSecret, refreshToken}; for email_digest: {to, hourUtc, context?}. All that notify take `notify`: some of opened, reopened, repeated and resolved; all ' +
        'when left out. A resolution is told only where its opening was',
    }),
  },
  {
    $id: 'IntegrationInput',
    examples: [{ provider: 'webhook', label: 'Warehouse', config: { url: 'https://hooks.example.com/tags' } }],
  },
)
export type IntegrationInput = Static<typeof IntegrationInputSchema>

const shared = {
  id: Type.String(),
  provider: OneOf(PROVIDER_TYPES),
  label: Type.String(),
  status: OneOf(INTEGRATION_STATUSES),
  createdAt: InstantSchema,
}
const config = Nullable(
  Type.Record(Type.String(), Type.Unknown(), { description: 'Without its secrets; null for callers below admin' }),
)

const EXAMPLE = {
  id: 'int_01ke7jnz804g7v2q9j3k5d8s6w',
  provider: 'webhook',
  label: 'Warehouse',
  status: 'connected',
  createdAt: 1_767_614_400_000,
}
const EXAMPLE_WITH_CONFIG = { ...EXAMPLE, config: { url: 'https://hooks.example.com/tags' } }
const secrets = Nullable(
  Type.Array(Type.String(), { description: 'Names of the secrets that it has; null for callers below admin' }),
)

export const IntegrationSchema = Closed(shared, { $id: 'Integration', examples: [EXAMPLE] })
export type Integration = Static<typeof IntegrationSchema>

export const IntegrationDetailSchema = Closed(
  { ...shared, config, secrets },
  { $id: 'IntegrationDetail', examples: [{ ...EXAMPLE_WITH_CONFIG, secrets: ['secret'] }] },
)
export type IntegrationDetail = Static<typeof IntegrationDetailSchema>

const SHOWN_ONCE = {
  secret: Type.Optional(Type.String({ description: 'The secret that was made; it is never shown again' })),
  webhookUrl: Type.Optional(
    Type.String({ description: 'Where the other side is to call, for those that do; it is never shown again' }),
  ),
}

export const RotatedSchema = Closed(SHOWN_ONCE, {
  $id: 'RotatedSecret',
  examples: [{ secret: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=' }],
})

export const NewIntegrationSchema = Closed(
  {
    ...shared,
    config,
    ...SHOWN_ONCE,
  },
  {
    $id: 'NewIntegration',
    examples: [{ ...EXAMPLE_WITH_CONFIG, secret: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=' }],
  },
)

/** An integration as it is kept, without its secrets. */
export interface IntegrationRecord {
  id: string
  orgId: string
  provider: ProviderType
  label: string
  status: IntegrationStatus
  config: Record<string, unknown>
  createdAt: Instant
}

export function describeIntegration({ id, provider, label, status, createdAt }: IntegrationRecord): Integration {
  return { id, provider, label, status, createdAt }
}

/** Settings in the two parts in which they are stored. */
export interface SplitSettings {
  config: Record<string, unknown>
  secrets: Record<string, unknown>
}

/** Parts what may be shown from what must be sealed. */
export function splitSettings(settings: object, secretNames: readonly string[]): SplitSettings {
  const entries = Object.entries(settings)
  const isSecret = ([name]: [string, unknown]) => secretNames.includes(name)
  return {
    config: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(entries.filter(isSecret)),
  }
}
