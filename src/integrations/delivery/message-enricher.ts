import { type Clock, type Instant, SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { FairQueue } from '../../core/fair-queue.ts'
import { type Db, prepared } from '../../store/database.ts'
import { hasHistory, withHistory } from '../message/add-event-history.ts'
import { isIssueState, type Message, type MessageHistory } from '../message/message.ts'
import type { DeliveryRecord } from './delivery.ts'

/**
 * Queries the event history of an issue until the signal is aborted. Parts that are not ready by then are null. Returns
 * null if the issue does not exist.
 */
export type FetchHistory = (issue: { orgId: string; id: string }, signal: AbortSignal) => Promise<MessageHistory | null>

/** Maximum time that a notification waits for the history. */
const TIMEOUT_MS = 1500
/** Fraction of the timeout after which running queries are cancelled and the finished parts are used. */
const ANSWER_SHARE = 0.8
/**
 * Period after a failure or timeout during which the organization's notifications skip the history, so that a slow
 * engine delays only one notification.
 */
export const PAUSE_AFTER_FAILURE_MS = 30 * SECOND_MS
/** Repeats and resolutions that are later than this skip the history, because many other notifications are waiting. */
const LATE_MS = 10 * SECOND_MS
/** Maximum number of issues queried concurrently. */
const AT_ONCE = 2

interface MessageEnricherDeps {
  db: Db
  clock: Clock
  fetchHistory: FetchHistory
  /** Reports a bug. The notification is sent without history. */
  report(error: unknown, deliveryId: string): void
  /** Default: 1.5 s. */
  timeoutMs?: number
}

/** Adds data from the event history to messages before their first attempt. Create one instance per database. */
export class MessageEnricher {
  /** Running queries by notice. Several channels of a notice share one query. */
  private readonly pending = new Map<string, Promise<MessageHistory | null>>()
  private readonly queue = new FairQueue(AT_ONCE)
  /** Time of the last failure by organization, so that a slow organization does not affect other organizations. */
  private readonly failedAt = new Map<string, Instant>()

  constructor(private readonly deps: MessageEnricherDeps) {}

  /**
   * Returns the message with data from the history and stores it for all deliveries of its notice. The message is
   * returned unchanged if it does not report an issue's state, was already sent or enriched, or is a late repeat or
   * resolution. It is also returned unchanged if the history does not respond in time. Never fails.
   */
  async enrich(delivery: DeliveryRecord, message: Message, stopping: AbortSignal): Promise<Message> {
    const { issueId, noticeKey, orgId } = delivery
    if (issueId === null || hasHistory(message) || !this.isEligible(delivery) || this.isPaused(orgId)) return message
    const asking = this.pending.get(noticeKey) ?? this.ask({ orgId, id: issueId }, stopping)
    this.pending.set(noticeKey, asking)
    try {
      const history = await asking
      return history ? this.store(noticeKey, withHistory(message, history)) : message
    } catch (error) {
      this.failed(orgId)
      if (!(error instanceof AppError)) this.deps.report(error, delivery.id)
      return message
    } finally {
      this.pending.delete(noticeKey)
    }
  }

  private isEligible({ transition, attempts, dueAt }: DeliveryRecord): boolean {
    if (attempts > 1) return false
    if (transition === 'opened' || transition === 'reopened') return true
    return isIssueState(transition) && this.deps.clock.now() - dueAt < LATE_MS
  }

  private failed(orgId: string): void {
    for (const id of this.failedAt.keys()) if (!this.isPaused(id)) this.failedAt.delete(id)
    this.failedAt.set(orgId, this.deps.clock.now())
  }

  private isPaused(orgId: string): boolean {
    const sinceMs = this.deps.clock.now() - (this.failedAt.get(orgId) ?? Number.NEGATIVE_INFINITY)
    // The difference is negative after the clock was set back.
    return sinceMs >= 0 && sinceMs < PAUSE_AFTER_FAILURE_MS
  }

  /** Queries the history. Null if the issue does not exist or the history was too slow. */
  private async ask(issue: { orgId: string; id: string }, stopping: AbortSignal): Promise<MessageHistory | null> {
    const late = new AbortController()
    const signal = AbortSignal.any([stopping, late.signal])
    const { timeoutMs = TIMEOUT_MS } = this.deps
    const timers = [setTimeout(() => late.abort(), timeoutMs * ANSWER_SHARE)]
    const tooLate = new Promise<null>((resolve) => {
      timers.push(setTimeout(() => resolve(null), timeoutMs))
      stopping.addEventListener('abort', () => resolve(null), { once: true })
    })
    const shares = [{ name: issue.orgId, maxRunning: AT_ONCE, maxWaiting: Number.POSITIVE_INFINITY }]
    try {
      const answer = this.queue.run(() => this.deps.fetchHistory(issue, signal), { shares, signal })
      return await Promise.race([answer, tooLate])
    } finally {
      for (const timer of timers) clearTimeout(timer)
      if (late.signal.aborted) this.failed(issue.orgId)
    }
  }

  private store(noticeKey: string, message: Message): Message {
    const sql = `UPDATE delivery SET message = ? WHERE noticeKey = ? AND status IN ('pending', 'sending')`
    prepared(this.deps.db, sql).run(JSON.stringify(message), noticeKey)
    return message
  }
}
