import type { Channel } from '../alerts/alert.ts'
import { AppError, atField } from '../core/error.ts'
import type { Db } from '../store/database.ts'
import type { AddressGuard } from '../transport/address-guard.ts'
import { PROVIDERS } from './providers/index.ts'
import type { Provider } from './providers/provider.ts'
import { providerOf } from './store.ts'

/** Parsed target of a channel. */
export interface Target {
  /** Null if the target is a direct address. */
  integrationId: string | null
  /** Part after the colon in `int_…:detail`. Null if there is none. */
  detail: string | null
}

export function parseTarget(target: string): Target {
  if (!target.startsWith('int_')) return { integrationId: null, detail: null }
  const colon = target.indexOf(':')
  if (colon === -1) return { integrationId: target, detail: null }
  return { integrationId: target.slice(0, colon), detail: target.slice(colon + 1) }
}

/** Finds a provider by type. Null if this version does not support the type. */
export function findProvider(providers: readonly Provider[], type: string): Provider | null {
  return providers.find((provider) => provider.type === type) ?? null
}

/** A provider for which integrations can be created. */
type ConfiguredProvider = Provider & Required<Pick<Provider, 'configured'>>

/**
 * Finds a provider for which integrations can be created. Fails with `invalid` if this version has none of this type.
 */
export function configuredProvider(providers: readonly Provider[], type: string): ConfiguredProvider {
  const provider = findProvider(providers, type)
  if (provider?.configured) return provider as ConfiguredProvider
  throw new AppError('invalid', `provider: ${type} is not available in this version`)
}

interface ChannelCheck {
  guard: AddressGuard
  /** Provider of one of the organization's integrations. Null if the integration does not exist. */
  providerOf: (integrationId: string) => string | null
  providers?: readonly Provider[]
}

/**
 * Checks that messages can be delivered to every channel. Fails with `invalid` for the first channel where this is not
 * possible, naming the field.
 */
export function checkChannels(channels: readonly Channel[], check: ChannelCheck): void {
  for (const [index, { type, target }] of channels.entries()) {
    const provider = findProvider(check.providers ?? PROVIDERS, type)
    if (!provider?.deliver)
      throw new AppError('invalid', `channels[${index}].type: ${type} is not available in this version`)
    atField(`channels[${index}].target`, () => checkTarget(provider, target, check))
  }
}

/** Returns `checkChannels` for the channels of an organization. */
export function channelCheck({ db, guard }: { db: Db; guard: AddressGuard }) {
  return (channels: readonly Channel[], orgId: string): void =>
    checkChannels(channels, { guard, providerOf: (id) => providerOf(db, { orgId, id }) })
}

function checkTarget(provider: Provider, target: string, { guard, providerOf }: ChannelCheck): void {
  const { type, configured, addresses, checkDetail } = provider
  const { integrationId, detail } = parseTarget(target)
  if (integrationId === null || !configured) {
    if (!addresses) throw new AppError('invalid', `must be the id (int_…) of an integration of type ${type}`)
    return addresses.check(target, guard)
  }
  const isTheirs = providerOf(integrationId) === type && (detail === null || checkDetail !== undefined)
  if (!isTheirs) throw new AppError('invalid', `${type} integration ${target} does not exist`)
  if (detail !== null) checkDetail?.(detail)
}
