import { PROVIDER_CONFIGS, PROVIDER_TYPES, type ProviderType } from '../contract/products.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'

/**
 * `failing`: the last attempt failed. All statuses other than `connected` and `failing` prevent sending. `incomplete`:
 * a setting is missing. `reauth_required`: a user must sign in again. `disabled`: the other service rejects the
 * integration permanently.
 */
const INTEGRATION_STATUSES = ['connected', 'failing', 'incomplete', 'reauth_required', 'disabled'] as const
export type IntegrationStatus = (typeof INTEGRATION_STATUSES)[number]

export const DEFAULT_LABEL = 'default'

export const IntegrationInputSchema = Closed(
  {
    provider: OneOf(PROVIDER_TYPES, {
      description: 'Service to integrate with; this version supports all of them',
      examples: ['webhook'],
    }),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: DEFAULT_LABEL })),
    config: Type.Record(Type.String(), Type.Unknown(), {
      description:
        `Settings of each provider: ${PROVIDER_TYPES.map((type) => `${type}: ${PROVIDER_CONFIGS[type]}`).join('; ')}. Providers that send notifications also accept \`notify\`, a list of opened, reopened, repeated and resolved (default: all). ` +
        'A resolution is sent only if the opening was sent',
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
  managedBy: managedByField(),
}
const config = Nullable(
  Type.Record(Type.String(), Type.Unknown(), {
    description: 'Settings without secrets; null for callers below the admin role',
  }),
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
  Type.Array(Type.String(), { description: 'Names of stored secrets; null for callers below the admin role' }),
)

export const IntegrationSchema = Closed(shared, { $id: 'Integration', examples: [EXAMPLE] })
export type Integration = Static<typeof IntegrationSchema>

export const IntegrationDetailSchema = Closed(
  { ...shared, config, secrets },
  { $id: 'IntegrationDetail', examples: [{ ...EXAMPLE_WITH_CONFIG, secrets: ['secret'] }] },
)
export type IntegrationDetail = Static<typeof IntegrationDetailSchema>

const SHOWN_ONCE = {
  secret: Type.Optional(Type.String({ description: 'Generated secret; shown only once' })),
  webhookUrl: Type.Optional(
    Type.String({ description: 'URL for inbound calls, if the other service makes any; shown only once' }),
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

/** A stored integration, without its secrets. */
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

/** Settings, split into the two parts that are stored separately. */
export interface SplitSettings {
  config: Record<string, unknown>
  secrets: Record<string, unknown>
}

/** Separates settings that may be shown from secrets, which are stored encrypted. */
export function splitSettings(settings: object, secretNames: readonly string[]): SplitSettings {
  const entries = Object.entries(settings)
  const isSecret = ([name]: [string, unknown]) => secretNames.includes(name)
  return {
    config: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(entries.filter(isSecret)),
  }
}
