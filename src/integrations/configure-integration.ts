import { randomBytes } from 'node:crypto'
import { isMaskedUrl, maskUrl, unsealTarget } from '../alerts/encrypt-channel-target.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, atField } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Db } from '../store/database.ts'
import type { AddressGuard } from '../transport/address-guard.ts'
import { requireConnector } from './channel-targets.ts'
import { extractNotify } from './delivery/notify-setting.ts'
import {
  DEFAULT_LABEL,
  type IntegrationInput,
  type IntegrationRecord,
  type IntegrationStatus,
  splitSettings,
} from './integration.ts'
import { type Connector, tokenReceiverOf } from './providers/connector.ts'
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
  connectors: readonly Connector[]
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
  const { db, box, clock, guard, connectors } = deps
  const connector = requireConnector(connectors, input.provider)
  const { configuration, secrets: hidden, type } = connector
  if (configuration.perOrganization === 'one' && integrationsOf(db, type).some((one) => one.orgId === orgId)) {
    throw new AppError('conflict', `provider: the organization already has a ${type} integration`)
  }
  if (countIntegrations(db, orgId) >= MAX_INTEGRATIONS) {
    throw new AppError(
      'conflict',
      `provider: an organization can have at most ${MAX_INTEGRATIONS} integrations; delete one first`,
    )
  }
  const { own, shared } = extractNotify(withStoredSecrets(box, input.config, null), connector)
  const settings = configuration.prepare(own, guard, own)
  requireUnclaimed(db, connector, orgId, settings)
  const { fields } = hidden
  const record = insertIntegration(db, box, {
    orgId,
    provider: input.provider,
    label: input.label ?? DEFAULT_LABEL,
    createdAt: clock.now(),
    ...splitSettings({ ...settings, ...shared }, fields),
    ...statusAndOrigin(deps, connector, settings, { tokens: {}, state: null }),
  })
  const secrets: Record<string, unknown> = splitSettings(settings, fields).secrets
  const made = fields.find((name) => input.config[name] === undefined && typeof secrets[name] === 'string')
  const shown: ShownOnce = made === undefined ? {} : { secret: String(secrets[made]) }
  return { record, shown: { ...shown, ...newInboundToken(deps, connector, record.id) } }
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
  const { db, box, guard, connectors } = deps
  const present = findIntegration(db, key)
  if (input.provider !== present.provider) {
    throw new AppError('invalid', `provider: cannot be changed from ${present.provider}; create another integration`)
  }
  const connector = requireConnector(connectors, present.provider)
  const stored = hasSecrets(db, key) ? openIntegration(db, box, key) : null
  const { fields } = connector.secrets
  const secrets: Record<string, unknown> = stored ? splitSettings(stored.settings, fields).secrets : {}
  const { own, shared } = extractNotify(withStoredSecrets(box, input.config, present), connector)
  const settings = connector.configuration.prepare({ ...secrets, ...own }, guard, own)
  requireUnclaimed(db, connector, key.orgId, settings)
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
    ...statusAndOrigin(deps, connector, settings, { tokens, state: stored?.state ?? null }),
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
function requireUnclaimed(db: Db, { type, configuration }: Connector, orgId: string, settings: object): void {
  for (const field of configuration.exclusive as readonly string[]) {
    const value = (settings as Record<string, unknown>)[field]
    if (value === undefined) continue
    const isTaken = integrationsOf(db, type).some((one) => one.orgId !== orgId && one.config[field] === value)
    if (isTaken) throw new AppError('conflict', `config.${field}: is already registered by another organization`)
  }
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
  { configuration, connection }: Connector,
  settings: object,
  { tokens, state }: Pick<UnsealedIntegration, 'tokens' | 'state'>,
): { status: IntegrationStatus; origin: string | null } {
  const isSignedIn = connection.by !== 'oauth' || Object.keys(tokens).length > 0
  const isComplete = configuration.isComplete(settings, state)
  return {
    status: !isSignedIn ? 'reauth_required' : isComplete ? 'connected' : 'incomplete',
    origin: configuration.origin(settings, operator),
  }
}

/** Creates a token for inbound calls. Empty for providers that do not need a token. */
function newInboundToken({ db, publicUrl }: ConfigureDeps, connector: Connector, id: string): ShownOnce {
  const receiver = tokenReceiverOf(connector)
  if (!receiver) return {}
  const token = randomBytes(32).toString('base64url')
  saveInboundToken(db, id, token)
  return { webhookUrl: `${publicUrl}/v1/integrations/${connector.type}/${receiver.path}?t=${token}` }
}

/** True if the provider has a secret or token that `rotateSecret` can replace. */
export const canRotate = (connector: Connector) =>
  connector.connection.by === 'generated' || tokenReceiverOf(connector) !== null

/** Replaces the signing secret or the token for inbound calls. The old value stops working. */
export function rotateSecret(deps: ConfigureDeps, key: IntegrationKey): ShownOnce {
  const { db, box, clock, connectors } = deps
  const { provider: type } = findIntegration(db, key)
  const connector = requireConnector(connectors, type)
  const stored = openIntegration(db, box, key)
  if (!stored || !canRotate(connector)) throw new AppError('conflict', `${type} integrations have no secret to rotate`)
  const { connection, secrets } = connector
  if (connection.by !== 'generated') return newInboundToken(deps, connector, key.id)
  const { settings, tokens, secret } = connection.rotate(stored.settings, stored.tokens, clock.now())
  const { label, status } = stored
  const { origin } = statusAndOrigin(deps, connector, settings, stored)
  updateIntegration(db, box, key, {
    label,
    status,
    origin,
    tokens,
    ...splitSettings(settings, secrets.fields),
  })
  return { secret }
}
