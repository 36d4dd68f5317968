import type { Channel } from '../alerts/alert.ts'
import { AppError, atField } from '../core/error.ts'
import { PROVIDERS } from './providers/index.ts'
import type { Provider } from './providers/provider.ts'
import type { AddressGuard } from './transport/address-guard.ts'

/** What a channel's target names. */
export interface Target {
  /** Null: it is an address. */
  integrationId: string | null
  /** What stands behind the colon of `int_…:detail`; null when nothing does. */
  detail: string | null
}

export function parseTarget(target: string): Target {
  if (!target.startsWith('int_')) return { integrationId: null, detail: null }
  const colon = target.indexOf(':')
  if (colon === -1) return { integrationId: target, detail: null }
  return { integrationId: target.slice(0, colon), detail: target.slice(colon + 1) }
}

/** Null for a type that this version does not speak with. */
export function findProvider(providers: readonly Provider[], type: string): Provider | null {
  return providers.find((provider) => provider.type === type) ?? null
}

/** A provider that integrations can be made of. */
export type ConfiguredProvider = Provider & Required<Pick<Provider, 'configured'>>

/** Fails with `invalid` when this version has no integrations of it. */
export function configuredProvider(providers: readonly Provider[], type: string): ConfiguredProvider {
  const provider = findProvider(providers, type)
  if (provider?.configured) return provider as ConfiguredProvider
  throw new AppError('invalid', `provider: ${type} is not available in this version`)
}

export interface ChannelCheck {
  guard: AddressGuard
  /** The provider of an integration of the organization; null when it has none of that id. */
  providerOf: (integrationId: string) => string | null
  providers?: readonly Provider[]
}

/** Refuses with `invalid`, naming the place, the first channel of an alert that nothing could be delivered to. */
export function checkChannels(channels: readonly Channel[], check: ChannelCheck): void {
  for (const [index, { type, target }] of channels.entries()) {
    const provider = findProvider(check.providers ?? PROVIDERS, type)
    if (!provider?.deliver)
      throw new AppError('invalid', `channels[${index}].type: ${type} is not available in this version`)
    atField(`channels[${index}].target`, () => checkTarget(provider, target, check))
  }
}

function checkTarget(provider: Provider, target: string, { guard, providerOf }: ChannelCheck): void {
  const { type, configured, addresses, checkDetail } = provider
  const { integrationId, detail } = parseTarget(target)
  if (integrationId === null || !configured) {
    if (!addresses) throw new AppError('invalid', `must be the id of an integration, int_…, of ${type}`)
    return addresses.check(target, guard)
  }
  const isTheirs = providerOf(integrationId) === type && (detail === null || checkDetail !== undefined)
  if (!isTheirs) throw new AppError('invalid', `there is no ${type} integration ${target}`)
  if (detail !== null) checkDetail?.(detail)
}
