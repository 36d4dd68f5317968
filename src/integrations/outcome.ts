import { type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { IntegrationStatus } from './integration.ts'
import type { Outbound, Reply } from './transport/transport.ts'

/** `retry`: a repeat may succeed. `broken`: it would meet the same refusal. */
export type Verdict = 'delivered' | 'retry' | 'broken'

/** How one attempt ended. Texts are fit for the delivery log. */
export type Outcome =
  /** `note`: what went wrong all the same; null when nothing did. */
  | { verdict: 'delivered'; note: string | null }
  | { verdict: 'retry'; reason: string; retryAfterMs: number | null }
  /** `status`: what its integration is from now on, where that is not `failing`: nothing goes through it until it is mended. */
  | { verdict: 'broken'; reason: string; status?: IntegrationStatus }
  /**
   * It was too early, by the other side's own limits: the attempt does not count, and what else waits for the channel waits too.
   * `onlyThis`: nothing else does.
   */
  | { verdict: 'wait'; waitMs: number; onlyThis?: true }
  /** The program is being stopped: the attempt does not count. */
  | { verdict: 'stopped' }

/** It arrived, and nothing went wrong. */
export const DELIVERED: Outcome = { verdict: 'delivered', note: null }

export interface AttemptResult {
  outcome: Outcome
  /** No answer came in time. */
  hung: boolean
  /** The beginning of what the other side said last, without secrets, for admins only; empty when it said nothing. */
  answer: string
  /** The other side was asked anything at all. */
  called: boolean
}

/** An attempt with its time, as the log has it. */
export interface TimedAttemptResult extends AttemptResult {
  /** When it began. */
  at: Instant
  durMs: number
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

/**
 * What `Retry-After` asks for; null when it is missing or neither whole seconds nor a date (RFC 9110, section 10.2.3).
 * A date in the past asks for nothing: 0. Not capped: `retryDelayMs` of the delivery does that.
 */
export function retryAfterMs(header: string | undefined, now: Instant): number | null {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * SECOND_MS
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** The wait that a caller of ours is told in `Retry-After`, in whole seconds; undefined when the other side asked for none. */
export function retryAfterS(waitMs: number | null): number | undefined {
  return waitMs === null ? undefined : Math.ceil(waitMs / SECOND_MS)
}

/** What an answer means for the delivery. */
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

/** A call that nobody answered, or that was refused; thrown out of a provider it becomes what `outcomeOf` makes of the reply. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  /** @param reason what is said of it: a provider may know more than the status. */
  constructor(
    readonly reply: Reply,
    reason = reasonOf(reply),
  ) {
    super(reason)
  }

  /** The wait that the answer asks for, in seconds; undefined without one. */
  retryAfterS(now: Instant): number | undefined {
    if (this.reply.kind === 'error') return undefined
    return retryAfterS(retryAfterMs(this.reply.headers['retry-after'], now))
  }
}

/** Nothing goes through the integration until somebody mends it; thrown anywhere in a provider it gets this status. */
export class Unusable extends AppError {
  constructor(
    readonly status: Exclude<IntegrationStatus, 'connected' | 'failing'>,
    message: string,
  ) {
    super('conflict', message)
  }
}

/** What it means for an attempt that this was thrown out of it; null: it is a bug or a damaged row. */
export function outcomeOfError(error: unknown, now: Instant): Outcome | null {
  if (error instanceof CallFailed) {
    const outcome = outcomeOf({ kind: 'http' }, error.reply, now)
    // Who throws away a success did not understand it.
    if (outcome.verdict === 'delivered') return { verdict: 'broken', reason: `${error.message}, not understood` }
    return 'reason' in outcome ? { ...outcome, reason: error.message } : outcome
  }
  if (error instanceof Unusable) return { verdict: 'broken', reason: error.message, status: error.status }
  if (!(error instanceof AppError)) return null
  const mayPass = error.code === 'upstream' || error.code === 'unavailable'
  return mayPass
    ? { verdict: 'retry', reason: error.message, retryAfterMs: null }
    : { verdict: 'broken', reason: error.message }
}
