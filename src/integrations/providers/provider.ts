import type { CHANNEL_TYPES } from '../../alerts/alert.ts'
import type { OperatorSetting } from '../../config.ts'
import type { Instant } from '../../core/clock.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { TObject, TSchema, TString } from '../../core/schema.ts'
import type { OwnCredential, Route } from '../../http/route.ts'
import type { AddressGuard } from '../../transport/address-guard.ts'
import type { Outcome } from '../delivery-outcome.ts'
import type { ProviderType } from '../integration.ts'
import type { Message } from '../message/message.ts'
import type {
  DeliveryContext,
  GroupContext,
  GroupMember,
  InboundContext,
  IntegrationContext,
  IssueContext,
  ListeningContext,
  StatusChange,
} from './provider-context.ts'

type ChannelType = (typeof CHANNEL_TYPES)[number]

/** Organization data required by targets that are not integrations. It is read on demand. */
export interface OrgFacts {
  webhookSecret(): string
  /** E-mail addresses of the current owners. */
  ownerAddresses(): string[]
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

/** User-supplied configuration of an integration. */
interface Configured<S> {
  /** Schema of `config`, with a title and help for each form field. Secret fields are listed in `connect`. */
  schema: TObject
  /**
   * Validates and completes a configuration. Fails with `invalid`, naming the field: `config.url: …`.
   * @param config The request's `config` without `notify`, with stored secrets filled in.
   * @param given Fields present in the request itself. They decide between alternative sign-in methods.
   */
  prepare(config: object, guard: AddressGuard, given: object): S
  /** True if an organization can have at most one integration of this provider. */
  single?: true
  /** Name of a setting whose value must be unique. Only the first organization that stores a value can use it. */
  exclusive?: string
  /** False until a required choice, such as a channel, has been made. Absent: the integration is always complete. */
  isComplete?(settings: S, state: unknown): boolean
}

/**
 * Source of an integration's secrets. `none`: it has no secrets. `secret`: the user enters them or `prepare` generates
 * them. `oauth`: the user signs in at the provider, which redirects the browser back with a code. `fields` lists the
 * settings that are stored encrypted and never returned.
 */
type Connect<S extends object, T extends object> =
  | { by: 'none' }
  | { by: 'secret'; fields: readonly (keyof S & string)[] }
  | ({ by: 'oauth'; fields: readonly (keyof S & string)[] } & SignIn<S, T>)

/** OAuth 2.0 sign-in with authorization code, state and PKCE (RFC 6749, RFC 7636). */
export interface SignIn<S extends object, T extends object> {
  /** URL that the browser is sent to, with the three given values in its query. */
  authorizeUrl(settings: S, begun: { redirectUri: string; state: string; codeChallenge: string }): URL
  /** Exchanges the code from the redirect for tokens. The tokens are stored encrypted. Fails as `call` does. */
  exchange(
    context: IntegrationContext<S, T>,
    back: { code: string; redirectUri: string; codeVerifier: string },
  ): Promise<T>
}

/** An inbound webhook call. */
export interface InboundCall {
  headers: Headers
  /** The unparsed body, as covered by signatures. */
  raw: string
  /** The body parsed as a JSON object. */
  body: Record<string, unknown>
}

/** The provider's webhook route: `POST /v1/integrations/<type>/<path>`. It does not require a Tagwarden credential. */
export interface Receiver<S extends object, M, T extends object, I> {
  path: string
  summary: string
  /** Schema of the 200 response. */
  answer: TSchema
  /** Authentication method for callers. Absent: callers use the capability token in the query parameter `t`. */
  credential?: OwnCredential
  /** Possible error codes in addition to `unauthorized` and `forbidden`. */
  refusals?: readonly ErrorCode[]
  /**
   * Returns the ids of the integrations that the call claims to be for. `receive` verifies the claim for each
   * integration in turn. The first success determines the response. If `receive` fails for all of them, the call fails.
   * An empty list is a 401.
   *
   * Absent: the call is for the integration whose capability token is in the query parameter `t`. That token is created
   * with the integration and shown once.
   */
  addressees?(call: InboundCall, integrations: readonly Addressee[]): readonly string[]
  /**
   * Handles the call. If the call is not authentic, fails with `unauthorized` or `forbidden` and has no side effects.
   */
  receive(context: InboundContext<S, M, T, I>, call: InboundCall): Promise<unknown>
}

/** An integration without its secrets. */
export interface Addressee {
  id: string
  config: Readonly<Record<string, unknown>>
}

/** Periodic work for each connected integration. Runs for the same integration never overlap. */
export interface Poll<S extends object, M, T extends object, I> {
  /** Pause between the end of a run and the start of the next. Null: polling is disabled. */
  everyMs(config: Readonly<Record<string, unknown>>): number | null
  run(context: InboundContext<S, M, T, I>): Promise<void>
}

/**
 * A long-lived outbound connection through which the provider sends events. The server therefore needs no inbound
 * access.
 */
export interface Listener<S extends object, M, T extends object, I> {
  /**
   * Identifies the connection. Integrations with equal keys share one connection, which is opened by the oldest
   * integration. Null: no connection. The key may be a secret. It is compared, but never shown or stored.
   */
  connectionKey(settings: S): string | null
  /**
   * Opens the connection and serves it until `context.signal` is aborted. If the connection ends or fails earlier, the
   * integration becomes `failing`, and this method is called again after an increasing pause.
   */
  run(context: ListeningContext<S, M, T, I>): Promise<void>
}

/** The result of a secret rotation. `secret` is the new secret, which is shown once. */
interface Rotated<S, T> {
  settings: S
  tokens: Partial<T>
  secret: string
}

/** Dependencies of provider-specific routes. */
export interface ProviderTools<S extends object, M, T extends object, I> {
  /** The server's public URL without a trailing slash. */
  publicUrl: string
  /** Ids of the organization's integrations of this provider, oldest first. */
  integrations(orgId: string): string[]
  /**
   * Returns the context of an integration. Fails with `notFound` if the organization has no such integration of this
   * provider.
   */
  open(key: { orgId: string; id: string }, signal: AbortSignal): InboundContext<S, M, T, I>
  /**
   * Runs `work` within the limit of concurrent attempts for its origin. Fails with `conflict` if all slots are
   * occupied.
   */
  runAttempt<R>(context: IntegrationContext<S, T, I>, work: () => Promise<R>): Promise<R>
  /**
   * Runs `work` until it finishes or the server shuts down, even if the caller disconnects. It does not count against
   * the limit of concurrent attempts for its origin. Its outcome determines the integration's status. Fails as `work`
   * does, with secrets removed from the message, and with `conflict` if the integration is not usable.
   */
  runInBackground<R>(
    key: { orgId: string; id: string },
    work: (context: InboundContext<S, M, T, I>) => Promise<R>,
  ): Promise<R>
  /** URL of the browser script for a domain. Fails with `notFound` if the organization has no such domain. */
  scriptUrlOf(domain: { orgId: string; id: string }): string
  /**
   * Marks the integration as complete after a choice was saved in its `state`. `name` becomes the label unless a user
   * has set one. Returns the label.
   */
  complete(context: IntegrationContext<S, T, I>, name: string): string
}

/**
 * A product that Tagwarden integrates with. S: settings. M: memory of one issue (ticket, message, thread). T: secrets
 * that the provider obtains itself (tokens). I: state of an integration. M and I are small JSON values.
 */
export interface Provider<S extends object = object, M = unknown, T extends object = object, I = unknown> {
  /** `email` is only a channel. `tag_manager` and `email_digest` are only integrations. */
  type: ProviderType | ChannelType
  title: string
  /** One or two sentences that help users choose a provider. */
  help: string
  connect: Connect<S, T>
  /** Absent if the provider has no integrations. */
  configured?: Configured<S>
  /**
   * Returns additional strings to redact from provider messages: credentials in the form in which they are sent, for
   * example in base64, and URLs that contain a credential.
   */
  derivedSecrets?(settings: S): string[]
  /** Absent if alerts can target only integrations of this provider. */
  addresses?: Addresses<S>
  /**
   * Checks the detail of the target `int_…:detail`. Fails with `invalid` if it is not usable. Absent: targets have no
   * detail.
   */
  checkDetail?(detail: string): void
  /**
   * Origin to which an integration's calls are sent. It is used to limit concurrent attempts. Absent: the origin of
   * `config.url`.
   */
  origin?(settings: S, operator: Readonly<Record<string, string>>): string
  /** Server-wide settings. */
  operator?: readonly OperatorSetting[]
  /**
   * True if messages contain no valid sample, series or cause. If so, the event history is not queried before the first
   * delivery.
   */
  omitsHistory?: true
  /** Sends a message about an issue. Absent if the provider is not a channel. */
  deliver?(context: DeliveryContext<S, M, T, I>, message: Message): Promise<Outcome>
  /**
   * Sends one message about several issues that opened shortly after one another. The first `MAX_NAMED` issues are
   * listed and the others are counted. Receives at least two members in order of opening. They are the same for every
   * attempt, and the outcome applies to all of them. Absent: each opening is sent immediately as a separate message.
   */
  deliverGroup?(group: GroupContext<S, M, T, I>, members: readonly GroupMember<M>[]): Promise<Outcome>
  /**
   * Updates the provider after an issue's status changed. Called for issues that have a memory. The update does not
   * count as a notification. Failures are retried in the same way as deliveries.
   */
  syncStatus?(context: IssueContext<S, M, T, I>, change: StatusChange): Promise<Outcome>
  /** Tests an integration without side effects. Absent: a test message is delivered instead. */
  test?(context: IntegrationContext<S, T, I>): Promise<Outcome>
  receiver?: Receiver<S, M, T, I>
  poll?: Poll<S, M, T, I>
  listener?: Listener<S, M, T, I>
  /** Replaces secrets on request. Absent: only a capability token can be replaced. */
  rotate?(settings: S, tokens: Partial<T>, now: Instant): Rotated<S, T>
  /** Additional routes below `/v1/integrations/<type>/`. */
  routes?(tools: ProviderTools<S, M, T, I>): Route[]
}

/** Type-checks a provider with its own type parameters, then erases them. */
export function provider<S extends object, M = unknown, T extends object = Record<never, never>, I = unknown>(
  value: Provider<S, M, T, I>,
): Provider {
  return value as unknown as Provider
}

/** Names of the settings that are stored encrypted and never returned. */
export function secretFieldsOf({ connect }: Provider): readonly string[] {
  return connect.by === 'none' ? [] : connect.fields
}
