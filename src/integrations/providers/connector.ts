import type { OperatorSetting } from '../../config.ts'
import type { ProviderType } from '../../contract/products.ts'
import type { Instant } from '../../core/clock.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { TObject, TSchema } from '../../core/schema.ts'
import type { OwnCredential, Route } from '../../http/route.ts'
import type { AddressGuard } from '../../transport/address-guard.ts'
import type { Outcome } from '../delivery-outcome.ts'
import type { Secrets } from './channel.ts'
import type { InboundContext, IntegrationContext, ListeningContext } from './provider-context.ts'

/** User-supplied configuration of an integration. */
interface Configuration<S, I> {
  /** Schema of `config`, with a title and help for each form field. */
  schema: TObject
  /**
   * Validates and completes a configuration. Fails with `invalid`, naming the field: `config.url: …`.
   * @param config The request's `config` without `notify`, with stored secrets filled in.
   * @param given Fields present in the request itself. They decide between alternative sign-in methods.
   */
  prepare(config: object, guard: AddressGuard, given: object): S
  /** Number of integrations that an organization can have. */
  perOrganization: 'one' | 'many'
  /** Settings whose value must be unique. Only the first organization that stores a value can use it. */
  exclusive: readonly (keyof S & string)[]
  /** False until a required choice, such as a channel, has been made. */
  isComplete(settings: S, state: I | null): boolean
  /**
   * Origin to which an integration's calls are sent. It is used to limit concurrent attempts. Null: the origin of
   * `config.url`.
   */
  origin(settings: S, operator: Readonly<Record<string, string>>): string | null
}

/** How an integration obtains its credentials. */
type Connection<S extends object, T extends object> =
  /** The user enters them. */
  { by: 'settings' } | GeneratedSecret<S, T> | SignIn<S, T>

/** `prepare` generates a secret that the user enters in the other product. */
interface GeneratedSecret<S extends object, T extends object> {
  by: 'generated'
  /** Replaces the secret. Fails with `conflict` if these settings have none. */
  rotate(settings: S, tokens: Partial<T>, now: Instant): Rotated<S, T>
}

/**
 * The user signs in at the product, which redirects the browser back with a code: OAuth 2.0 with authorization code,
 * state and PKCE (RFC 6749, RFC 7636).
 */
export interface SignIn<S extends object, T extends object> {
  by: 'oauth'
  /** URL that the browser is sent to, with the three given values in its query. */
  authorizeUrl(settings: S, begun: { redirectUri: string; state: string; codeChallenge: string }): URL
  /** Exchanges the code from the redirect for tokens. The tokens are stored encrypted. Fails as `call` does. */
  exchange(
    context: IntegrationContext<S, T>,
    back: { code: string; redirectUri: string; codeVerifier: string },
  ): Promise<T>
}

/** The result of a secret rotation. `secret` is the new secret, which is shown once. */
interface Rotated<S, T> {
  settings: S
  tokens: Partial<T>
  secret: string
}

/** An inbound webhook call. */
export interface InboundCall {
  headers: Headers
  /** The unparsed body, as covered by signatures. */
  raw: string
  /** The body parsed as a JSON object. */
  body: Record<string, unknown>
}

/** A webhook route: `POST /v1/integrations/<type>/<path>`. It does not require a Tagwarden credential. */
interface ReceiverBase<S extends object, M, T extends object, I> {
  by: 'call'
  path: string
  summary: string
  /** Schema of the 200 response. */
  answer: TSchema
  /** Possible error codes in addition to `unauthorized` and `forbidden`. */
  refusals: readonly ErrorCode[]
  /**
   * Handles the call. If the call is not authentic, fails with `unauthorized` or `forbidden` and has no side effects.
   */
  receive(context: InboundContext<S, M, T, I>, call: InboundCall): Promise<unknown>
}

/**
 * The call is for the integration whose capability token is in the query parameter `t`. That token is created with the
 * integration and shown once.
 */
export interface TokenReceiver<S extends object, M, T extends object, I> extends ReceiverBase<S, M, T, I> {
  callers: 'token'
}

/** The call is authenticated by the product's own credential. */
export interface SignedReceiver<S extends object, M, T extends object, I> extends ReceiverBase<S, M, T, I> {
  callers: 'signed'
  credential: OwnCredential
  /**
   * Returns the ids of the integrations that the call claims to be for. `receive` verifies the claim for each
   * integration in turn. The first success determines the response. If `receive` fails for all of them, the call fails.
   * An empty list is a 401.
   */
  addressees(call: InboundCall, integrations: readonly Addressee[]): readonly string[]
}

/** An integration without its secrets. */
export interface Addressee {
  id: string
  config: Readonly<Record<string, unknown>>
}

/** Periodic work for each connected integration. Runs for the same integration never overlap. */
export interface Poll<S extends object, M, T extends object, I> {
  by: 'poll'
  /** Pause between the end of a run and the start of the next. Null: polling is disabled. */
  everyMs(config: Readonly<Record<string, unknown>>): number | null
  run(context: InboundContext<S, M, T, I>): Promise<void>
}

/**
 * A long-lived outbound connection through which the product sends events. The server therefore needs no inbound
 * access.
 */
export interface Listener<S extends object, M, T extends object, I> {
  by: 'socket'
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

/** A way in which the product reports changes. */
export type Inbound<S extends object = object, M = unknown, T extends object = object, I = unknown> =
  | TokenReceiver<S, M, T, I>
  | SignedReceiver<S, M, T, I>
  | Poll<S, M, T, I>
  | Listener<S, M, T, I>

/** Dependencies of a product's own routes. */
export interface ProviderTools<S extends object = object, M = unknown, T extends object = object, I = unknown> {
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

interface ConnectorBase<S extends object, M, T extends object, I> {
  type: ProviderType
  title: string
  /** One or two sentences that help users choose a provider. */
  help: string
  secrets: Secrets<S>
  /** Server-wide settings. */
  operator: readonly OperatorSetting[]
  configuration: Configuration<S, I>
  connection: Connection<S, T>
  inbound: readonly Inbound<S, M, T, I>[]
  /** Returns additional routes below `/v1/integrations/<type>/`. */
  routes(tools: ProviderTools<S, M, T, I>): Route[]
}

/** Alerts can send notifications through the integration: a `Channel` with the same type exists, which is also tested. */
interface ChannelConnector<S extends object, M, T extends object, I> extends ConnectorBase<S, M, T, I> {
  notifies: true
}

/** The integration sends no notifications. */
export interface SilentConnector<S extends object, M, T extends object, I> extends ConnectorBase<S, M, T, I> {
  notifies: false
  /** Tests an integration without side effects. */
  test(context: IntegrationContext<S, T, I>): Promise<Outcome>
}

/**
 * A product that an organization connects. S: settings. M: memory of one issue (ticket, message, thread). T: secrets
 * that the connector obtains itself (tokens). I: state of an integration. M and I are small JSON values.
 */
export type Connector<S extends object = object, M = unknown, T extends object = object, I = unknown> =
  | ChannelConnector<S, M, T, I>
  | SilentConnector<S, M, T, I>

/** Type-checks a connector with its own type parameters, then erases them. */
export function connector<S extends object, M = unknown, T extends object = Record<never, never>, I = unknown>(
  value: Connector<S, M, T, I>,
): Connector {
  return value as unknown as Connector
}

/** Returns each way of the given kind in which connectors report changes. */
export function inboundBy<B extends Inbound['by']>(
  connectors: readonly Connector[],
  by: B,
): { connector: Connector; inbound: Extract<Inbound, { by: B }> }[] {
  return connectors.flatMap((one) =>
    one.inbound
      .filter((inbound): inbound is Extract<Inbound, { by: B }> => inbound.by === by)
      .map((inbound) => ({ connector: one, inbound })),
  )
}

/** True if inbound calls are authenticated by a token in the URL, which can be replaced. */
export const tokenReceiverOf = ({ inbound }: Connector) =>
  inbound.find(
    (one): one is TokenReceiver<object, unknown, object, unknown> => one.by === 'call' && one.callers === 'token',
  ) ?? null
