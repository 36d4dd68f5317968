import type { Instant } from '../../core/clock.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import type { HttpMethod, Outbound, Reply, WebSocketLine } from '../../transport/transport.ts'
import type { Message } from '../message/message.ts'

/** An HTTP request to the provider. */
export interface CallRequest {
  method: HttpMethod
  url: string
  headers?: Record<string, string>
  body?: string
  /** Maximum size of the response body. A larger body fails the call. Default 64 KiB, maximum 32 MiB. */
  maxAnswerBytes?: number
  /** Time limit in ms, from the DNS lookup to the last byte of the response. Default 15 s. */
  timeoutMs?: number
}

export interface CallAnswer {
  status: number
  /** Response headers. Names are in lower case. */
  headers: Record<string, string>
  body: string
}

/** A server-wide quota that permits at most `calls` in any window of `windowMs`. */
export interface Quota {
  calls: number
  windowMs: number
}

/** An OAuth 2.0 token response: RFC 6749, section 5.1. */
export interface AccessTokens {
  accessToken: string
  /** Expiry. Null if the provider did not specify one. */
  until: Instant | null
  /** Absent if there is no refresh token or the current one remains valid. */
  refreshToken?: string
}

/** Settings, state and network access of an integration. */
export interface IntegrationContext<S extends object = object, T extends object = object, I = unknown> {
  readonly orgId: string
  /** Null for a direct address. */
  readonly integrationId: string | null
  readonly settings: S
  /** Values of the server-wide settings, by name. */
  readonly operator: Readonly<Record<string, string>>
  /** Aborted at shutdown, after the time limit, or when the caller disconnects. */
  readonly signal: AbortSignal
  now(): Instant
  /** Sends a request or e-mail and returns the reply, including an error. Reads at most 64 KiB of a response. */
  send(outbound: Outbound): Promise<Reply>
  /**
   * Makes a call and returns the response regardless of its status. Fails with `CallFailed` if there is no response. In
   * that case the request may still have taken effect.
   */
  call(request: CallRequest): Promise<CallAnswer>
  /** Like `call`, but also fails with `CallFailed` unless the status is 2xx. */
  callOk(request: CallRequest): Promise<CallAnswer>
  /** The currently stored tokens. Empty for a direct address. */
  readonly tokens: Partial<T>
  /**
   * Replaces the tokens. An integration runs one renewal at a time. `work` runs when the previous renewal has finished
   * and can read the current `tokens`. Its result is stored encrypted before the promise resolves, or discarded if the
   * integration was reconfigured during the renewal.
   */
  renew(work: () => Promise<Partial<T>>): Promise<void>
  /**
   * Requests tokens with a form that contains the grant and the client (RFC 6749, section 3.2). Fails with `Unusable`
   * if the grant is no longer valid and a user has to sign in again. Otherwise fails as `callOk` does. Call this inside
   * `renew`.
   */
  fetchTokens(url: string, form: Record<string, string>): Promise<AccessTokens>
  /**
   * Returns the stored access token. If the token expires within a minute, a single fetch renews it for all waiting
   * callers.
   */
  accessToken(fetch: () => Promise<AccessTokens>): Promise<string>
  /**
   * Makes a call within a server-wide quota, waiting for a slot if necessary. The quota persists across restarts.
   * `waits` is called with the end time of each wait, and with null when the wait is over. Fails as `call` does.
   */
  withinQuota<R>(quota: Quota, call: () => Promise<R>, waits: (until: Instant | null) => void): Promise<R>
  /** Saved state of the integration. Null if nothing was saved, and for a direct address. */
  readonly state: I | null
  /** Saves the state. Resolves once it is stored. */
  saveState(state: I): Promise<void>
  /** Returns the value saved under a provider-defined key. Null if there is none. */
  record(key: string): unknown
  records(): { key: string; value: unknown }[]
  /** Saves a value of at most 64 KiB of JSON. The value is stored before this method returns. */
  saveRecord(key: string, value: unknown): void
}

/** Context for work on one issue. */
export interface IssueContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IntegrationContext<S, T, I> {
  /** The part of the target after the colon. Null if there is none. */
  readonly detail: string | null
  /** The most recently saved memory. Null if there is none, and for a message that is not about an issue. */
  readonly memory: M | null
  /**
   * Saves a checkpoint from which the next attempt continues, even after a crash. Resolves once the checkpoint is
   * stored. The memory is limited to 64 KiB of JSON. `ticketKey` is the provider's key for the issue and is shown as
   * the issue's `trackerKey`.
   */
  remember(memory: M, ticketKey?: string): Promise<void>
}

/** Context for one delivery. */
export interface DeliveryContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IssueContext<S, M, T, I> {
  /** Id of the delivery. It is the same for every attempt. */
  readonly deliveryId: string
  /** True if the delivery succeeded before and is being replayed. */
  readonly isReplay: boolean
}

/** Context for several issue openings that are sent as one message. Each member has its own memory. */
export type GroupContext<S extends object = object, M = unknown, T extends object = object, I = unknown> = Omit<
  IssueContext<S, M, T, I>,
  'memory' | 'remember'
>

/**
 * One of several openings that are sent as one message. `message` and `memory` are read from the store on every access.
 */
export interface GroupMember<M = unknown> {
  /** Id of the member's delivery. It is the same for every attempt. */
  readonly deliveryId: string
  readonly issueId: string
  /** True if the delivery succeeded before and is being replayed. */
  readonly isReplay: boolean
  readonly message: Message
  /** The most recently saved memory of the issue. Null if there is none. */
  readonly memory: M | null
  /** See `IssueContext.remember`. */
  remember(memory: M, ticketKey?: string): Promise<void>
}

/** An issue whose opening was sent in one message together with other openings. */
export interface GroupedIssue {
  issueId: string
  status: IssueStatus
  /** The opening message, updated with the issue's current state. */
  readonly message: Message
}

/** The current status of an issue. */
export interface StatusChange {
  status: IssueStatus
  /** Display name of the user who set the status. Null if it was set automatically. */
  by: string | null
  /** The most recent opening message, updated with the issue's current state. */
  message: Message
  /**
   * All issues whose opening was sent in the same message, in order, including this one. A provider that reads this
   * property must show all of these issues, because all of their statuses are then marked as synchronized.
   */
  readonly groupedIssues: readonly GroupedIssue[]
}

/** An issue for which the provider saved a memory. */
export interface LinkedIssue<M = unknown> {
  issueId: string
  status: IssueStatus
  ticketKey: string | null
  memory: M
  /** Target of the channel. An issue can have two channels of the same integration with different details. */
  target: string
}

/** Context for inbound calls and polls. */
export interface InboundContext<S extends object = object, M = unknown, T extends object = object, I = unknown>
  extends IntegrationContext<S, T, I> {
  /** Returns the issue with this ticket key. Null if there is none. */
  issueByTicket(ticketKey: string): LinkedIssue<M> | null
  /** Returns at most `limit` issues that have a memory. Unresolved issues come first, then the most recent ones. */
  issues(limit: number): LinkedIssue<M>[]
  /**
   * Saves the memory of an issue. If `target` is given, saves it only for that channel. `ticketKey` is the provider's
   * key for the issue.
   */
  remember(issueId: string, memory: M, of?: { target?: string; ticketKey?: string }): Promise<void>
  /**
   * Sets an issue's status to one that was set at the provider. `by` is a user id, or null for the integration. Returns
   * false if the issue already has the status or can't have it. The change is not sent back through this integration
   * or, if `target` is given, through that channel of the integration. If the issue has a ticket, the change is
   * recorded in its history (`tracker_status`).
   */
  setStatus(issueId: string, status: IssueStatus, by?: string | null, target?: string): boolean
  /** True if `noteCall` recorded this key within the last 7 days. */
  isRepeat(key: string): boolean
  /** Records a call as handled. */
  noteCall(key: string): void
  /** Returns the member with this e-mail address if the member may change issues, otherwise null. */
  editorOf(email: string): { userId: string } | null
  /** Returns the error to send to the caller, with secrets redacted. */
  refusal(error: unknown): Error
  /**
   * Records a change to a domain. Ignores a change with the same `source` and `ref` as an earlier one, and changes to
   * deleted domains.
   */
  noteChange(change: ProviderChange): void
  /**
   * Sets an issue's status as if this member had set it in the dashboard. Unlike with `setStatus`, the change is also
   * synchronized to this integration. `was` is the previous status. Returns null if the organization has no such issue.
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
  /** Opens a `ws:` or `wss:` connection. The connection is closed when `signal` is aborted. Fails as `call` does. */
  openSocket(url: string): Promise<WebSocketLine>
  /** Reports that the connection works. Further calls have no effect. */
  opened(): void
  /**
   * Returns the context of another integration of this provider, in any organization, if it has the same connection
   * key. Otherwise null.
   */
  sharedWith(integrationId: string): InboundContext<S, M, T, I> | null
  /** Reports an error in background work. Never throws. */
  report(error: unknown): void
}
