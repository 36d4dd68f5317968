import type { CHANNEL_TYPES } from '../../alerts/alert.ts'
import type { Instant } from '../../core/clock.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { TObject, TSchema, TString } from '../../core/schema.ts'
import type { OwnCredential, Route } from '../../http/route.ts'
import type { ProviderType } from '../integration.ts'
import type { Message } from '../message/message.ts'
import type { Outcome } from '../outcome.ts'
import type { AddressGuard } from '../transport/address-guard.ts'
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

/** Organization data needed by targets that are not integrations. Read on demand. */
export interface OrgFacts {
  webhookSecret(): string
  /** E-mail addresses of the current owners. */
  ownerAddresses(): string[]
}

/** Plain addresses that alerts can name instead of an integration. */
export interface Addresses<S> {
  /** Form field: title, help and an example. */
  target: TString
  /** Fails with `invalid` if the target can't be used. The message is a predicate without the field name: `must be …`. */
  check(target: string, guard: AddressGuard): void
  /** Returns the settings that deliver to the target. */
  settingsOf(target: string, org: OrgFacts): S
}

/** User-supplied configuration of an integration. */
interface Configured<S> {
  /** Schema of `config`, with a title and help for each form field. Secret fields are listed in `connect`. */
  schema: TObject
  /**
   * Validates and completes a configuration. Fails with `invalid`, naming the field: `config.url: …`.
   * @param config the request's `config` without `notify`, with stored secrets filled in
   * @param given fields present in the request itself; they decide between alternative sign-in methods
   */
  prepare(config: object, guard: AddressGuard, given: object): S
  /** True if an organization can have at most one. */
  single?: true
  /** Name of a setting whose value only the first organization to store it can use. */
  exclusive?: string
  /** False until a required choice, such as a channel, has been made. Absent: always complete. */
  isComplete?(settings: S, state: unknown): boolean
}

/**
 * How an integration gets its secrets. `none`: it has no secrets. `secret`: the user enters them or `prepare` generates
 * them. `oauth`: the user signs in at the provider, which redirects the browser back with a code. `fields` lists the
 * settings that are stored encrypted and never returned.
 */
type Connect<S extends object, T extends object> =
  | { by: 'none' }
  | { by: 'secret'; fields: readonly (keyof S & string)[] }
  | ({ by: 'oauth'; fields: readonly (keyof S & string)[] } & SignIn<S, T>)

/** OAuth 2.0 sign-in: authorization code with state and PKCE (RFC 6749, RFC 7636). */
export interface SignIn<S extends object, T extends object> {
  /** URL to send the browser to, with the three given values in its query. */
  authorizeUrl(settings: S, begun: { redirectUri: string; state: string; codeChallenge: string }): URL
  /** Exchanges the code from the redirect for tokens, which are stored encrypted. Fails as `call` does. */
  exchange(
    context: IntegrationContext<S, T>,
    back: { code: string; redirectUri: string; codeVerifier: string },
  ): Promise<T>
}

/** A server-wide setting from the environment variable `TAGWARDEN_<name>`. Never a secret. */
export interface OperatorSetting {
  name: string
  default: string
  meaning: string
  /** Returns why a value is invalid, as `must be …`, or null if it is valid. */
  fault(text: string): string | null
}

/** An incoming webhook call. */
export interface InboundCall {
  headers: Headers
  /** The unparsed body, which signatures cover. */
  raw: string
  /** The body parsed as a JSON object. */
  body: Record<string, unknown>
}

/** The provider's webhook route: `POST /v1/integrations/<type>/<path>`. It needs no Tagwarden credential. */
export interface Receiver<S extends object, M, T extends object, I> {
  path: string
  summary: string
  /** Schema of the 200 response. */
  answer: TSchema
  /** How callers authenticate. Absent: by the capability token in the query parameter `t`. */
  credential?: OwnCredential
  /** Error codes in addition to `unauthorized` and `forbidden`. */
  refusals?: readonly ErrorCode[]
  /**
   * Returns the ids of the integrations that the call claims to be for. `receive` verifies the claim for each in turn and its
   * first success is the response; if it fails for all, the call fails. An empty list is a 401. Absent: the integration whose
   * capability token, created with it and shown once, is in the query parameter `t`.
   */
  addressees?(call: InboundCall, integrations: readonly Addressee[]): readonly string[]
  /** Handles the call. Fails with `unauthorized` or `forbidden`, without side effects, if the call is not authentic. */
  receive(context: InboundContext<S, M, T, I>, call: InboundCall): Promise<unknown>
}

/** An integration without its secrets. */
export interface Addressee {
  id: string
  config: Readonly<Record<string, unknown>>
}

/** Periodic work of each connected integration. Runs of one integration never overlap. */
export interface Poll<S extends object, M, T extends object, I> {
  /** Pause between the end of a run and the start of the next; null: polling is off. */
  everyMs(config: Readonly<Record<string, unknown>>): number | null
  run(context: InboundContext<S, M, T, I>): Promise<void>
}

/** A long-lived outbound connection through which the provider sends events, so no inbound access is needed. */
export interface Listener<S extends object, M, T extends object, I> {
  /**
   * Identifies the connection. Integrations with equal keys share one connection, opened by the oldest. Null: no connection.
   * The key may be a secret: it is compared, never shown or stored.
   */
  connectionKey(settings: S): string | null
  /**
   * Opens the connection and serves it until `context.signal` is aborted. If it ends or fails earlier, the integration is
   * `failing` and this is called again after an increasing pause.
   */
  run(context: ListeningContext<S, M, T, I>): Promise<void>
}

/** The result of a secret rotation. `secret` is the new one, which is shown once. */
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
  /** Fails with `notFound` if the organization has no such integration of this provider. */
  open(key: { orgId: string; id: string }, signal: AbortSignal): InboundContext<S, M, T, I>
  /** Runs `work` within the origin's limit of concurrent attempts. Fails with `conflict` if all slots are taken. */
  runAttempt<R>(context: IntegrationContext<S, T, I>, work: () => Promise<R>): Promise<R>
  /**
   * Runs `work` that continues after the caller disconnects, until shutdown. It does not count against the origin's limit of
   * concurrent attempts. Its outcome becomes the integration's status. Fails as `work` does, with secrets removed from the
   * message, and with `conflict` if the integration is not usable.
   */
  runInBackground<R>(
    key: { orgId: string; id: string },
    work: (context: InboundContext<S, M, T, I>) => Promise<R>,
  ): Promise<R>
  /** URL of a domain's browser script. Fails with `notFound` if the organization has no such domain. */
  scriptUrlOf(domain: { orgId: string; id: string }): string
  /**
   * Marks the integration as complete after a choice was saved in its `state`. `name` becomes the label unless a user set one.
   * Returns the label.
   */
  complete(context: IntegrationContext<S, T, I>, name: string): string
}

/**
 * A product that Tagwarden integrates with. S: settings. M: memory of one issue (ticket, message, thread). T: secrets that
 * the provider obtains itself (tokens). I: state of an integration. M and I are small JSON values.
 */
export interface Provider<S extends object = object, M = unknown, T extends object = object, I = unknown> {
  /** `email` is only a channel; `tag_manager` and `email_digest` are only integrations. */
  type: ProviderType | ChannelType
  title: string
  /** One or two sentences for users choosing a provider. */
  help: string
  connect: Connect<S, T>
  /** Absent: the provider has no integrations. */
  configured?: Configured<S>
  /**
   * Returns further strings to redact from provider messages: credentials as sent, for example in base64, and URLs that
   * contain one.
   */
  derivedSecrets?(settings: S): string[]
  /** Absent: alerts can only name integrations. */
  addresses?: Addresses<S>
  /** Fails with `invalid` if the detail of the target `int_…:detail` is not usable. Absent: no detail is allowed. */
  checkDetail?(detail: string): void
  /** Origin that integrations call, by which concurrent attempts are limited. Absent: the origin of `config.url`. */
  origin?(settings: S, operator: Readonly<Record<string, string>>): string
  /** Server-wide settings. */
  operator?: readonly OperatorSetting[]
  /**
   * True if messages contain no valid sample, series or cause, so the event history is not queried for them before the first
   * delivery.
   */
  omitsHistory?: true
  /** Sends a message about an issue. Absent: the provider is not a channel. */
  deliver?(context: DeliveryContext<S, M, T, I>, message: Message): Promise<Outcome>
  /**
   * Sends one message about several issues that opened shortly after one another: the first `MAX_NAMED` are listed and
   * the rest counted. Gets at least two members in opening order, the same at each attempt. The outcome applies to every
   * member. Absent: each opening is sent immediately as its own message.
   */
  deliverGroup?(group: GroupContext<S, M, T, I>, members: readonly GroupMember<M>[]): Promise<Outcome>
  /**
   * Updates the provider after an issue's status changed. Called for issues with a memory. It is not a notification and not
   * counted as one. Failures are retried like deliveries.
   */
  syncStatus?(context: IssueContext<S, M, T, I>, change: StatusChange): Promise<Outcome>
  /** Tests an integration without side effects. Absent: a test message is delivered. */
  test?(context: IntegrationContext<S, T, I>): Promise<Outcome>
  receiver?: Receiver<S, M, T, I>
  poll?: Poll<S, M, T, I>
  listener?: Listener<S, M, T, I>
  /** Replaces secrets on request. Absent: only a capability token can be replaced. */
  rotate?(settings: S, tokens: Partial<T>, now: Instant): Rotated<S, T>
  /** Further routes below `/v1/integrations/<type>/`. */
  routes?(tools: ProviderTools<S, M, T, I>): Route[]
}

/** Type-checks a provider against its own type parameters and erases them. */
export function provider<S extends object, M = unknown, T extends object = Record<never, never>, I = unknown>(
  value: Provider<S, M, T, I>,
): Provider {
  return value as unknown as Provider
}

/** Names of the settings that are stored encrypted and never returned. */
export function secretFieldsOf({ connect }: Provider): readonly string[] {
  return connect.by === 'none' ? [] : connect.fields
}
