import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import type { Channel } from './channels/channel.ts'
import { channelOf } from './channels/index.ts'

/** What can be connected; `providerChannel` knows what this version can. */
export const PROVIDERS = [
  'tag_manager',
  'team_chat',
  'office_chat',
  'issue_tracker',
  'webhook',
  'email_digest',
] as const
export type Provider = (typeof PROVIDERS)[number]

/** `failing`: the last delivery or test through it was lost. */
export const INTEGRATION_STATUSES = ['connected', 'failing'] as const
export type IntegrationStatus = (typeof INTEGRATION_STATUSES)[number]

export const DEFAULT_LABEL = 'default'

export const IntegrationInputSchema = Closed(
  {
    provider: OneOf(PROVIDERS),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: DEFAULT_LABEL })),
    config: Type.Record(Type.String(), Type.Unknown(), { description: 'For webhook: {url, secret?}' }),
  },
  {
    $id: 'IntegrationInput',
    examples: [{ provider: 'webhook', label: 'Warehouse', config: { url: 'https://hooks.example.com/tags' } }],
  },
)
export type IntegrationInput = Static<typeof IntegrationInputSchema>

const shared = {
  id: Type.String(),
  provider: OneOf(PROVIDERS),
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
const EXAMPLE_IN_DETAIL = { ...EXAMPLE, config: { url: 'https://hooks.example.com/tags' } }

export const IntegrationSchema = Closed(shared, { $id: 'Integration', examples: [EXAMPLE] })
export type Integration = Static<typeof IntegrationSchema>

export const IntegrationDetailSchema = Closed(
  { ...shared, config },
  { $id: 'IntegrationDetail', examples: [EXAMPLE_IN_DETAIL] },
)
export type IntegrationDetail = Static<typeof IntegrationDetailSchema>

export const NewIntegrationSchema = Closed(
  {
    ...shared,
    config,
    secret: Type.Optional(Type.String({ description: 'The secret that was made; it is never shown again' })),
  },
  {
    $id: 'NewIntegration',
    examples: [{ ...EXAMPLE_IN_DETAIL, secret: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=' }],
  },
)
export type NewIntegration = Static<typeof NewIntegrationSchema>

/** An integration as it is kept, without its secrets. */
export interface IntegrationRecord {
  id: string
  orgId: string
  provider: Provider
  label: string
  status: IntegrationStatus
  config: Record<string, unknown>
  createdAt: Instant
}

export function describeIntegration({ id, provider, label, status, createdAt }: IntegrationRecord): Integration {
  return { id, provider, label, status, createdAt }
}

/** The channel that integrations of a provider configure. Fails with `invalid` when this version has none. */
export function providerChannel(provider: Provider): Channel<object> {
  const channel = channelOf(provider)
  if (!channel?.config) throw new AppError('invalid', `provider: ${provider} is not available in this version`)
  return channel
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
