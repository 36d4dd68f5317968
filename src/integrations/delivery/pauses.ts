import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { Outcome } from '../outcome.ts'
import type { DeliveryRecord } from './delivery.ts'
import type { Queue } from './queues.ts'

type QueueKey = Pick<Queue, 'orgId' | 'channelTarget'>

type TurnedAway = Pick<DeliveryRecord, 'id' | 'seq'>

interface Pause {
  until: Instant
  /** Deliveries that met the limit, oldest first: they go first when the pause is over. */
  turnedAway: TurnedAway[]
}

/** A receiver may ask for more, but what comes meanwhile is tried then. */
const MAX_PAUSE_MS = 5 * MINUTE_MS

/**
 * Queues whose other side wants no more for a while: what else waits in them would be turned away too. Nothing of it is
 * stored, because a delivery that goes too early is only told again to wait.
 */
export class Pauses {
  private readonly pauses = new Map<string, Pause>()

  note(delivery: Pick<DeliveryRecord, 'id' | 'seq' | 'orgId' | 'channelTarget'>, outcome: Outcome, now: Instant): void {
    const key = keyOf(delivery)
    const asked = askedFor(outcome)
    const { until = 0, turnedAway = [] } = this.pauses.get(key) ?? {}
    const others = turnedAway.filter(({ id }) => id !== delivery.id)
    if (asked === null) {
      if (others.length > 0) this.pauses.set(key, { until, turnedAway: others })
      // One that was not turned away itself says nothing about the pause.
      else if (turnedAway.length > 0) this.pauses.delete(key)
      return
    }
    this.pauses.set(key, {
      until: Math.max(until, now + Math.min(asked, MAX_PAUSE_MS)),
      turnedAway: outcome.verdict === 'wait' ? [...others, delivery].sort((a, b) => a.seq - b.seq) : others,
    })
  }

  isPaused(queue: QueueKey, now: Instant): boolean {
    return (this.pauses.get(keyOf(queue))?.until ?? now) > now
  }

  /** Returns the ids of the deliveries of a queue that go before others, oldest first. */
  firstOf(queue: QueueKey): string[] {
    return (this.pauses.get(keyOf(queue))?.turnedAway ?? []).map(({ id }) => id)
  }

  /** Lets go of what is long over. */
  tidy(before: Instant): void {
    for (const [key, { until }] of this.pauses) if (until < before) this.pauses.delete(key)
  }

  clear(): void {
    this.pauses.clear()
  }
}

const keyOf = ({ orgId, channelTarget }: QueueKey) => `${orgId} ${channelTarget}`

/** For how long the other side wants no more; null: it did not say so. */
function askedFor(outcome: Outcome): number | null {
  if (outcome.verdict === 'wait') return outcome.onlyThis ? null : outcome.waitMs
  return outcome.verdict === 'retry' ? outcome.retryAfterMs : null
}
