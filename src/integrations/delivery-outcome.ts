import { type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Outbound, Reply } from '../transport/transport.ts'
import type { SentRequest } from './context/sent-request.ts'
import type { IntegrationStatus } from './integration.ts'

/** `retry`: another attempt may succeed. `broken`: another attempt would also fail. */
export type Verdict = 'delivered' | 'retry' | 'broken'

/** Outcome of one attempt. Its texts are safe for the delivery log. */
export type Outcome =
  /** `note`: a problem that occurred although the message was delivered. Null if there was none. */
  | { verdict: 'delivered'; note: string | null }
  | { verdict: 'retry'; reason: string; retryAfterMs: number | null }
  /**
   * `status`: new status of the integration if it is not `failing`. Nothing is sent through the integration until it is
   * fixed.
   */
  | { verdict: 'broken'; reason: string; status?: IntegrationStatus }
  /**
   * Rate-limited by the other service. The attempt does not count. Other deliveries to the channel wait as well, unless
   * `onlyThis` is set.
   */
  | { verdict: 'wait'; waitMs: number; onlyThis?: true }
  /** The server is shutting down. The attempt does not count. */
  | { verdict: 'stopped' }

/** The outcome of a delivery without problems. */
export const DELIVERED: Outcome = { verdict: 'delivered', note: null }

export interface AttemptResult {
  outcome: Outcome
  /** True if no response arrived in time. */
  hung: boolean
  /** Beginning of the last response without secrets, shown to admins only. Empty if there was no response. */
  answer: string
  /** True if the other service was called. */
  called: boolean
  /** Requests of the attempt with their responses, in order. */
  requests: readonly SentRequest[]
}

/** A logged attempt with its time. */
export interface TimedAttemptResult extends AttemptResult {
  /** Start of the attempt. */
  at: Instant
  durMs: number
}

/** Statuses below 500 that may succeed later. Every other 4xx is permanent. */
const NOT_NOW = [408, 425, 429]

/**
 * Returns the verdict for a reply. Only 2xx is success. Redirects fail because their destination was not checked.
 * Source: Standard Webhooks 1.0.0,
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function verdictOf(reply: Reply): Verdict {
  if (reply.kind === 'error') return reply.permanent ? 'broken' : 'retry'
  const { status } = reply
  if (status >= 200 && status < 300) return 'delivered'
  return NOT_NOW.includes(status) || (status >= 500 && status < 600) ? 'retry' : 'broken'
}

/**
 * Delay in ms requested by `Retry-After`. Null if the header is missing or is neither whole seconds nor a date (RFC
 * 9110, section 10.2.3). A date in the past gives 0. The delay is limited by `retryDelayMs`, not here.
 */
export function retryAfterMs(header: string | undefined, now: Instant): number | null {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * SECOND_MS
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/**
 * Value of the `Retry-After` header in Tagwarden's own responses, in whole seconds. Undefined if no delay was
 * requested.
 */
export function retryAfterS(waitMs: number | null): number | undefined {
  return waitMs === null ? undefined : Math.ceil(waitMs / SECOND_MS)
}

/** Maps a reply to the outcome of a delivery. */
export function outcomeOf(outbound: Pick<Outbound, 'kind'>, reply: Reply, now: Instant): Outcome {
  const verdict = verdictOf(reply)
  if (verdict === 'delivered') {
    const note = outbound.kind === 'mail' && reply.kind === 'status' && reply.body !== '' ? reply.body : null
    return { verdict, note }
  }
  const reason = reasonOf(reply)
  if (verdict === 'broken') return { verdict, reason }
  return {
    verdict,
    reason,
    retryAfterMs: reply.kind === 'status' ? retryAfterMs(reply.headers['retry-after'], now) : null,
  }
}

function reasonOf(reply: Reply): string {
  if (reply.kind === 'error') return reply.message
  const redirected = reply.status >= 300 && reply.status < 400
  return redirected ? `HTTP ${reply.status}: redirects are not followed` : `HTTP ${reply.status}`
}

/**
 * A call that received no response or an error status. If a provider throws this error, the outcome is derived from the
 * reply.
 */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  /** @param reason Text for the log, if the provider knows more than the status code. */
  constructor(
    readonly reply: Reply,
    reason = reasonOf(reply),
  ) {
    super(reason)
  }

  /** Delay in seconds requested by the response. Undefined if it requested none. */
  retryAfterS(now: Instant): number | undefined {
    if (this.reply.kind === 'error') return undefined
    return retryAfterS(retryAfterMs(this.reply.headers['retry-after'], now))
  }
}

/**
 * Reports that the integration cannot be used until someone fixes it. If a provider throws this error, the integration
 * gets the given status.
 */
export class Unusable extends AppError {
  constructor(
    readonly status: Exclude<IntegrationStatus, 'connected' | 'failing'>,
    message: string,
  ) {
    super('conflict', message)
  }
}

/** Outcome of an attempt that threw this error. Null for a bug or a corrupt row. */
export function outcomeOfError(error: unknown, now: Instant): Outcome | null {
  if (error instanceof CallFailed) {
    const outcome = outcomeOf({ kind: 'http' }, error.reply, now)
    // The call succeeded, but the provider could not parse the response.
    if (outcome.verdict === 'delivered') return { verdict: 'broken', reason: `${error.message}, unexpected response` }
    return 'reason' in outcome ? { ...outcome, reason: error.message } : outcome
  }
  if (error instanceof Unusable) return { verdict: 'broken', reason: error.message, status: error.status }
  if (!(error instanceof AppError)) return null
  const mayPass = error.code === 'upstream' || error.code === 'unavailable'
  return mayPass
    ? { verdict: 'retry', reason: error.message, retryAfterMs: null }
    : { verdict: 'broken', reason: error.message }
}
