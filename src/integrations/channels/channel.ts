import type { CHANNEL_TYPES } from '../../alerts/alert.ts'
import type { Instant } from '../../core/clock.ts'
import type { TSchema } from '../../core/schema.ts'
import type { AddressGuard } from '../address-guard.ts'
import type { Message } from '../message.ts'
import type { Outbound, Reply } from '../transport.ts'

export type ChannelKind = (typeof CHANNEL_TYPES)[number]

/** `retry`: a repeat may succeed. `broken`: it would meet the same refusal. */
export type Verdict = 'delivered' | 'retry' | 'broken'

/** One attempt at a delivery: the id is the same for all of them, the time is this one's. */
export interface Attempt {
  deliveryId: string
  at: Instant
}

/** What a target that is no integration takes from its organization; asked for when it is needed. */
export interface OrgFacts {
  webhookSecret(): string
  /** Addresses of the present owners. */
  ownerAddresses(): string[]
}

/**
 * A kind of destination, as a value. `C` is all that `render` needs to know of one destination. Refusals are
 * `AppError('invalid')` whose message begins where the name of the field ends.
 */
export interface Channel<C extends object> {
  kind: ChannelKind
  title: string
  /** What a user configures for an integration of this kind; null when there are none. */
  config: TSchema | null
  /** Fields of `C` that are kept sealed and never shown. */
  secrets: readonly string[]
  /** Refuses a target, not an integration's id, that nothing can be sent to. */
  checkTarget(target: string, guard: AddressGuard): void
  /** What a target that is no integration stands for. */
  configOf(target: string, org: OrgFacts): C
  /** Completes what was configured (it fits `config`). Fails naming the field: `config.url: …`. */
  prepare(config: object, guard: AddressGuard): C
  render(message: Message, config: C, attempt: Attempt): Outbound
  /** Where the answer means something else than `verdictOf` says. */
  verdict?(reply: Reply): Verdict
}

/** Below 500 these say "not now"; every other 4xx says "not like this". */
const NOT_NOW = [408, 425, 429]

/**
 * Only 2xx is success. A redirect is a failure: its target was not vetted. Source: Standard Webhooks 1.0.0,
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function verdictOf(reply: Reply): Verdict {
  if (reply.kind === 'error') return reply.permanent ? 'broken' : 'retry'
  const { status } = reply
  if (status >= 200 && status < 300) return 'delivered'
  return NOT_NOW.includes(status) || (status >= 500 && status < 600) ? 'retry' : 'broken'
}
