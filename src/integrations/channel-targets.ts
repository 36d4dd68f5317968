import type { AlertChannel } from '../alerts/alert.ts'
import { AppError, atField } from '../core/error.ts'
import type { Db } from '../store/database.ts'
import type { AddressGuard } from '../transport/address-guard.ts'
import type { Channel, Delivery } from './providers/channel.ts'
import type { Connector } from './providers/connector.ts'
import { CHANNELS } from './providers/index.ts'
import { configOf, providerOf } from './store.ts'

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

/** Finds a channel or connector by type. Null if this version does not support the type. */
export function findByType<P extends { type: string }>(products: readonly P[], type: string): P | null {
  return products.find((product) => product.type === type) ?? null
}

/** Finds a connector. Fails with `invalid` if this version has none of this type. */
export function requireConnector(connectors: readonly Connector[], type: string): Connector {
  const connector = findByType(connectors, type)
  if (connector) return connector
  throw new AppError('invalid', `provider: ${type} is not available in this version`)
}

/** How messages reach a target of a channel. */
export function deliveryTo(db: Db, channel: Channel, target: string): Delivery {
  const { integrationId } = parseTarget(target)
  return channel.deliveryOf(integrationId !== null && channel.hasIntegrations ? configOf(db, integrationId) : {})
}

/** True if issues that open shortly after one another reach the target as one message. */
export function isGrouped(db: Db, channels: readonly Channel[], { type, target }: AlertTarget): boolean {
  const channel = findByType(channels, type)
  return channel !== null && deliveryTo(db, channel, target).openings === 'grouped'
}

/** A channel of an alert, whose type may be unknown to this version. */
interface AlertTarget {
  type: string
  target: string
}

interface ChannelCheck {
  guard: AddressGuard
  /** Provider of one of the organization's integrations. Null if the integration does not exist. */
  providerOf: (integrationId: string) => string | null
  channels?: readonly Channel[]
}

/**
 * Checks that messages can be delivered to every channel. Fails with `invalid` for the first channel where this is not
 * possible, naming the field.
 */
export function checkChannels(targets: readonly AlertChannel[], check: ChannelCheck): void {
  for (const [index, { type, target }] of targets.entries()) {
    const channel = findByType(check.channels ?? CHANNELS, type)
    if (!channel) throw new AppError('invalid', `channels[${index}].type: ${type} is not available in this version`)
    atField(`channels[${index}].target`, () => checkTarget(channel, target, check))
  }
}

/** Returns `checkChannels` for the channels of an organization. */
export function channelCheck({ db, guard }: { db: Db; guard: AddressGuard }) {
  return (targets: readonly AlertChannel[], orgId: string): void =>
    checkChannels(targets, { guard, providerOf: (id) => providerOf(db, { orgId, id }) })
}

function checkTarget(channel: Channel, target: string, { guard, providerOf }: ChannelCheck): void {
  const { type, hasIntegrations, addresses, checkDetail } = channel
  const { integrationId, detail } = parseTarget(target)
  if (integrationId === null || !hasIntegrations) return addresses.check(target, guard)
  if (providerOf(integrationId) !== type) throw new AppError('invalid', `${type} integration ${target} does not exist`)
  if (detail !== null) checkDetail(detail)
}
