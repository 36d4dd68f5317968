import type { Channel as ChannelTarget } from '../../alerts/alert.ts'
import { AppError } from '../../core/error.ts'
import type { AddressGuard } from '../address-guard.ts'
import type { Channel } from './channel.ts'
import { email } from './email.ts'
import { webhook } from './webhook.ts'

/** Every kind of destination there is. A new one is a file beside these and a line here. */
export const CHANNELS: readonly Channel<object>[] = [email, webhook]

/** Null for a kind that this version can't send to. */
export function channelOf(kind: string): Channel<object> | null {
  return CHANNELS.find((channel) => channel.kind === kind) ?? null
}

/** True when a target names an integration instead of an address. */
export function isIntegrationId(target: string): boolean {
  return target.startsWith('int_')
}

export interface ChannelCheck {
  guard: AddressGuard
  /** The provider of an integration of the organization; null when it has none of that id. */
  providerOf: (integrationId: string) => string | null
}

/** Refuses with `invalid`, naming the place, the first channel of an alert that nothing could be delivered to. */
export function checkChannels(channels: readonly ChannelTarget[], { guard, providerOf }: ChannelCheck): void {
  for (const [index, { type, target }] of channels.entries()) {
    const channel = channelOf(type)
    if (!channel) throw new AppError('invalid', `channels[${index}].type: ${type} is not available in this version`)
    const field = `channels[${index}].target`
    if (isIntegrationId(target) && channel.config) {
      if (providerOf(target) !== type)
        throw new AppError('invalid', `${field}: there is no ${type} integration ${target}`)
      continue
    }
    try {
      channel.checkTarget(target, guard)
    } catch (error) {
      if (error instanceof AppError) throw new AppError(error.code, `${field}: ${error.message}`)
      throw error
    }
  }
}
