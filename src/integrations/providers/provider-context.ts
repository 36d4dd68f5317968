import type { Instant } from '../../core/clock.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import type { Message } from '../message/message.ts'
import type { HttpMethod, Outbound, Reply, WebSocketLine } from '../transport/transport.ts'

/** An HTTP request to the provider. */
export interface CallRequest {
  method: HttpMethod
  url: string
  headers?: Record<string, string>
  body?: string
  /** A larger response body fails the call. Default 64 KiB, at most 32 MiB. */
  maxAnswerBytes?: number
  /** From the DNS lookup to the last byte of the response; default 15 s. */
  timeoutMs?: number
}

export interface CallAnswer {
  status: number
  /** Names are in lower case. */
  headers: Record<string, string>
  body: string
}

/** A server-wide quota: at most `calls` in any window of `windowMs`. */
export interface Quota {
  calls: number
  windowMs: number
}

/** An OAuth 2.0 token response: RFC 6749, section 5.1. */
export interface AccessTokens {
  accessToken: string
  /** Expiry; null if the provider did not state one. */
  until: Instant | null
  /** Absent: no refresh token, or the current one remains valid. */
  refreshToken?: string
}

/** Settings, state and network access of an integration. */
export interface IntegrationContext<S extends object = object, T extends object = object, I = unknown> {
  readonly orgId: string
  /** Null for a plain address. */
  readonly integrationId: string | null
  readonly settings: S
  /** Values of the server-wide settings by name. */
  readonly operator: Readonly<Record<string, string>>
  /** Aborted at shutdown, on timeout, or when the caller disconnects. */
  readonly signal: AbortSignal
  now(): Instant
  /** Sends a request or mail and returns any reply, including errors. Reads at most 64 KiB of a response. */
  send(outbound: Outbound): Promise<Reply>
  /** Returns the response whatever its status. Fails with `CallFailed` if there is none; the request may have taken effect. */
  call(request: CallRequest): Promise<CallAnswer>
  /** Like `call`, but also fails with `CallFailed` unless the status is 2xx. */
  callOk(request: CallRequest): Promise<CallAnswer>
  /** The currently stored tokens. Empty for a plain address. */
  readonly tokens: Partial<T>
  /**
   * Replaces the tokens, one renewal at a time per integration. `work` runs when its turn comes and can read `tokens` again.
   * Its result is stored encrypted before this resolves, or dropped if the integration was reconfigured meanwhile.
   */
  renew(work: () => Promise<Partial<T>>): Promise<void>
  /**
   * Requests tokens with a form that holds the grant and the client (RFC 6749, section 3.2). Fails with `Unusable` if the
   * grant is no longer valid and a user has to sign in again, otherwise as `callOk` does. Call it inside `renew`.
   */
  fetchTokens(url: string, form: Record<string, string>): Promise<AccessTokens>
  /** Returns the stored access token. If it expires within a minute, one fetch renews it for all waiting callers. */
  accessToken(fetch: () => Promise<AccessTokens>): Promise<string>
  /**
   * Makes a call within a server-wide quota that persists across restarts, waiting for a slot if necessary. `waits` is called
   * with the end of each wait, and with null when waiting is over. Fails as `call` does.
   */
  withinQuota<R>(quota: Quota, call: () => Promise<R>, waits: (until: Instant | null) => void): Promise<R>
  /** Saved state of the integration; null if nothing was saved, and for a plain address. */
  readonly state: I | null
  /** Resolves once the state is stored. */
  saveState(state: I): Promise<void>
  /** Returns a value saved under a provider-defined key, or null. */
  record(key: string): unknown
  records(): { key: string; value: unknown }[]
  /** Saves a value of at most 64 KiB of JSON. It is stored when this returns. */
  saveRecord(key: string, value: unknown): void
}

/** Context for work on one issue. */
export interface IssueContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IntegrationContext<S, T, I> {
  /** The part of the target after the colon; null if there is none. */
  readonly detail: string | null
  /** The last saved memory; null if there is none, and for a message that is not about an issue. */
  readonly memory: M | null
  /**
   * Saves a checkpoint from which the next attempt continues, even after a crash. Resolves once it is stored. At most 64 KiB
   * of JSON. `ticketKey` is the provider's key for the issue, shown as the issue's `trackerKey`.
   */
  remember(memory: M, ticketKey?: string): Promise<void>
}

/** Context for one delivery. */
export interface DeliveryContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IssueContext<S, M, T, I> {
  /** The same for every attempt. */
  readonly deliveryId: string
  /** True if the delivery succeeded before and was requested again. */
  readonly isReplay: boolean
}

/** Context for issue openings sent as one message. Memory belongs to the individual members. */
export type GroupContext<S extends object = object, M = unknown, T extends object = object, I = unknown> = Omit<
  IssueContext<S, M, T, I>,
  'memory' | 'remember'
>

/** One of several openings sent as one message. `message` and `memory` are read from the store on every access. */
export interface GroupMember<M = unknown> {
  /** The same for every attempt. */
  readonly deliveryId: string
  readonly issueId: string
  /** True if the delivery succeeded before and was requested again. */
  readonly isReplay: boolean
  readonly message: Message
  /** The last saved memory of the issue; null if there is none. */
  readonly memory: M | null
  /** See `IssueContext.remember`. */
  remember(memory: M, ticketKey?: string): Promise<void>
}

/** An issue whose opening was sent in one message with others. */
export interface GroupedIssue {
  issueId: string
  status: IssueStatus
  /** The opening message with the issue's current state. */
  readonly message: Message
}

/** The current status of an issue. */
export interface StatusChange {
  status: IssueStatus
  /** Display name of the user who set the status; null if it was set automatically. */
  by: string | null
  /** The most recent opening message with the issue's current state. */
  message: Message
  /**
   * All issues whose opening was sent in the same message, in order, including this one. Reading this marks the status of all
   * of them as synchronized, so the reader must show them all.
   */
  readonly groupedIssues: readonly GroupedIssue[]
}

/** An issue for which the provider saved a memory. */
export interface LinkedIssue<M = unknown> {
  issueId: string
  status: IssueStatus
  ticketKey: string | null
  memory: M
  /** Target of the channel: an issue can have two channels of one integration, with different details. */
  target: string
}

/** Context for incoming calls and polls. */
export interface InboundContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IntegrationContext<S, T, I> {
  /** Returns the issue with this ticket key, or null. */
  issueByTicket(ticketKey: string): LinkedIssue<M> | null
  /** Returns at most `limit` issues with a memory, unresolved ones first, then the most recent. */
  issues(limit: number): LinkedIssue<M>[]
  /** Saves the memory of an issue: with `target` only for that channel. `ticketKey` is the provider's key for the issue. */
  remember(issueId: string, memory: M, of?: { target?: string; ticketKey?: string }): Promise<void>
  /**
   * Sets an issue's status as changed at the provider. `by` is a user id, or null for the integration. Returns false if the
   * issue already has the status or can't have it. The change is not sent back through this integration, or, with `target`,
   * through that channel of it. It is recorded in the history of an issue with a ticket (`tracker_status`).
   */
  setStatus(issueId: string, status: IssueStatus, by?: string | null, target?: string): boolean
  /** True if `noteCall` recorded this key within the last 7 days. */
  isRepeat(key: string): boolean
  /** Records a call as handled. */
  noteCall(key: string): void
  /** Returns the member with this e-mail address who may change issues, or null. */
  editorOf(email: string): { userId: string } | null
  /** Returns the error with secrets redacted, fit for callers. Errors other than `AppError` are returned unchanged. */
  refusal(error: unknown): Error
  /** Records a change of a domain. Repeats of `source` and `ref` and changes of deleted domains are ignored. */
  noteChange(change: ProviderChange): void
  /**
   * Sets an issue's status as if this member did so in the dashboard. Unlike `setStatus` it is also synchronized to this
   * integration. `was` is the previous status. Returns null if the organization has no such issue.
   */
  setStatusAs(userId: string, issueId: string, status: IssueStatus): { changed: boolean; was: IssueStatus } | null
}

/** A change made at the provider that affects a domain. */
export interface ProviderChange {
  domainId: string
  source: string
  ref: string
  title: string
  occurredAt: Instant
}

/** Context for a long-lived connection. */
export interface ListeningContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends InboundContext<S, M, T, I> {
  /** Opens a `ws:` or `wss:` connection, which is closed when `signal` is aborted. Fails as `call` does. */
  openSocket(url: string): Promise<WebSocketLine>
  /** Reports that the connection works. Repeated calls have no effect. */
  opened(): void
  /** Returns another integration of this provider, of any organization, if it has the same connection key, or null. */
  sharedWith(integrationId: string): InboundContext<S, M, T, I> | null
  /** Reports an error of background work. Never throws. */
  report(error: unknown): void
}
