import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { Outcome } from '../delivery-outcome.ts'
import type { DeliveryRecord } from './delivery.ts'
import type { Queue } from './delivery-queues.ts'

type QueueKey = Pick<Queue, 'orgId' | 'channelTarget'>

type RateLimited = Pick<DeliveryRecord, 'id' | 'seq'>

interface Pause {
  until: Instant
  /** Rate-limited deliveries, oldest first. They are the first to be sent after the pause. */
  rateLimited: RateLimited[]
}

/** Maximum pause. If a receiver requests a longer pause, deliveries are still attempted again after this time. */
const MAX_PAUSE_MS = 5 * MINUTE_MS

/**
 * Queues that are paused because the other service applied a rate limit and would reject further deliveries. Kept in
 * memory only: after a restart, a delivery sent too early is merely rate-limited again.
 */
export class Pauses {
  private readonly pauses = new Map<string, Pause>()

  note(delivery: Pick<DeliveryRecord, 'id' | 'seq' | 'orgId' | 'channelTarget'>, outcome: Outcome, now: Instant): void {
    const key = keyOf(delivery)
    const asked = requestedPause(outcome)
    const { until = 0, rateLimited = [] } = this.pauses.get(key) ?? {}
    const others = rateLimited.filter(({ id }) => id !== delivery.id)
    if (asked === null) {
      if (others.length > 0) this.pauses.set(key, { until, rateLimited: others })
      // A delivery that was not rate-limited does not end the pause.
      else if (rateLimited.length > 0) this.pauses.delete(key)
      return
    }
    this.pauses.set(key, {
      until: Math.max(until, now + Math.min(asked, MAX_PAUSE_MS)),
      rateLimited: outcome.verdict === 'wait' ? [...others, delivery].sort((a, b) => a.seq - b.seq) : others,
    })
  }

  isPaused(queue: QueueKey, now: Instant): boolean {
    return (this.pauses.get(keyOf(queue))?.until ?? now) > now
  }

  /** Returns ids of the queue's deliveries that are to be sent first, oldest first. */
  firstOf(queue: QueueKey): string[] {
    return (this.pauses.get(keyOf(queue))?.rateLimited ?? []).map(({ id }) => id)
  }

  /** Removes pauses that ended before the instant `before`. */
  tidy(before: Instant): void {
    for (const [key, { until }] of this.pauses) if (until < before) this.pauses.delete(key)
  }

  clear(): void {
    this.pauses.clear()
  }
}

const keyOf = ({ orgId, channelTarget }: QueueKey) => `${orgId} ${channelTarget}`

/** Pause in ms requested by the other service. Null if it requested none. */
function requestedPause(outcome: Outcome): number | null {
  if (outcome.verdict === 'wait') return outcome.onlyThis ? null : outcome.waitMs
  return outcome.verdict === 'retry' ? outcome.retryAfterMs : null
}
