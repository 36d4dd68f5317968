import type { ChannelType } from '../../contract/products.ts'
import { AppError } from '../../core/error.ts'
import { Text, type TString } from '../../core/schema.ts'
import type { AddressGuard } from '../../transport/address-guard.ts'
import { DELIVERED, type Outcome } from '../delivery-outcome.ts'
import type { Message } from '../message/message.ts'
import type { InternalChannelType } from './internal/internal-channel-types.ts'
import type { DeliveryContext, GroupContext, GroupMember, IssueContext, StatusChange } from './provider-context.ts'

/** Organization data required by targets that are not integrations. It is read on demand. */
export interface OrgFacts {
  webhookSecret(): string
  /** E-mail addresses of the current owners. */
  ownerAddresses(): string[]
  /** E-mail address of a member. Null if the user is not a member. */
  memberAddress(userId: string): string | null
}

/** Direct addresses, such as e-mail addresses and webhook URLs, that alerts can use instead of an integration. */
export interface Addresses<S> {
  /** Form field: title, help and an example. */
  target: TString
  /**
   * Fails with `invalid` if the target can't be used. The message omits the field name and is written to follow it:
   * `must be …`.
   */
  check(target: string, guard: AddressGuard): void
  /** Returns the settings for delivering to the target. */
  settingsOf(target: string, org: OrgFacts): S
}

/** Strings to redact from everything that a product returns. */
export interface Secrets<S> {
  /** Settings that are stored encrypted and never returned. */
  fields: readonly (keyof S & string)[]
  /**
   * Returns additional strings: credentials in the form in which they are sent, for example in base64, and URLs that
   * contain a credential.
   */
  derived(settings: S): string[]
}

/** How messages reach a product. M: memory of one issue (ticket, message, thread), a small JSON value. */
interface DeliveryBase<S extends object, M, T extends object, I> {
  /**
   * True if messages contain a valid sample, a series or a cause. If so, the event history is queried before the first
   * delivery.
   */
  usesHistory: boolean
  /** Sends a message about an issue. */
  deliver(context: DeliveryContext<S, M, T, I>, message: Message): Promise<Outcome>
  /** Tests an integration, either by delivering the test message or without side effects. */
  test(context: DeliveryContext<S, M, T, I>, message: Message): Promise<Outcome>
  /**
   * Updates the product after an issue's status changed. Called only for issues that have a memory. The update does not
   * count as a notification. Failures are retried in the same way as deliveries.
   */
  syncStatus(context: IssueContext<S, M, T, I>, change: StatusChange): Promise<Outcome>
}

/** Every opening is sent immediately as a separate message. */
interface SeparateDelivery<S extends object, M, T extends object, I> extends DeliveryBase<S, M, T, I> {
  openings: 'separate'
}

/** Issues that open shortly after one another are sent as one message. */
interface GroupedDelivery<S extends object, M, T extends object, I> extends DeliveryBase<S, M, T, I> {
  openings: 'grouped'
  /**
   * Sends one message about several issues. The first `MAX_NAMED` issues are listed and the others are counted. Receives
   * at least two members in order of opening. They are the same for every attempt, and the outcome applies to all of
   * them.
   */
  deliverGroup(group: GroupContext<S, M, T, I>, members: readonly GroupMember<M>[]): Promise<Outcome>
}

export type Delivery<S extends object = object, M = unknown, T extends object = object, I = unknown> =
  | SeparateDelivery<S, M, T, I>
  | GroupedDelivery<S, M, T, I>

/**
 * A product to which alerts send notifications. S: settings. M: memory of one issue. T: secrets that the product issued
 * (tokens). I: state of an integration.
 */
export interface Channel<S extends object = object, M = unknown, T extends object = object, I = unknown> {
  type: ChannelType | InternalChannelType
  title: string
  /** One or two sentences that help users choose. */
  help: string
  secrets: Secrets<S>
  addresses: Addresses<S>
  /** True if a target can be an integration of this type. A `Connector` with the same type then exists. */
  hasIntegrations: boolean
  /** Checks the detail of the target `int_…:detail`. Fails with `invalid` if it is not usable. */
  checkDetail(detail: string): void
  /** @param config Settings of the integration without secrets. Empty for a direct address. */
  deliveryOf(config: Readonly<Record<string, unknown>>): Delivery<S, M, T, I>
}

/** Type-checks a channel with its own type parameters, then erases them. */
export function channel<S extends object, M = unknown, T extends object = Record<never, never>, I = unknown>(
  value: Channel<S, M, T, I>,
): Channel {
  return value as unknown as Channel
}

/** Secrets of a product that has none. */
export const NO_SECRETS = { fields: [], derived: () => [] } as const

/** Addresses of a channel whose targets must be integrations. */
export const integrationsOnly = (type: ChannelType, title: string): Addresses<never> => ({
  target: Text(1, 2000, { title: 'Integration', description: `Id of a ${title} integration` }),
  check() {
    throw new AppError('invalid', `must be the id (int_…) of an integration of type ${type}`)
  },
  settingsOf() {
    throw new AppError('invalid', `${type} channels require an integration`)
  },
})

/** Rejects every detail, for a channel whose targets have none. */
export function noDetail(): never {
  throw new AppError('invalid', 'must not have a detail after the colon')
}

/** Does nothing, for a channel that saves no memory and therefore shows no status. */
export const showsNoStatus = async (): Promise<Outcome> => DELIVERED
