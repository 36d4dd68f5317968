import { randomBytes } from 'node:crypto'
import { isMaskedUrl, maskUrl, unsealTarget } from '../alerts/encrypt-channel-target.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, atField } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Db } from '../store/database.ts'
import type { AddressGuard } from '../transport/address-guard.ts'
import { configuredProvider } from './channel-targets.ts'
import { extractNotify } from './delivery/notify-setting.ts'
import {
  DEFAULT_LABEL,
  type IntegrationInput,
  type IntegrationRecord,
  type IntegrationStatus,
  splitSettings,
} from './integration.ts'
import { PROVIDERS } from './providers/index.ts'
import { type Provider, secretFieldsOf } from './providers/provider.ts'
import {
  countIntegrations,
  findIntegration,
  hasSecrets,
  type IntegrationKey,
  insertIntegration,
  integrationsOf,
  openIntegration,
  saveInboundToken,
  type UnsealedIntegration,
  updateIntegration,
} from './store.ts'

export interface ConfigureDeps {
  db: Db
  box: SecretBox
  clock: Clock
  guard: AddressGuard
  publicUrl: string
  providers?: readonly Provider[]
  operator?: Readonly<Record<string, string>>
}

/** Values that are shown only once, when they are created: a secret, and the URL for inbound calls. */
interface ShownOnce {
  secret?: string
  webhookUrl?: string
}

/**
 * Maximum number of integrations per organization. Background jobs process every integration, so the number is bounded.
 */
const MAX_INTEGRATIONS = 500

/**
 * Creates an integration. Fails with `invalid`, naming the field, and with `conflict` if the organization cannot have
 * another integration of this provider.
 */
export function createIntegration(deps: ConfigureDeps, orgId: string, input: IntegrationInput) {
  const { db, box, clock, guard, providers = PROVIDERS } = deps
  const provider = configuredProvider(providers, input.provider)
  const { configured, type } = provider
  if (configured.single && integrationsOf(db, type).some((one) => one.orgId === orgId)) {
    throw new AppError('conflict', `provider: the organization already has a ${type} integration`)
  }
  if (countIntegrations(db, orgId) >= MAX_INTEGRATIONS) {
    throw new AppError(
      'conflict',
      `provider: an organization can have at most ${MAX_INTEGRATIONS} integrations; delete one first`,
    )
  }
  const { own, shared } = extractNotify(withStoredSecrets(box, input.config, null), provider)
  const settings = configured.prepare(own, guard, own)
  requireUnclaimed(db, provider, orgId, settings)
  const fields = secretFieldsOf(provider)
  const record = insertIntegration(db, box, {
    orgId,
    provider: input.provider,
    label: input.label ?? DEFAULT_LABEL,
    createdAt: clock.now(),
    ...splitSettings({ ...settings, ...shared }, fields),
    ...statusAndOrigin(deps, provider, settings, { tokens: {}, state: null }),
  })
  const secrets: Record<string, unknown> = splitSettings(settings, fields).secrets
  const made = fields.find((name) => input.config[name] === undefined && typeof secrets[name] === 'string')
  const shown: ShownOnce = made === undefined ? {} : { secret: String(secrets[made]) }
  return { record, shown: { ...shown, ...newInboundToken(deps, provider, record.id) } }
}

/**
 * Replaces the settings of an integration. Fails with `invalid`, naming the field. This includes settings for another
 * provider and a secret that must be entered again.
 */
export function replaceIntegration(
  deps: ConfigureDeps,
  key: IntegrationKey,
  input: IntegrationInput,
): IntegrationRecord {
  const { db, box, guard, providers = PROVIDERS } = deps
  const present = findIntegration(db, key)
  if (input.provider !== present.provider) {
    throw new AppError('invalid', `provider: cannot be changed from ${present.provider}; create another integration`)
  }
  const provider = configuredProvider(providers, present.provider)
  const stored = hasSecrets(db, key) ? openIntegration(db, box, key) : null
  const fields = secretFieldsOf(provider)
  const secrets: Record<string, unknown> = stored ? splitSettings(stored.settings, fields).secrets : {}
  const { own, shared } = extractNotify(withStoredSecrets(box, input.config, present), provider)
  const settings = provider.configured.prepare({ ...secrets, ...own }, guard, own)
  requireUnclaimed(db, provider, key.orgId, settings)
  const moved = stored !== null && hasNewOrigin(stored.settings, settings)
  const needed = splitSettings(settings, fields).secrets
  if (!stored) requireLostSecrets(needed, input)
  if (moved) requireSecretsForNewOrigin(needed, input)
  const isSame = (name: string) => input.config[name] === undefined || input.config[name] === secrets[name]
  const tokens = stored && !moved && fields.every(isSame) ? stored.tokens : {}
  return updateIntegration(db, box, key, {
    label: input.label ?? DEFAULT_LABEL,
    tokens,
    ...splitSettings({ ...settings, ...shared }, fields),
    ...statusAndOrigin(deps, provider, settings, { tokens, state: stored?.state ?? null }),
  })
}

/**
 * Replaces a masked URL in a request with the stored URL. Fails with `invalid` if the masked URL does not match the
 * stored one.
 */
function withStoredSecrets(
  box: SecretBox,
  config: IntegrationInput['config'],
  present: IntegrationRecord | null,
): IntegrationInput['config'] {
  const { url } = config
  if (typeof url !== 'string' || !isMaskedUrl(url)) return config
  const stored = String(present?.config.url ?? '')
  if (maskUrl(stored) !== url) throw new AppError('invalid', 'config.url: the URL is masked; enter the full URL')
  return { ...config, url: atField('config.url', () => unsealTarget(box, stored)) }
}

/** Fails if another organization already uses the value, because inbound calls would be ambiguous. */
function requireUnclaimed(db: Db, { type, configured }: Provider, orgId: string, settings: object): void {
  const field = configured?.exclusive
  const value = field === undefined ? undefined : (settings as Record<string, unknown>)[field]
  if (value === undefined) return
  const isTaken = integrationsOf(db, type).some(
    (one) => one.orgId !== orgId && (one.config as Record<string, unknown>)[String(field)] === value,
  )
  if (isTaken) throw new AppError('conflict', `config.${field}: is already registered by another organization`)
}

/**
 * Rejects a configuration that omits the secrets if the stored secrets were lost. A generated replacement would never
 * be shown to the user.
 */
function requireLostSecrets(needed: Record<string, unknown>, { config }: IntegrationInput): void {
  const missing = Object.keys(needed).find((name) => config[name] === undefined)
  if (missing === undefined) return
  throw new AppError('invalid', `config.${missing}: the stored value was lost; enter it again`)
}

/**
 * Rejects a URL with a different origin unless the secrets are entered again. Otherwise, someone who does not know a
 * secret could have it sent to their own server.
 */
function requireSecretsForNewOrigin(secrets: Record<string, unknown>, { config }: IntegrationInput): void {
  const missing = Object.keys(secrets).find((name) => config[name] === undefined)
  if (missing === undefined) return
  throw new AppError('invalid', `config.${missing}: must be entered again because the URL now points to another server`)
}

/** True if a URL in the new settings has a different origin than the URL in the old settings. */
function hasNewOrigin(before: object, after: object): boolean {
  const origins = (settings: object) =>
    new Map(Object.entries(settings).map(([name, value]) => [name, originOf(value)]))
  const old = origins(before)
  return [...origins(after)].some(([name, origin]) => origin !== (old.get(name) ?? null))
}

const originOf = (value: unknown): string | null => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url && /^https?:$/.test(url.protocol) ? url.origin : null
}

/** Derives the status and origin of an integration from its settings. */
function statusAndOrigin(
  { operator = {} }: ConfigureDeps,
  { configured, connect, origin }: Provider,
  settings: object,
  { tokens, state }: Pick<UnsealedIntegration, 'tokens' | 'state'>,
): { status: IntegrationStatus; origin: string | null } {
  const isSignedIn = connect.by !== 'oauth' || Object.keys(tokens).length > 0
  const isComplete = configured?.isComplete?.(settings, state) ?? true
  return {
    status: !isSignedIn ? 'reauth_required' : isComplete ? 'connected' : 'incomplete',
    origin: origin?.(settings, operator) ?? null,
  }
}

/** Creates a token for inbound calls. Empty for providers that do not need a token. */
function newInboundToken({ db, publicUrl }: ConfigureDeps, { type, receiver }: Provider, id: string): ShownOnce {
  if (!receiver || receiver.addressees) return {}
  const token = randomBytes(32).toString('base64url')
  saveInboundToken(db, id, token)
  return { webhookUrl: `${publicUrl}/v1/integrations/${type}/${receiver.path}?t=${token}` }
}

/** True if the provider has a secret or token that `rotateSecret` can replace. */
export const canRotate = ({ rotate, receiver }: Provider) =>
  rotate !== undefined || (receiver !== undefined && !receiver.addressees)

/** Replaces the signing secret or the token for inbound calls. The old value stops working. */
export function rotateSecret(deps: ConfigureDeps, key: IntegrationKey): ShownOnce {
  const { db, box, clock, providers = PROVIDERS } = deps
  const { provider: type } = findIntegration(db, key)
  const provider = configuredProvider(providers, type)
  const stored = openIntegration(db, box, key)
  if (!stored || !canRotate(provider)) throw new AppError('conflict', `${type} integrations have no secret to rotate`)
  if (!provider.rotate) return newInboundToken(deps, provider, key.id)
  const { settings, tokens, secret } = provider.rotate(stored.settings, stored.tokens, clock.now())
  const { label, status } = stored
  const { origin } = statusAndOrigin(deps, provider, settings, stored)
  updateIntegration(db, box, key, {
    label,
    status,
    origin,
    tokens,
    ...splitSettings(settings, secretFieldsOf(provider)),
  })
  return { secret }
}
