import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import { markSynced, type PendingSync, pendingSyncs, postponeSync } from '../context/issue-memory.ts'
import { LiveIssueContext } from '../context/live-context.ts'
import { assertUsable } from '../delivery/attempt.ts'
import { MAX_RETRY_AFTER_MS, retryDelayMs } from '../delivery/delivery.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { lockKeyOf } from '../delivery/grouping.ts'
import { laneOf } from '../delivery/queues.ts'
import { type Outcome, outcomeOfError } from '../outcome.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { Provider } from '../providers/provider.ts'
import { updateIntegrationStatus } from '../store.ts'
import { findProvider } from '../targets.ts'
import { type CurrentStatusChange, currentStatusChange } from './status-change.ts'

/** Looked at in one round; the others follow in the next. */
const AT_ONCE = 100
/** When it is looked again if somebody has mended an integration. */
const MENDED_MS = 5 * MINUTE_MS

/**
 * Shows other sides how issues stand of which their providers remember something. What is stored is only that an issue's status
 * is another one than was shown, so the latest is what is shown, and a kill loses nothing.
 */
export class StatusSync {
  private readonly inFlight = new Set<string>()

  constructor(private readonly dispatcher: Dispatcher) {}

  /** Begins what is due and has a place, without waiting for it. */
  start(): void {
    const { db, clock, report, providers = PROVIDERS } = this.dispatcher.deps
    if (this.dispatcher.stopping.aborted) return
    for (const channel of pendingSyncs(db, clock.now(), AT_ONCE)) {
      const key = lockKeyOf(db, channel)
      const provider = findProvider(providers, channel.channelType)
      if (!provider?.syncStatus) {
        postponeSync(db, channel, null, false)
        continue
      }
      const lane = laneOf(db, channel)
      if (this.inFlight.has(key) || !this.dispatcher.hasRoom(lane)) continue
      this.inFlight.add(key)
      void this.dispatcher
        .track(lane, (ended) => runExclusive(db, key, () => this.sync(channel, provider, ended)))

        .catch((error: unknown) => report(error, channel.issueId))
        .finally(() => this.inFlight.delete(key))
    }
  }

  private async sync(channel: PendingSync, provider: Provider, ended: (hung: boolean) => void): Promise<void> {
    const { deps, stopping } = this.dispatcher
    const { orgId, channelTarget: target } = channel
    const change = currentStatusChange(deps.db, channel)
    // Without a word of its opening there is nothing that could be shown anew.
    if (!change) return postponeSync(deps.db, channel, null, false)
    let context: LiveIssueContext | null = null
    let outcome: Outcome | null = null
    try {
      context = new LiveIssueContext(deps, provider, { orgId, channel, target }, stopping)
      assertUsable(context)
      outcome = (await provider.syncStatus?.(context, change)) ?? null
    } catch (error) {
      outcome = outcomeOfError(error, deps.clock.now())
      if (!outcome) deps.report(context?.withoutSecrets(error) ?? error, channel.issueId)
    }
    ended(context?.hung ?? false)
    if (stopping.aborted && outcome?.verdict !== 'delivered') return
    // Nothing is known of an integration that was not asked.
    const isTold = context?.asked || outcome?.verdict !== 'delivered'
    this.record(channel, change, isTold ? (context?.integrationId ?? null) : null, outcome)
  }

  private record(channel: PendingSync, change: CurrentStatusChange, id: string | null, outcome: Outcome | null): void {
    const { db, clock, jitter } = this.dispatcher.deps
    const now = clock.now()
    if (outcome) updateIntegrationStatus(db, id, outcome)
    const told = change.shown.map(({ issueId, status }) => ({ ...channel, issueId, status }))
    if (outcome?.verdict === 'delivered') {
      for (const one of told) markSynced(db, one, one.status)
      return
    }
    // Who shares the message waits with it: it would be refused just the same.
    const later = (at: Instant | null, counts: boolean) => {
      for (const one of told) postponeSync(db, one, at, counts)
    }
    if (outcome?.verdict === 'wait') return later(now + Math.min(outcome.waitMs, MAX_RETRY_AFTER_MS), false)
    if (outcome?.verdict === 'broken' && outcome.status) return later(now + MENDED_MS, false)
    const delay =
      outcome?.verdict === 'retry' ? retryDelayMs(channel.syncAttempts + 1, outcome.retryAfterMs, jitter()) : null
    later(delay === null ? null : now + delay, true)
  }
}
