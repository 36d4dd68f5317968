import type { Instant } from '../../core/clock.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import type { Message } from '../message/message.ts'
import type { HttpMethod, Outbound, Reply, WebSocketLine } from '../transport/transport.ts'

/** A request to the other side. */
export interface CallRequest {
  method: HttpMethod
  url: string
  headers?: Record<string, string>
  /** Absent: none. */
  body?: string
  /** A larger answer is a failure and not cut; default 64 KiB, at most 32 MiB. */
  maxAnswerBytes?: number
  /** From the first DNS question to the last byte of the answer; default 15 s. */
  timeoutMs?: number
}

export interface CallAnswer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
}

/** What another side allows this whole server: so many calls in every window of this length. */
export interface Quota {
  calls: number
  windowMs: number
}

/** What OAuth 2.0 gives: RFC 6749, section 5.1. */
export interface AccessTokens {
  accessToken: string
  /** When it ends; null when the other side did not say. */
  until: Instant | null
  /** Absent: there is none, or the present one stays. */
  refreshToken?: string
}

/** What a provider gets for whatever it does: the settings, and the one way out. */
export interface IntegrationContext<S extends object = object, T extends object = object, I = unknown> {
  readonly orgId: string
  /** Null: what is sent to is an address and no integration. */
  readonly integrationId: string | null
  readonly settings: S
  /** What who runs the server has set, by name. */
  readonly operator: Readonly<Record<string, string>>
  /** Ends when the program stops, the time is over, or nobody waits any more. */
  readonly signal: AbortSignal
  now(): Instant
  /** Sends as it is, and answers whatever comes of it. Of a large answer only the first 64 KiB are read. */
  send(outbound: Outbound): Promise<Reply>
  /** The answer, whatever its status. Fails with `CallFailed` when none came: what was asked may have been done all the same. */
  call(request: CallRequest): Promise<CallAnswer>
  /** The same, and fails with `CallFailed` unless the status is 2xx. */
  ask(request: CallRequest): Promise<CallAnswer>
  /** Secrets that the provider made itself, as they are kept now. Empty for an address. */
  readonly tokens: Partial<T>
  /**
   * Replaces those. One at a time for an integration: `work` is called when it is its turn, may look at `tokens` again, and
   * its answer is sealed and stored before this resolves. It is dropped when the integration was configured anew meanwhile.
   */
  renew(work: () => Promise<Partial<T>>): Promise<void>
  /**
   * Asks a token endpoint with a form of the grant and the client (RFC 6749, section 3.2). Fails with `Unusable` when the grant
   * is no good any more, so that somebody has to sign in again, else as `ask` does. To be called inside `renew`.
   */
  fetchTokens(url: string, form: Record<string, string>): Promise<AccessTokens>
  /** The access token among `tokens`; with less than a minute left it is fetched anew, once for all who wait, and kept. */
  accessToken(fetch: () => Promise<AccessTokens>): Promise<string>
  /**
   * Makes one call that counts against a quota of the whole server, when there is room for it, also over restarts.
   * `waits` is told until when it waits, again and again, and null when it waits no longer. Fails as `call` does.
   */
  withinQuota<R>(quota: Quota, call: () => Promise<R>, waits: (until: Instant | null) => void): Promise<R>
  /** What is remembered of the integration; null before the first time, and for an address. */
  readonly state: I | null
  /** Stored when it resolves. */
  keepState(state: I): Promise<void>
  /** What is remembered of one thing at the other side, by a key of the provider's own; null: nothing. */
  record(key: string): unknown
  records(): { key: string; value: unknown }[]
  /** Stored when it returns; at most 64 KiB of JSON. */
  keepRecord(key: string, value: unknown): void
}

/** What a provider gets for what it does about one issue. */
export interface IssueContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IntegrationContext<S, T, I> {
  /** What stands behind the colon of the target; null when nothing does. */
  readonly detail: string | null
  /** What was remembered last; null before the first time, and for a message about no issue. */
  readonly memory: M | null
  /**
   * Stored when it resolves: a checkpoint from which the next attempt goes on, whatever was killed behind it. At most 64 KiB
   * of JSON. `ticketKey`: what the other side calls the issue, from now on; it is shown as the issue's `trackerKey`.
   */
  remember(memory: M, ticketKey?: string): Promise<void>
}

/** What a provider gets for one delivery. */
export interface DeliveryContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IssueContext<S, M, T, I> {
  /** The same for every attempt. */
  readonly deliveryId: string
  /** True when it arrived before, and somebody wants it once more. */
  readonly isReplay: boolean
}

/** What a provider gets for openings that go as one message: an integration, and `detail`. What is remembered is each member's. */
export type GroupContext<S extends object = object, M = unknown, T extends object = object, I = unknown> = Omit<
  IssueContext<S, M, T, I>,
  'memory' | 'remember'
>

/** One of the openings that go as one message. Message and memory are read from the store each time they are asked for. */
export interface GroupMember<M = unknown> {
  /** The same for every attempt, as for an opening that goes by itself. */
  readonly deliveryId: string
  readonly issueId: string
  /** True when it arrived before, and somebody wants it once more. */
  readonly isReplay: boolean
  readonly message: Message
  /** What was remembered of the issue last; null before the first time. */
  readonly memory: M | null
  /** As `IssueContext.remember`. */
  remember(memory: M, ticketKey?: string): Promise<void>
}

/** An issue that was told of in one message with others. */
export interface IssueWithMemory {
  issueId: string
  status: IssueStatus
  /** What its opening said, with the issue as it is now. */
  readonly message: Message
}

/** How an issue stands now. */
export interface StatusChange {
  status: IssueStatus
  /** Who gave it that by hand, as people know them; null when nobody did. */
  by: string | null
  /** What the last opening said, with the issue as it is now. */
  message: Message
  /**
   * All issues whose opening was told in the same message, this one included, in their order; alone when it went by itself.
   * Whoever reads it shows all of them: with this one, they count as shown.
   */
  readonly together: readonly IssueWithMemory[]
}

/** An issue of which the provider remembers something. */
export interface LinkedIssue<M = unknown> {
  issueId: string
  status: IssueStatus
  ticketKey: string | null
  memory: M
  /** Of the channel through which it is remembered: an issue may have two of one integration, with different details. */
  target: string
}

/** What a provider gets to answer a call from outside, and to look what became of its tickets. */
export interface InboundContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IntegrationContext<S, T, I> {
  /** The issue that the other side calls so; null when it is none of ours. */
  issueOf(ticketKey: string): LinkedIssue<M> | null
  /** Issues of which something is remembered, those that are not resolved first, the latest first; at most `limit`. */
  issues(limit: number): LinkedIssue<M>[]
  /** `target`: of one channel alone; `ticketKey`: what the other side calls the issue from now on. */
  remember(issueId: string, memory: M, of?: { target?: string; ticketKey?: string }): Promise<void>
  /**
   * Gives an issue its status as somebody there did; `by` is a user's id, or null for the integration. False when it has that
   * status already, or can't have it. What comes so is not sent back through the same integration; with `target`, through
   * that channel of it. An issue with a ticket has it in its history (`tracker_status`).
   */
  setStatus(issueId: string, status: IssueStatus, by?: string | null, target?: string): boolean
  /** True when a call of this key was taken in the last 7 days. `noteCall` says that it was, when it is done. */
  isRepeat(key: string): boolean
  noteCall(key: string): void
  /** The member with this e-mail address who may change issues; null when there is none. */
  editorOf(email: string): { userId: string } | null
  /** The error as callers may be told: a refusal without secrets; what is no refusal is a bug and stays one. */
  refusal(error: unknown): Error
  /** Notes a change of a domain: the same source and ref again is the same change. Nothing when the domain is gone. */
  noteChange(change: ProviderChange): void
  /**
   * Gives an issue its status as this member would in the dashboard; it is shown everywhere, through the same integration too.
   * `was`: its status before. Null when the organization has no such issue.
   */
  changeAs(userId: string, issueId: string, status: IssueStatus): { changed: boolean; was: IssueStatus } | null
}

/** Something that was done to a domain at the other side. */
export interface ProviderChange {
  domainId: string
  source: string
  ref: string
  title: string
  occurredAt: Instant
}

/** What a provider gets to keep a connection open. */
export interface ListeningContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends InboundContext<S, M, T, I> {
  /** Opens `ws:` or `wss:` the way calls go; it is closed when `signal` is aborted. Fails as calls do. */
  openSocket(url: string): Promise<WebSocketLine>
  /** Says that the connection works; only the first time counts. */
  opened(): void
  /** Another integration of the same provider, of any organization, whose connection has the same name; null: it is none. */
  sharing(integrationId: string): InboundContext<S, M, T, I> | null
  /** Says that something failed that nobody waits for. Never throws. */
  report(error: unknown): void
}
