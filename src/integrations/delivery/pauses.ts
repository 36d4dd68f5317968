import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { Outcome } from '../reply.ts'
import type { DeliveryRecord } from './delivery.ts'
import type { Queue } from './queues.ts'

type QueueKey = Pick<Queue, 'orgId' | 'channelTarget'>

interface Pause {
  until: Instant
  /** The delivery that met the limit: it goes first when the pause is over. Null: it has a time of its own. */
  first: string | null
}

/** A receiver may ask for more, but what comes meanwhile is tried then. */
const LONGEST_PAUSE_MS = 5 * MINUTE_MS

/**
 * Queues whose other side wants no more for a while: what else waits in them would be turned away too. Nothing of it is
 * stored, because a delivery that goes too early is only told again to wait.
 */
export class Pauses {
  private readonly pauses = new Map<string, Pause>()

  note(delivery: Pick<DeliveryRecord, 'id' | 'orgId' | 'channelTarget'>, outcome: Outcome, now: Instant): void {
    const key = keyOf(delivery)
    const asked = askedFor(outcome)
    const present = this.pauses.get(key)
    if (asked === null) {
      if (present?.first === delivery.id) this.pauses.delete(key)
      return
    }
    const until = Math.max(present?.until ?? 0, now + Math.min(asked, LONGEST_PAUSE_MS))
    const first = present && present.until > now ? present.first : null
    this.pauses.set(key, { until, first: first ?? (outcome.verdict === 'wait' ? delivery.id : null) })
  }

  isPaused(queue: QueueKey, now: Instant): boolean {
    return (this.pauses.get(keyOf(queue))?.until ?? now) > now
  }

  /** The delivery of a queue that goes before others; null: that which is longest due. */
  firstOf(queue: QueueKey): string | null {
    return this.pauses.get(keyOf(queue))?.first ?? null
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
