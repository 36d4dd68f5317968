import { randomBytes } from 'node:crypto'
import { isMaskedUrl, maskUrl, unsealTarget } from '../alerts/channel-target.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, atField } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Db } from '../store/database.ts'
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
import { configuredProvider } from './targets.ts'
import type { AddressGuard } from './transport/address-guard.ts'

export interface ConfigureDeps {
  db: Db
  box: SecretBox
  clock: Clock
  guard: AddressGuard
  publicUrl: string
  providers?: readonly Provider[]
  operator?: Readonly<Record<string, string>>
}

/** What is shown once, where it was made: a secret, and the address at which the other side calls. */
export interface ShownOnce {
  secret?: string
  webhookUrl?: string
}

/** Of one organization: each is looked at again and again, on everybody's time. */
const MAX_INTEGRATIONS = 500

/** Fails with `invalid`, naming the field, and with `conflict` when the organization may have no more. */
export function createIntegration(deps: ConfigureDeps, orgId: string, input: IntegrationInput) {
  const { db, box, clock, guard, providers = PROVIDERS } = deps
  const provider = configuredProvider(providers, input.provider)
  const { configured, type } = provider
  if (configured.single && integrationsOf(db, type).some((one) => one.orgId === orgId)) {
    throw new AppError('conflict', `provider: the organization has its ${type} integration already`)
  }
  if (countIntegrations(db, orgId) >= MAX_INTEGRATIONS) {
    throw new AppError(
      'conflict',
      `provider: an organization has at most ${MAX_INTEGRATIONS} integrations; delete one first`,
    )
  }
  const { own, shared } = extractNotify(unmasked(box, input.config, null), provider)
  const settings = configured.prepare(own, guard, own)
  refuseTaken(db, provider, orgId, settings)
  const fields = secretFieldsOf(provider)
  const record = insertIntegration(db, box, {
    ...{ orgId, provider: input.provider, label: input.label ?? DEFAULT_LABEL, createdAt: clock.now() },
    ...splitSettings({ ...settings, ...shared }, fields),
    ...standing(deps, provider, settings, { tokens: {}, state: null }),
  })
  const secrets: Record<string, unknown> = splitSettings(settings, fields).secrets
  const made = fields.find((name) => input.config[name] === undefined && typeof secrets[name] === 'string')
  const shown: ShownOnce = made === undefined ? {} : { secret: String(secrets[made]) }
  return { record, shown: { ...shown, ...newInboundToken(deps, provider, record.id) } }
}

/** Fails with `invalid`, naming the field; another provider is refused, and a secret that has to be given anew. */
export function replaceIntegration(
  deps: ConfigureDeps,
  key: IntegrationKey,
  input: IntegrationInput,
): IntegrationRecord {
  const { db, box, guard, providers = PROVIDERS } = deps
  const present = findIntegration(db, key)
  if (input.provider !== present.provider) {
    throw new AppError('invalid', `provider: is ${present.provider} and stays so; create another integration`)
  }
  const provider = configuredProvider(providers, present.provider)
  const kept = hasSecrets(db, key) ? openIntegration(db, box, key) : null
  const fields = secretFieldsOf(provider)
  const secrets: Record<string, unknown> = kept ? splitSettings(kept.settings, fields).secrets : {}
  const { own, shared } = extractNotify(unmasked(box, input.config, present), provider)
  const settings = provider.configured.prepare({ ...secrets, ...own }, guard, own)
  refuseTaken(db, provider, key.orgId, settings)
  const moved = kept !== null && isMoved(kept.settings, settings)
  const needed = splitSettings(settings, fields).secrets
  if (!kept) refuseLost(needed, input)
  if (moved) refuseUnasked(needed, input)
  const isSame = (name: string) => input.config[name] === undefined || input.config[name] === secrets[name]
  const tokens = kept && !moved && fields.every(isSame) ? kept.tokens : {}
  return updateIntegration(db, box, key, {
    label: input.label ?? DEFAULT_LABEL,
    tokens,
    ...splitSettings({ ...settings, ...shared }, fields),
    ...standing(deps, provider, settings, { tokens, state: kept?.state ?? null }),
  })
}

/** Returns the config of a request in which a masked URL stands for the stored one. Fails with `invalid` for another masked URL. */
function unmasked(
  box: SecretBox,
  config: IntegrationInput['config'],
  present: IntegrationRecord | null,
): IntegrationInput['config'] {
  const { url } = config
  if (typeof url !== 'string' || !isMaskedUrl(url)) return config
  const stored = String(present?.config.url ?? '')
  if (maskUrl(stored) !== url) throw new AppError('invalid', 'config.url: is masked; enter the whole URL')
  return { ...config, url: atField('config.url', () => unsealTarget(box, stored)) }
}

/** What calls about it would be about is unclear when two organizations have it; the first one keeps it. */
function refuseTaken(db: Db, { type, configured }: Provider, orgId: string, settings: object): void {
  const field = configured?.exclusive
  const value = field === undefined ? undefined : (settings as Record<string, unknown>)[field]
  if (value === undefined) return
  const isTaken = integrationsOf(db, type).some(
    (one) => one.orgId !== orgId && (one.config as Record<string, unknown>)[String(field)] === value,
  )
  if (isTaken) throw new AppError('conflict', `config.${field}: another organization has registered it`)
}

/** What the input leaves out was lost, and a new one that is made nobody would see. */
function refuseLost(needed: Record<string, unknown>, { config }: IntegrationInput): void {
  const missing = Object.keys(needed).find((name) => config[name] === undefined)
  if (missing === undefined) return
  throw new AppError('invalid', `config.${missing}: the present one was lost, so it must be given anew`)
}

/** Who may configure and does not know a secret could else have it sent to themselves. */
function refuseUnasked(secrets: Record<string, unknown>, { config }: IntegrationInput): void {
  const asked = Object.keys(secrets).find((name) => config[name] === undefined)
  if (asked === undefined) return
  throw new AppError('invalid', `config.${asked}: must be given again, because it would go to another address`)
}

/** True when a URL of the settings leads to another place. */
function isMoved(before: object, after: object): boolean {
  const origins = (settings: object) =>
    new Map(Object.entries(settings).map(([name, value]) => [name, originOf(value)]))
  const old = origins(before)
  return [...origins(after)].some(([name, origin]) => origin !== (old.get(name) ?? null))
}

const originOf = (value: unknown): string | null => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url && /^https?:$/.test(url.protocol) ? url.origin : null
}

/** What follows from settings: where calls go, and if anything may go yet. */
function standing(
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

/** Nothing for providers that need no token to be called. */
function newInboundToken({ db, publicUrl }: ConfigureDeps, { type, receiver }: Provider, id: string): ShownOnce {
  if (!receiver || receiver.addressees) return {}
  const token = randomBytes(32).toString('base64url')
  saveInboundToken(db, id, token)
  return { webhookUrl: `${publicUrl}/v1/integrations/${type}/${receiver.path}?t=${token}` }
}

/** True when something of it can be replaced by `rotate`. */
export const canRotate = ({ rotate, receiver }: Provider) =>
  rotate !== undefined || (receiver !== undefined && !receiver.addressees)

/** Replaces a signing secret, or the token with which the other side calls, which opens nothing any more. */
export function rotateSecret(deps: ConfigureDeps, key: IntegrationKey): ShownOnce {
  const { db, box, clock, providers = PROVIDERS } = deps
  const { provider: type } = findIntegration(db, key)
  const provider = configuredProvider(providers, type)
  const kept = openIntegration(db, box, key)
  if (!kept || !canRotate(provider))
    throw new AppError('conflict', `integrations of ${type} have nothing to replace so`)
  if (!provider.rotate) return newInboundToken(deps, provider, key.id)
  const { settings, tokens, secret } = provider.rotate(kept.settings, kept.tokens, clock.now())
  const { label, status } = kept
  const { origin } = standing(deps, provider, settings, kept)
  updateIntegration(db, box, key, {
    label,
    status,
    origin,
    tokens,
    ...splitSettings(settings, secretFieldsOf(provider)),
  })
  return { secret }
}
