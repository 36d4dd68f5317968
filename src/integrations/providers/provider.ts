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

export type ChannelType = (typeof CHANNEL_TYPES)[number]

/** What a target that is no integration takes from its organization; asked for when it is needed. */
export interface OrgFacts {
  webhookSecret(): string
  /** Addresses of the present owners. */
  ownerAddresses(): string[]
}

/** What alerts may name in place of an integration: an address. */
export interface Addresses<S> {
  /** What a form asks for: title, help and an example. */
  target: TString
  /** Refuses with `invalid` one that nothing can be sent to; the message begins where the name of the field ends. */
  check(target: string, guard: AddressGuard): void
  /** What it stands for. */
  settingsOf(target: string, org: OrgFacts): S
}

/** What a user configures for an integration. */
export interface Configured<S> {
  /** What `config` takes, with a title and help for each field of a form; secrets are marked by `connect`. */
  form: TObject
  /**
   * Checks and completes what was configured, with the secrets that are kept put in. Fails with `invalid`, naming the field:
   * `config.url: …`.
   * @param config the `config` of the request, without `notify`
   * @param given what the request itself names: of two ways to sign in, the one that is meant
   */
  prepare(config: object, guard: AddressGuard, given: object): S
  /** True when an organization has one at most. */
  single?: true
  /** A setting whose value belongs to the organization that stored it first; another one's is refused. */
  exclusive?: string
  /** False while something has to be chosen (a channel) before anything goes through; absent: never. */
  isComplete?(settings: S, state: unknown): boolean
}

/**
 * How an integration comes to its secrets. `none`: it has none. `secret`: who configures it types them in, or `prepare`
 * makes one. `oauth`: who configures it signs in at the other side, which sends the browser back with a code. `fields` are
 * those of the settings that are kept sealed and never answered.
 */
export type Connect<S extends object, T extends object> =
  | { by: 'none' }
  | { by: 'secret'; fields: readonly (keyof S & string)[] }
  | ({ by: 'oauth'; fields: readonly (keyof S & string)[] } & SignIn<S, T>)

/** Signing in at the other side: OAuth 2.0, authorization code with state and PKCE (RFC 6749, RFC 7636). */
export interface SignIn<S extends object, T extends object> {
  /** Where the browser goes; the three texts belong into its query. */
  authorizeUrl(settings: S, begun: { redirectUri: string; state: string; codeChallenge: string }): URL
  /** The tokens for the code with which the browser came back; they are sealed and kept. Fails as any call does. */
  exchange(
    context: IntegrationContext<S, T>,
    back: { code: string; redirectUri: string; codeVerifier: string },
  ): Promise<T>
}

/** A setting of who runs the server, by environment: `TAGWARDEN_<name>`. Never an organization's, never a secret. */
export interface OperatorSetting {
  name: string
  default: string
  meaning: string
  /** Why a text does not fit, as `must be …`; null when it does. */
  fault(text: string): string | null
}

/** A call from outside, as it came. */
export interface InboundCall {
  headers: Headers
  /** The body as it came: what a signature is over. */
  raw: string
  /** The same as JSON, an object. */
  body: Record<string, unknown>
}

/** The one route at which the other side calls: `POST /v1/integrations/<type>/<path>`. It needs no credential of ours. */
export interface Receiver<S extends object, M, T extends object, I> {
  path: string
  summary: string
  /** What is answered with 200. */
  answer: TSchema
  /** How calls prove who sends them; absent: by the capability token in the query parameter `t`. */
  credential?: OwnCredential
  /** Error codes beside `unauthorized` and `forbidden`. */
  refusals?: readonly ErrorCode[]
  /**
   * Which integrations the call says that it is for: `receive` checks if that is true, for one after the other, and its first
   * answer is answered; when it fails for all of them, the call does. None: 401, or what is thrown. Absent: that one whose capability token is in the query parameter `t`,
   * made with the integration and shown once.
   */
  addressees?(call: InboundCall, integrations: readonly Addressee[]): readonly string[]
  /** Fails with `unauthorized` or `forbidden` when the call is not what it seems; nothing of it may have been done then. */
  receive(context: InboundContext<S, M, T, I>, call: InboundCall): Promise<unknown>
}

/** An integration without its secrets. */
export interface Addressee {
  id: string
  config: Readonly<Record<string, unknown>>
}

/** Something that is looked at again and again, by each connected integration for itself and never twice at once. */
export interface Poll<S extends object, M, T extends object, I> {
  /** Time from one end to the next beginning; null: this one is not to be asked. */
  everyMs(config: Readonly<Record<string, unknown>>): number | null
  run(context: InboundContext<S, M, T, I>): Promise<void>
}

/** A connection that stays open for integrations, so that the other side can tell of what happens without a way in. */
export interface Listener<S extends object, M, T extends object, I> {
  /**
   * What names the connection: integrations with the same one share it, and the oldest one's is opened. Null: this one has
   * none. It is compared, never shown and never stored.
   */
  lineOf(settings: S): string | null
  /**
   * Opens it and stays with it until `context.signal` is aborted. When it ends or fails before, it is called again after a
   * pause that grows, and the integration is `failing`.
   */
  run(context: ListeningContext<S, M, T, I>): Promise<void>
}

/** What replaces secrets, and the new one, which is shown once. */
export interface Rotated<S, T> {
  settings: S
  tokens: Partial<T>
  secret: string
}

/** What routes of a provider's own are made with. */
export interface ProviderTools<S extends object, M, T extends object, I> {
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
  /** Ids of the organization's integrations with this provider, oldest first. */
  integrations(orgId: string): string[]
  /** Fails with `notFound` when the organization has none of that id with this provider. */
  open(key: { orgId: string; id: string }, signal: AbortSignal): InboundContext<S, M, T, I>
  /** Runs what calls the other side as one of the attempts at its origin. Fails with `conflict` while there is no place. */
  visit<R>(context: IntegrationContext<S, T, I>, work: () => Promise<R>): Promise<R>
  /**
   * Does what goes on when nobody waits for it any more, until the program stops. It holds no place at the host, so what it
   * waits for is its own matter. How it ended is the integration's status. Fails as `work` does, with what a caller may be
   * told, and with `conflict` while nothing may go through the integration.
   */
  workOn<R>(key: { orgId: string; id: string }, work: (context: InboundContext<S, M, T, I>) => Promise<R>): Promise<R>
  /** The address of the browser script of a domain. Fails with `notFound` when the organization has none of that id. */
  scriptUrlOf(domain: { orgId: string; id: string }): string
  /**
   * What was chosen is kept in the integration's `state`; this says that nothing has to be chosen any more. Its `name` becomes
   * the label where nobody gave one. Answers the label.
   */
  complete(context: IntegrationContext<S, T, I>, name: string): string
}

/**
 * A product that Tagwarden speaks with, as a value in a folder of its own. All but `type`, `title` and `connect` is there
 * where the product has it. S: its settings. M: what it remembers of one issue (ticket, message, thread). T: the secrets
 * that it makes itself (tokens). I: what it remembers of an integration. M and I are small JSON.
 */
export interface Provider<S extends object = object, M = unknown, T extends object = object, I = unknown> {
  /** `email` is a channel and no integration; `tag_manager` and `email_digest` are integrations and no channel. */
  type: ProviderType | ChannelType
  title: string
  /** What it is good for, for those who choose one: a sentence or two. */
  help: string
  connect: Connect<S, T>
  /** Absent: there are no integrations of it. */
  configured?: Configured<S>
  /**
   * Returns what else is removed from texts that the other side said: credentials as they are sent, such as in base64, and
   * URLs with a credential.
   */
  derivedSecrets?(settings: S): string[]
  /** Absent: alerts name integrations of it only. */
  addresses?: Addresses<S>
  /** Refuses with `invalid` what stands behind the colon of `int_…:detail`; absent: nothing may. */
  checkDetail?(detail: string): void
  /** Origin that integrations call; absent: that of `config.url`. Attempts at the same time are limited by it. */
  origin?(settings: S, operator: Readonly<Record<string, string>>): string
  /** What who runs the server may set. */
  operator?: readonly OperatorSetting[]
  /**
   * What it tells has neither good sample nor series nor cause, so the event history is not asked for them. Absent: it is,
   * for a moment, before a message is first delivered.
   */
  tellsNoHistory?: true
  /** Tells of an issue. Absent: it is no channel. */
  deliver?(context: DeliveryContext<S, M, T, I>, message: Message): Promise<Outcome>
  /**
   * Tells of several issues that opened soon after each other in one message: up to `NAMED_AT_MOST` are named, the others
   * counted. At least two members, in the order in which they opened, the same at each attempt. The outcome is that of each
   * member. Absent: every opening is a message of its own, at once.
   */
  deliverGroup?(group: GroupContext<S, M, T, I>, members: readonly GroupMember<M>[]): Promise<Outcome>
  /**
   * Shows the other side that an issue's status is another one than when it was last told of it; called for issues of which
   * something is remembered. It is no notification: nothing counts it. What does not arrive is tried again as deliveries are.
   */
  syncStatus?(context: IssueContext<S, M, T, I>, change: StatusChange): Promise<Outcome>
  /** Tries an integration without leaving anything; absent: a test message is delivered. */
  test?(context: IntegrationContext<S, T, I>): Promise<Outcome>
  receiver?: Receiver<S, M, T, I>
  poll?: Poll<S, M, T, I>
  listener?: Listener<S, M, T, I>
  /** Replaces secrets on request; absent: only a capability token can be replaced. */
  rotate?(settings: S, tokens: Partial<T>, now: Instant): Rotated<S, T>
  /** What people can do with it beside: routes below `/v1/integrations/<type>/`. */
  routes?(tools: ProviderTools<S, M, T, I>): Route[]
}

/** Checks a provider against its own types, which nobody else needs to know. */
export function provider<S extends object, M = unknown, T extends object = Record<never, never>, I = unknown>(
  value: Provider<S, M, T, I>,
): Provider {
  return value as unknown as Provider
}

/** The settings of a provider that are kept sealed and never answered. */
export function secretFieldsOf({ connect }: Provider): readonly string[] {
  return connect.by === 'none' ? [] : connect.fields
}
