import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Authenticate } from './router.ts'

/** Lets through at most `perSecond` of a name on average, and bursts of as many as fit `burstS` seconds. */
export class RateLimit {
  private readonly buckets = new Map<string, { tokens: number; at: number }>()

  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
    private readonly burstS = 1,
  ) {}

  /** Counts one. Fails with `rateLimited` and the seconds to wait when there are too many. */
  take(name: string): void {
    const now = this.clock.now()
    const full = this.perSecond * this.burstS
    const bucket = this.buckets.get(name) ?? { tokens: full, at: now }
    // A clock that was set back brings nothing, and takes nothing away.
    const elapsedMs = Math.max(0, now - bucket.at)
    bucket.tokens = Math.min(full, bucket.tokens + (elapsedMs / 1000) * this.perSecond)
    bucket.at = now
    if (this.buckets.size > MAX_NAMES) this.buckets.clear()
    this.buckets.set(name, bucket)
    // A little less does: fractions don't add up exactly.
    if (bucket.tokens < 1 - 1e-9) {
      const waitS = Math.max(1, Math.ceil((1 - bucket.tokens) / this.perSecond))
      throw new AppError('rateLimited', `too many requests; try again in ${waitS} s`, waitS)
    }
    bucket.tokens--
  }
}

/** Names come from outside; past this many the memory of all is dropped rather than grown. */
const MAX_NAMES = 100_000

/** The same callers, each at most as often as the limit lets through; being asked for `again` counts nothing. */
export function rateLimited(authenticate: Authenticate, limit: RateLimit): Authenticate {
  return (headers, options) => {
    const principal = authenticate(headers, options)
    if (!options?.again) limit.take(principal.keyId ?? principal.userId)
    return principal
  }
}
