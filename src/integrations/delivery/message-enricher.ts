import { type Clock, type Instant, SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { FairQueue } from '../../core/fair-queue.ts'
import { type Db, prepared } from '../../store/database.ts'
import type { Message, MessageHistory } from '../message/message.ts'
import { hasHistory, withHistory } from '../message/message-history.ts'
import type { DeliveryRecord } from './delivery.ts'

/**
 * Asks the event history about an issue, until the signal ends; what was not answered by then is null. Null: there is no
 * such issue.
 */
export type FetchHistory = (issue: { orgId: string; id: string }, signal: AbortSignal) => Promise<MessageHistory | null>

/** A notice waits no longer for the history. */
const TIMEOUT_MS = 1500
/** After this share of it nothing more is asked, and what was answered by then is told. */
const ANSWER_SHARE = 0.8
/** After a timeout or failure an organization's notices go without for so long: a slow engine holds up one of them, and not each. */
export const PAUSE_AFTER_FAILURE_MS = 30 * SECOND_MS
/** Repeats and resolutions that are so late wait behind many others, and hold up none of them. */
const LATE_MS = 10 * SECOND_MS
/** Issues that are asked about at once. */
const AT_ONCE = 2

export interface MessageEnricherDeps {
  db: Db
  clock: Clock
  fetchHistory: FetchHistory
  /** Told of what is a bug; the notice goes without. */
  report(error: unknown, deliveryId: string): void
  /** Default: 1.5 s. */
  timeoutMs?: number
}

/** Completes messages, before they are first sent, with what only the event history knows. One for each database. */
export class MessageEnricher {
  /** By notice: several channels are told the same. */
  private readonly asked = new Map<string, Promise<MessageHistory | null>>()
  private readonly queue = new FairQueue(AT_ONCE)
  /** By organization: one whose history is slow costs no other anything. */
  private readonly failedAt = new Map<string, Instant>()

  constructor(private readonly deps: MessageEnricherDeps) {}

  /**
   * Returns the message with what the history knows, which is stored with all deliveries of its notice. Returns it
   * unchanged when it is about no state of an issue, when it was sent or asked about before, when it is a repeat or
   * resolution that is late, and when no answer comes in time. Never fails.
   */
  async enrich(delivery: DeliveryRecord, message: Message, stopping: AbortSignal): Promise<Message> {
    const { issueId, noticeKey, orgId } = delivery
    if (issueId === null || hasHistory(message) || !this.isAsked(delivery) || this.isPaused(orgId)) return message
    const asking = this.asked.get(noticeKey) ?? this.ask({ orgId, id: issueId }, stopping)
    this.asked.set(noticeKey, asking)
    try {
      const history = await asking
      return history ? this.keep(noticeKey, withHistory(message, history)) : message
    } catch (error) {
      this.failed(orgId)
      if (!(error instanceof AppError)) this.deps.report(error, delivery.id)
      return message
    } finally {
      this.asked.delete(noticeKey)
    }
  }

  private isAsked({ transition, attempts, dueAt }: DeliveryRecord): boolean {
    if (attempts > 1) return false
    if (transition === 'opened' || transition === 'reopened') return true
    return transition !== 'test' && transition !== 'delivery_failed' && this.deps.clock.now() - dueAt < LATE_MS
  }

  private failed(orgId: string): void {
    for (const id of this.failedAt.keys()) if (!this.isPaused(id)) this.failedAt.delete(id)
    this.failedAt.set(orgId, this.deps.clock.now())
  }

  private isPaused(orgId: string): boolean {
    const sinceMs = this.deps.clock.now() - (this.failedAt.get(orgId) ?? Number.NEGATIVE_INFINITY)
    // Of a clock that was put back nothing is known.
    return sinceMs >= 0 && sinceMs < PAUSE_AFTER_FAILURE_MS
  }

  /** Null also when the history was too slow. */
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

  private keep(noticeKey: string, message: Message): Message {
    const sql = `UPDATE delivery SET message = ? WHERE noticeKey = ? AND status IN ('pending', 'sending')`
    prepared(this.deps.db, sql).run(JSON.stringify(message), noticeKey)
    return message
  }
}
