import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import { deliveryTo, findByType } from '../channel-targets.ts'
import { markSynced, type PendingSync, pendingSyncs, postponeSync } from '../context/issue-memory.ts'
import { LiveIssueContext } from '../context/live-context.ts'
import { assertUsable } from '../delivery/attempt.ts'
import { MAX_RETRY_AFTER_MS, retryDelayMs } from '../delivery/delivery.ts'
import { laneOf } from '../delivery/delivery-queues.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { lockKeyOf } from '../delivery/group-openings.ts'
import { type Outcome, outcomeOfError } from '../delivery-outcome.ts'
import type { Channel } from '../providers/channel.ts'
import { CHANNELS } from '../providers/index.ts'
import { updateIntegrationStatus } from '../store.ts'
import { type CurrentStatusChange, currentStatusChange } from './status-change.ts'

/** Maximum number of channels per run. Further channels are updated in the next run. */
const AT_ONCE = 100
/** Delay before checking again whether an unusable integration has been fixed. */
const MENDED_MS = 5 * MINUTE_MS

/**
 * Updates other services, such as tickets and chat messages, when the status of an issue changes. The database stores
 * only whether the shown status is outdated. Therefore, the latest status is always sent, and a crash loses nothing.
 */
export class StatusSync {
  private readonly inFlight = new Set<string>()

  constructor(private readonly dispatcher: Dispatcher) {}

  /** Starts the due updates for which a slot is free, without waiting for them to finish. */
  start(): void {
    const { db, clock, report, channels = CHANNELS } = this.dispatcher.deps
    if (this.dispatcher.stopping.aborted) return
    for (const channel of pendingSyncs(db, clock.now(), AT_ONCE)) {
      const key = lockKeyOf(db, channel)
      const product = findByType(channels, channel.channelType)
      if (!product) {
        postponeSync(db, channel, null, false)
        continue
      }
      const lane = laneOf(db, channel)
      if (this.inFlight.has(key) || !this.dispatcher.hasRoom(lane)) continue
      this.inFlight.add(key)
      void this.dispatcher
        .track(lane, (ended) => runExclusive(db, key, () => this.sync(channel, product, ended)))

        .catch((error: unknown) => report(error, channel.issueId))
        .finally(() => this.inFlight.delete(key))
    }
  }

  private async sync(channel: PendingSync, product: Channel, ended: (hung: boolean) => void): Promise<void> {
    const { deps, stopping } = this.dispatcher
    const { orgId, channelTarget: target } = channel
    const change = currentStatusChange(deps.db, channel)
    // If no notification of the opening was sent, there is nothing to update.
    if (!change) return postponeSync(deps.db, channel, null, false)
    let context: LiveIssueContext | null = null
    let outcome: Outcome | null = null
    try {
      context = new LiveIssueContext(deps, product, { orgId, channel, target }, stopping)
      assertUsable(context)
      outcome = await deliveryTo(deps.db, product, target).syncStatus(context, change)
    } catch (error) {
      outcome = outcomeOfError(error, deps.clock.now())
      if (!outcome) deps.report(context?.withoutSecrets(error) ?? error, channel.issueId)
    }
    ended(context?.hung ?? false)
    if (stopping.aborted && outcome?.verdict !== 'delivered') return
    // Without a call, the outcome says nothing about the integration.
    const isInformative = context?.asked || outcome?.verdict !== 'delivered'
    this.record(channel, change, isInformative ? (context?.integrationId ?? null) : null, outcome)
  }

  private record(channel: PendingSync, change: CurrentStatusChange, id: string | null, outcome: Outcome | null): void {
    const { db, clock, jitter } = this.dispatcher.deps
    const now = clock.now()
    if (outcome) updateIntegrationStatus(db, id, outcome)
    const shown = change.shown.map(({ issueId, status }) => ({ ...channel, issueId, status }))
    if (outcome?.verdict === 'delivered') {
      for (const one of shown) markSynced(db, one, one.status)
      return
    }
    // Other issues in the same message are postponed as well, because their updates would be rejected too.
    const later = (at: Instant | null, counts: boolean) => {
      for (const one of shown) postponeSync(db, one, at, counts)
    }
    if (outcome?.verdict === 'wait') return later(now + Math.min(outcome.waitMs, MAX_RETRY_AFTER_MS), false)
    if (outcome?.verdict === 'broken' && outcome.status) return later(now + MENDED_MS, false)
    const delay =
      outcome?.verdict === 'retry' ? retryDelayMs(channel.syncAttempts + 1, outcome.retryAfterMs, jitter()) : null
    later(delay === null ? null : now + delay, true)
  }
}
