import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import { issuesToSync, synced, syncLater, type ToSync } from '../context/issue-memory.ts'
import { OpenIssue } from '../context/open-context.ts'
import { refuseUnusable } from '../delivery/attempt.ts'
import { MAX_RETRY_AFTER_MS, retryDelayMs } from '../delivery/delivery.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { lockOf } from '../delivery/grouping.ts'
import { wayOf } from '../delivery/queues.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { Provider } from '../providers/provider.ts'
import { type Outcome, outcomeOfError } from '../reply.ts'
import { noteOutcome } from '../standing.ts'
import { findProvider } from '../targets.ts'
import { changeOf, type PresentChange } from './status-change.ts'

/** Looked at in one round; the others follow in the next. */
const AT_ONCE = 100
/** When it is looked again if somebody has mended an integration. */
const MENDED_MS = 5 * MINUTE_MS

/**
 * Shows other sides how issues stand of which their providers remember something. What is stored is only that an issue's status
 * is another one than was shown, so the latest is what is shown, and a kill loses nothing.
 */
export class StatusSync {
  private readonly underWay = new Set<string>()

  constructor(private readonly dispatcher: Dispatcher) {}

  /** Begins what is due and has a place, without waiting for it. */
  start(): void {
    const { db, clock, report, providers = PROVIDERS } = this.dispatcher.parts
    if (this.dispatcher.stopping.aborted) return
    for (const channel of issuesToSync(db, clock.now(), AT_ONCE)) {
      const key = lockOf(db, channel)
      const provider = findProvider(providers, channel.channelType)
      if (!provider?.syncStatus) {
        syncLater(db, channel, null, false)
        continue
      }
      const way = wayOf(db, channel)
      if (this.underWay.has(key) || !this.dispatcher.hasRoom(way)) continue
      this.underWay.add(key)
      void this.dispatcher
        .visit(way, (ended) => runExclusive(db, key, () => this.sync(channel, provider, ended)))
        .catch((error: unknown) => report(error, channel.issueId))
        .finally(() => this.underWay.delete(key))
    }
  }

  private async sync(channel: ToSync, provider: Provider, ended: (hung: boolean) => void): Promise<void> {
    const { parts, stopping } = this.dispatcher
    const { orgId, channelTarget: target } = channel
    const change = changeOf(parts.db, channel)
    // Without a word of its opening there is nothing that could be shown anew.
    if (!change) return syncLater(parts.db, channel, null, false)
    let context: OpenIssue | null = null
    let outcome: Outcome | null = null
    try {
      context = new OpenIssue(parts, provider, { orgId, channel, target }, stopping)
      refuseUnusable(context)
      outcome = (await provider.syncStatus?.(context, change)) ?? null
    } catch (error) {
      outcome = outcomeOfError(error, parts.clock.now())
      if (!outcome) parts.report(context?.withoutSecrets(error) ?? error, channel.issueId)
    }
    ended(context?.hung ?? false)
    if (stopping.aborted && outcome?.verdict !== 'delivered') return
    // Nothing is known of an integration that was not asked.
    const isTold = context?.asked || outcome?.verdict !== 'delivered'
    this.record(channel, change, isTold ? (context?.integrationId ?? null) : null, outcome)
  }

  private record(channel: ToSync, change: PresentChange, id: string | null, outcome: Outcome | null): void {
    const { db, clock, jitter } = this.dispatcher.parts
    const now = clock.now()
    if (outcome) noteOutcome(db, id, outcome)
    const told = change.shown.map(({ issueId, status }) => ({ ...channel, issueId, status }))
    if (outcome?.verdict === 'delivered') {
      for (const one of told) synced(db, one, one.status)
      return
    }
    // Who shares the message waits with it: it would be refused just the same.
    const later = (at: Instant | null, counts: boolean) => {
      for (const one of told) syncLater(db, one, at, counts)
    }
    if (outcome?.verdict === 'wait') return later(now + Math.min(outcome.waitMs, MAX_RETRY_AFTER_MS), false)
    if (outcome?.verdict === 'broken' && outcome.status) return later(now + MENDED_MS, false)
    const delay =
      outcome?.verdict === 'retry' ? retryDelayMs(channel.syncAttempts + 1, outcome.retryAfterMs, jitter()) : null
    later(delay === null ? null : now + delay, true)
  }
}
